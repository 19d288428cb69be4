"""Sign-up: how often from one address, its silence about existing accounts, and its waits."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from pressroom.clock import HOUR
from pressroom.db import Query
from pressroom.domains.sign_in.attempts import purge_attempts
from tests.api.actors import nobody
from tests.api.conftest import one_engine
from tests.harness.local import LocalServer
from tests.services.process import wait_until

SETTINGS = {"TRUSTED_PROXIES": "127.0.0.1/32", "SIGNUPS_PER_HOUR": 5, "SIGN_IN_FAILURES_PER_ADDRESS": 1000}
PASSWORD = "nine plums and a kettle"
ATTEMPTS = Query(int, "SELECT count(*) FROM sign_up_attempts")

_numbers = itertools.count(1)


@pytest.fixture
def address() -> str:
    """An address that nobody has used yet."""
    number = next(_numbers)
    return f"203.0.{number // 250}.{number % 250 + 1}"


def send(server: LocalServer, path: str, address: str, **body: str) -> httpx.Response:
    return nobody.post(f"{server.base_url}{path}", json=body, headers={"X-Forwarded-For": address})


def sign_up(server: LocalServer, address: str, name: str = "", email: str = "") -> httpx.Response:
    name = name or f"newcomer{next(_numbers)}"
    body = {"username": name, "email": email or f"{name}@example.org", "password": PASSWORD}
    return send(server, "/api/auth/signup", address, **body)


def sign_in(server: LocalServer, address: str, login: str, password: str = "wrong") -> httpx.Response:
    return send(server, "/api/auth/login", address, login=login, password=password)


def refused(answer: httpx.Response) -> int:
    """The seconds that too many attempts must wait."""
    assert (answer.status_code, answer.json()["error"]) == (429, "Too many attempts"), answer.text
    assert "5 sign-ups an hour" in answer.json()["message"]
    assert answer.json()["limit"] == "signups_per_hour"
    assert answer.headers["Retry-After"] == str(answer.json()["retryAfter"])
    assert "set-cookie" not in answer.headers
    return answer.json()["retryAfter"]


def test_one_address_makes_five_accounts_in_any_hour(server: LocalServer, address: str) -> None:
    clock = server.clock
    for _ in range(4):
        assert sign_up(server, address).status_code == 201
        clock.advance(1)
    clock.advance(HOUR - 10)
    assert sign_up(server, address).status_code == 201

    assert refused(sign_up(server, address)) == 1
    clock.advance(6)
    assert sign_up(server, address).status_code == 201, "the first has left the hour"
    assert refused(sign_up(server, address)) == 1, "five are in it again: no window begins anew for all"
    clock.advance(3)
    assert [sign_up(server, address).status_code for _ in range(4)] == [201, 201, 201, 429]


def test_limit_does_not_apply_to_other_addresses(server: LocalServer, address: str) -> None:
    assert [sign_up(server, address).status_code for _ in range(6)] == [201] * 5 + [429]
    assert sign_up(server, f"{address}, 198.51.100.{next(_numbers)}").status_code == 201


@one_engine
def test_one_ipv6_network_is_one_address(server: LocalServer) -> None:
    network = f"2001:db8:{next(_numbers):x}:7"

    answers = [sign_up(server, f"{network}:{number}::1").status_code for number in range(6)]

    assert answers == [201] * 5 + [429]
    assert sign_up(server, network.replace(":7", ":8::1")).status_code == 201


def test_sign_up_with_a_taken_name_counts(server: LocalServer, address: str) -> None:
    taken = sign_up(server, "198.51.100.200").json()
    for _ in range(2):
        assert sign_up(server, address, email=taken["email"].upper()).status_code == 409
        assert sign_up(server, address, name=taken["username"]).status_code == 409
    assert sign_up(server, address).status_code == 201

    for email in (taken["email"], "nobody-at-all@example.org"):
        refused(sign_up(server, address, email=email))


def test_invalid_sign_up_is_not_counted(server: LocalServer, address: str) -> None:
    for _ in range(6):
        assert send(server, "/api/auth/signup", address, username="x").status_code == 400
    assert sign_up(server, address).status_code == 201


def test_refused_request_opens_no_transaction(
    server: LocalServer, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        assert sign_up(server, address).status_code == 201
    for _ in range(10):
        assert sign_in(server, address, "nobody").status_code == 401

    async def fail(*_: object, **__: object) -> None:
        raise AssertionError("a refused attempt waits for no lock")

    monkeypatch.setattr(type(server.runtime.db), "transact", fail)
    refused(sign_up(server, address))
    assert sign_in(server, address, "nobody").status_code == 429


def test_attempts_are_removed_when_their_hour_has_passed(server: LocalServer, address: str) -> None:
    db = server.runtime.db
    sign_up(server, address)
    server.clock.advance(HOUR - 1)
    sign_up(server, f"198.51.100.{next(_numbers)}")
    server.clock.advance(1)
    server.run(db.transact(purge_attempts, 1000))

    assert server.run(db.one(ATTEMPTS)) == 1


class Gate:
    """A hasher that ends each work when it is let, and knows in which order they were begun."""

    def __init__(self) -> None:
        self.ends = threading.Semaphore(0)
        self.order: list[str] = []

    def hash(self, password: str, /) -> str:
        self.order.append(password)
        assert self.ends.acquire(timeout=60)
        return "no hash"

    def verify(self, _password_hash: str, password: str, /) -> bool:
        self.hash(password)
        return False


def test_a_flood_of_sign_ins_from_one_address_is_one_line(local_server: Any) -> None:
    server: LocalServer = local_server(**SETTINGS)
    passwords = server.runtime.passwords
    gate = passwords.hasher = Gate()
    passwords.patience = 60.0

    def try_(address: str, password: str) -> int:
        return sign_in(server, address, f"somebody {password}", password).status_code

    with ThreadPoolExecutor(80) as threads:
        flood = [threads.submit(try_, "203.0.113.1", f"flood {number}") for number in range(75)]
        assert wait_until(lambda: sum(task.done() for task in flood) == 10), "one is worked on, and 64 wait"
        assert passwords.waiting == 64
        assert len(gate.order) == 1, "although there are two threads"
        stranger = threads.submit(try_, "203.0.113.2", "stranger")
        assert wait_until(lambda: len(gate.order) == 2)
        gate.ends.release(100)
        assert stranger.result() == 401
        statuses = [task.result() for task in flood]

    assert sorted(statuses) == [401] * 65 + [503] * 10
    assert gate.order[1] == "stranger", "the other thread"


def test_unprocessed_sign_up_is_not_counted(local_server: Any) -> None:
    server: LocalServer = local_server(**SETTINGS)
    passwords = server.runtime.passwords
    gate = passwords.hasher = Gate()

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(sign_up, server, "203.0.113.1")
        assert wait_until(lambda: gate.order != [])
        passwords.patience = 0.0
        assert {sign_up(server, "203.0.113.2").status_code for _ in range(8)} == {503}
        gate.ends.release(100)
        assert first.result().status_code == 201

    passwords.patience = 30.0
    assert [sign_up(server, "203.0.113.2").status_code for _ in range(6)] == [201] * 5 + [429]
