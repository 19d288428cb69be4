"""Without Redis one process counts: also when the connection that says so dies silently, or the process is frozen."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from tests.e2e.processes import serves
from tests.harness.days import most_in_a_minute
from tests.harness.owners import Owner, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.proxy import Proxy
from tests.harness.wire import Reply, at_once
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]


@pytest.fixture
def proxied(postgres_server: PostgresServer) -> Iterator[tuple[str, str, Proxy]]:
    """A database's address, the same by way of a proxy, and the proxy."""
    url = postgres_server.create_database(f"sole_{os.getpid()}_{time.monotonic_ns()}")
    proxy = Proxy(postgres_server.port)
    yield url, url.replace(f":{postgres_server.port}/", f":{proxy.port}/"), proxy
    proxy.close()


def test_two_never_admit_when_the_lock_dies_silently(roomy_server: MakeServer, proxied: tuple[str, str, Proxy]) -> None:
    url, by_proxy, proxy = proxied
    first = roomy_server(DATABASE_URL=by_proxy, REQUESTS_PER_MINUTE=60).start()
    second = roomy_server(DATABASE_URL=url, REQUESTS_PER_MINUTE=60)
    key = Owner(first).key()
    admitted: list[float] = []

    proxy.fall_silent(b"pressroom lock")
    second.launch()
    # The first hears nothing of its loss; a little is asked of it all the while.
    assert wait_until(lambda: ask(first, key, 1, admitted) or serves(second)), "nobody takes over"
    for _ in range(2):
        for server in (first, second):
            ask(server, key, 60, admitted)

    assert not (serves(first) and serves(second))
    assert most_in_a_minute(admitted) == 60


def test_a_frozen_process_admits_nothing_when_it_wakes(
    roomy_server: MakeServer, proxied: tuple[str, str, Proxy]
) -> None:
    url, by_proxy, proxy = proxied
    first = roomy_server(DATABASE_URL=by_proxy, REQUESTS_PER_MINUTE=60).start()
    second = roomy_server(DATABASE_URL=url, REQUESTS_PER_MINUTE=60)
    key = Owner(first).key()

    os.kill(first.pid, signal.SIGSTOP)
    try:
        proxy.fall_silent(b"pressroom lock")
        second.start()
        assert [answer.status for answer in burst(second, key, 70)].count(200) == 60
    finally:
        os.kill(first.pid, signal.SIGCONT)

    assert 200 not in {answer.status for answer in burst(first, key, 30)}
    assert wait_until(lambda: first.ended), "it goes on beside the other"


def test_a_lock_that_was_lost_for_a_moment_is_taken_again(
    roomy_server: MakeServer, proxied: tuple[str, str, Proxy]
) -> None:
    _, by_proxy, proxy = proxied
    server = roomy_server(DATABASE_URL=by_proxy, REQUESTS_PER_MINUTE=60).start()
    key = Owner(server).key()
    assert [answer.status for answer in burst(server, key, 30)].count(200) == 30

    proxy.fall_silent(b"pressroom lock")

    assert wait_until(lambda: "nothing is admitted until" in server.output()), "it does not notice"
    assert wait_until(lambda: serves(server)), "it does not recover"
    assert [answer.status for answer in burst(server, key, 60)].count(200) == 30


def test_a_server_that_cannot_ask_for_the_lock_at_its_start_is_not_ready_until_it_has_it(
    roomy_server: MakeServer, proxied: tuple[str, str, Proxy]
) -> None:
    _, by_proxy, proxy = proxied
    server = roomy_server(DATABASE_URL=by_proxy, REQUESTS_PER_MINUTE=60).start()
    key = Owner(server).key()
    assert server.stop() == 0
    proxy.refuse(b"pressroom lock")
    server.restart()
    assert not serves(server)
    assert 200 not in {answer.status for answer in burst(server, key, 3)}

    proxy.refuse(None)

    assert wait_until(lambda: serves(server)), "it does not begin"
    assert [answer.status for answer in burst(server, key, 70)].count(200) == 60


def test_a_server_that_was_killed_on_this_machine_is_not_waited_for(
    roomy_server: MakeServer, postgres_server: PostgresServer
) -> None:
    url = postgres_server.create_database(f"killed_{os.getpid()}_{time.monotonic_ns()}")
    server = roomy_server(DATABASE_URL=url).start()
    server.kill()
    server.start()
    assert "waiting until the previous server admits nothing more" not in server.output()


def ask(server: ServerProcess, key: str, times: int, admitted: list[float]) -> None:
    """Sends requests at once, and adds when each that was admitted had its answer."""
    admitted += [time.monotonic() for answer in burst(server, key, times) if answer.status == 200]


def burst(server: ServerProcess, key: str, size: int) -> list[Reply]:
    """Sends requests at once; returns the answers."""
    try:
        return at_once([who_am_i(server, key)] * size)
    except OSError:
        return []
