"""A machine whose clock is set while a server on SQLite runs, and between two runs of it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pressroom.clock import SECOND, parse_iso
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint, wait_until_settled
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import PRESSROOM, ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.records import rows
from tests.harness.wire import Request, ask, at_once
from tests.services.process import wait_until

HOUR = 3_600

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed")

Jumping = tuple[ServerProcess, Callable[[int], object]]


@pytest.fixture
def jumping(roomy_server: Callable[..., ServerProcess], tmp_path: Path) -> Jumping:
    """A server, and what sets the clock of its machine so many seconds ahead."""
    server, offset = roomy_server(REQUESTS_PER_MINUTE=60, **QUICK_RETRIES), tmp_path / "offset"
    faked = (f"LD_PRELOAD={LIBRARY}", f"FAKETIME_TIMESTAMP_FILE={offset}", "FAKETIME_NO_CACHE=1")
    server.program = ["env", *faked, "DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", *PRESSROOM]

    def jump(seconds: int) -> None:
        written = offset.with_suffix(".new")
        written.write_text(f"{seconds:+d}")
        written.replace(offset)  # the server may be reading it

    jump(0)
    return server.start(), jump


def warning(server: ServerProcess) -> str:
    """The operator's notices of the clock."""
    answer = ask(Request(server.port, "GET", "/readyz"))
    assert answer.status == 200, answer
    return str(answer.json().get("warning", ""))


@pytest.mark.parametrize("seconds", [30, HOUR, 24 * HOUR, -HOUR])
def test_a_jump_admits_nothing_more(jumping: Jumping, seconds: int) -> None:
    server, jump = jumping
    key = Owner(server).key()
    admitted: list[int] = []

    def is_refused() -> bool:
        statuses = [answer.status for answer in at_once([who_am_i(server, key)] * 60)]
        admitted.append(statuses.count(200))
        return statuses == [429] * 60

    assert wait_until(is_refused)
    jump(seconds)
    assert wait_until(is_refused)

    assert sum(admitted) == 60


def test_clock_jump_expires_nothing_and_is_reported(jumping: Jumping) -> None:
    server, jump = jumping
    key = Owner(server).key()
    first = ask(publish(server, key, "once", "k"))

    jump(25 * HOUR)
    again, other = ask(publish(server, key, "once", "k")), ask(publish(server, key, "another"))

    assert (again.status, again.json()["id"]) == (200, first.json()["id"])
    times = [parse_iso(answer.json()["createdAt"]) for answer in (first, other)]
    assert 0 <= times[1] - times[0] < HOUR * SECOND, "the time between the two on the true clock"
    assert "was set 90,000 s ahead" in warning(server)
    assert wait_until(lambda: "clocks differ" in server.output())


def test_a_clock_set_back_before_a_restart_sorts_nothing_before(jumping: Jumping) -> None:
    server, jump = jumping
    with Receiver() as receiver:
        owner = Owner(server)
        made = owner.new_key().json()
        Endpoint(server, owner, made["id"], receiver.url("/hook"), (POST,))
        before = ask(publish(server, made["key"], "before")).json()
        server.kill()

        jump(-HOUR)
        server.restart()
        after = ask(publish(server, made["key"], "after")).json()
        wait_until_settled(server)

    assert before["id"] < after["id"]
    assert before["createdAt"] < after["createdAt"]
    assert {json.loads(request.body)["data"]["post"]["id"] for request in receiver.received} == {
        before["id"],
        after["id"],
    }
    assert rows(server, "SELECT DISTINCT state FROM deliveries") == [("delivered",)]
    assert "behind the newest records" in warning(server)


@pytest.mark.parametrize(
    ("seconds", "told"), [(25 * HOUR, "was set 90,000 s ahead"), (-HOUR, "behind the newest records")]
)
def test_doctor_names_a_clock_that_was_set_while_a_server_runs(jumping: Jumping, seconds: int, told: str) -> None:
    server, jump = jumping
    ask(publish(server, Owner(server).key(), "before"))
    before = server.command("doctor", check=False).stdout

    jump(seconds)
    after = server.command("doctor", check=False)

    assert "ok   server" in before
    assert re.search(rf"bad  server .*{told}", after.stdout), after.stdout
    assert after.returncode == 1
