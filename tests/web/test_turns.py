"""Requests over real connections from several addresses: they are served in turn, whatever each address sends."""

import asyncio
import contextlib
import http.client
import json
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from pressroom import turns
from pressroom.turns import LoopUse, Turns
from tests.harness.local import LocalServer

CROWD = 40

Asker = Callable[[LocalServer, str], tuple[int, str | None]]


class Door:
    """Keeps the turns of a server closed while requests gather, each of whose steps waits for its turn."""

    def __init__(self, server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self._server = server
        self._closed = True
        self._turns: Turns | None = None
        self._give = give = Turns._give  # pyright: ignore[reportPrivateUsage]

        def held(these: Turns) -> None:
            self._turns = these
            if not self._closed:
                give(these)

        monkeypatch.setattr(turns, "SHARE", -1.0)
        monkeypatch.setattr(turns, "DELAY", 0.0)
        monkeypatch.setattr(Turns, "_give", held)
        monkeypatch.setattr(LoopUse, "is_little", lambda *_: False)
        monkeypatch.setattr(LoopUse, "rest_of", lambda *_: 0.0)

    def gather(self, count: int) -> None:
        """Waits until so many requests wait."""
        while self._server.run(self._waiting()) < count:
            pass

    def open(self) -> None:
        """Lets them in."""
        self._closed = False
        self._server.run(self._open())

    async def _waiting(self) -> int:
        await asyncio.sleep(0.005)
        return self._turns.waiting if self._turns else 0

    async def _open(self) -> None:
        assert self._turns is not None
        self._give(self._turns)


def directly(server: LocalServer, address: str) -> tuple[int, str | None]:
    """Asks for the front page from an address of this machine; the status and Retry-After."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=(address, 0))
    return _ask(connection, {})


def through_a_proxy(server: LocalServer, address: str) -> tuple[int, str | None]:
    """Asks for it as a proxy does for a client of that address."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    return _ask(connection, {"X-Forwarded-For": address})


def _ask(connection: http.client.HTTPConnection, headers: dict[str, str]) -> tuple[int, str | None]:
    with contextlib.closing(connection):
        connection.request("GET", "/login", headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("Retry-After")


def served(server: LocalServer) -> list[str]:
    """The addresses of the requests in the order in which they were answered."""
    entries = [json.loads(line) for line in server.stream.getvalue().splitlines() if '"/login"' in line]
    return [entry["client"] for entry in entries]


@contextlib.contextmanager
def asking(
    server: LocalServer, door: Door, ask: Asker, crowds: Sequence[str]
) -> Generator[list["Future[tuple[int, str | None]]"]]:
    """Has one request of each address wait at the door, one after the other, and then lets them in."""
    with ThreadPoolExecutor(len(crowds)) as threads:
        asked: list[Future[tuple[int, str | None]]] = []
        for address in crowds:
            asked.append(threads.submit(ask, server, address))
            door.gather(len(asked))
        door.open()
        yield asked


@pytest.mark.parametrize(
    ("ask", "crowd", "others"),
    [
        (directly, ["127.0.0.2"], ["127.0.0.3", "127.0.0.4"]),
        (through_a_proxy, ["203.0.113.2"], ["203.0.113.3", "203.0.113.4"]),
        (through_a_proxy, [f"2001:db8:0:1::{number:x}" for number in range(1, CROWD + 1)], ["2001:db8:0:2::1"]),
    ],
    ids=["address", "address behind a proxy", "addresses of one network"],
)
def test_other_addresses_wait_for_one_request_of_a_crowd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Asker, crowd: list[str], others: list[str]
) -> None:
    server = LocalServer(tmp_path, TRUSTED_PROXIES="127.0.0.1/32" if ask is through_a_proxy else "").start()
    try:
        door = Door(server, monkeypatch)
        addresses = [*(crowd * CROWD)[:CROWD], *others]
        with asking(server, door, ask, addresses) as asked:
            assert {each.result() for each in asked} == {(200, None)}
    finally:
        server.stop()  # Requests are logged after they were answered.
    assert max(served(server).index(other) for other in others) <= len(others)


def test_requests_past_the_places_of_an_address_are_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PLACES_OF_ONE", 3)
    server = LocalServer(tmp_path).start()
    try:
        door = Door(server, monkeypatch)
        with ThreadPoolExecutor(5) as threads:
            crowd = [threads.submit(directly, server, "127.0.0.2") for _ in range(3)]
            door.gather(3)
            assert directly(server, "127.0.0.2") == (503, str(turns.RETRY_SECONDS))
            other = threads.submit(directly, server, "127.0.0.3")
            door.gather(4)
            door.open()
            assert {each.result() for each in [*crowd, other]} == {(200, None)}
    finally:
        server.stop()


def test_probes_are_answered_ahead_of_all_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = LocalServer(tmp_path).start()
    try:
        door = Door(server, monkeypatch)
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(directly, server, "127.0.0.2")
            door.gather(1)
            for path in ("/healthz", "/readyz"):
                with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
                    connection.request("GET", path)
                    assert connection.getresponse().status == 200
            door.open()
            assert waiting.result() == (200, None)
    finally:
        server.stop()
