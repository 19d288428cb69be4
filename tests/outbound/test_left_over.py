"""Bytes beyond a response are never the response to the next request."""

import socket
import ssl
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Final

import pytest
import trustme

from pressroom.outbound import OutboundClient
from tests.outbound.certificates import serving
from tests.outbound.peers import LOOPBACK, run

OK: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
POISON: Final = b"HTTP/1.1 418 Not asked\r\nContent-Length: 0\r\n\r\n"
CHUNKED: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"

Contexts = tuple[ssl.SSLContext | None, ssl.SSLContext]


class Hostile:
    """A receiver in a thread of its own. It answers each request with `answer`, and sends `more` when it is told to.

    `said` is set when that has gone out.
    """

    def __init__(self, answer: bytes, more: bytes, tls: ssl.SSLContext | None) -> None:
        self.connections = 0
        self.go_on = threading.Event()
        self.said = threading.Event()
        self._answer = answer
        self._more = more
        self._tls = tls
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def url(self) -> str:
        """Where it listens."""
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self.port}/"

    def close(self) -> None:
        """Ends all threads."""
        self.go_on.set()
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                accepted, _ = self._door.accept()
                self.connections += 1
                self._threads.append(threading.Thread(target=self._serve, args=(accepted,), daemon=True))
                self._threads[-1].start()

    def _serve(self, accepted: socket.socket) -> None:
        first = self.connections == 1
        with suppress(OSError), accepted:
            spoken = accepted if self._tls is None else self._tls.wrap_socket(accepted, server_side=True)
            with spoken:
                while spoken.recv(65_536):
                    spoken.sendall(self._answer)
                    if first and not self.said.is_set():
                        self.go_on.wait(60)
                        spoken.sendall(self._more)
                        self.said.set()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def contexts(request: pytest.FixtureRequest, authority: trustme.CA) -> Contexts:
    """The TLS contexts of a receiver, None without TLS, and of a client that trusts it."""
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    return serving(authority.issue_cert("127.0.0.1")) if request.param else None, trusting


@asynccontextmanager
async def hostile(answer: bytes, more: bytes, contexts: Contexts) -> AsyncGenerator[tuple[Hostile, OutboundClient]]:
    """Yields a receiver and a client that trusts it."""
    tls, trusting = contexts
    it, client = Hostile(answer, more, tls), OutboundClient(LOOPBACK, tls=trusting)
    try:
        yield it, client
    finally:
        await client.close()
        it.close()


@pytest.mark.parametrize("answer", [OK, CHUNKED, b"HTTP/1.1 204 No Content\r\n\r\n"], ids=["length", "chunks", "none"])
def test_bytes_that_wait_before_a_request_are_not_taken_for_its_answer(contexts: Contexts, answer: bytes) -> None:
    """The event loop does not turn between their arrival and the next request, so that nobody has read them."""

    async def work() -> None:
        async with hostile(answer, POISON, contexts) as (it, client):
            first = await client.request("POST", it.url(), {}, b"x")
            it.go_on.set()
            assert it.said.wait(60)
            second = await client.request("POST", it.url(), {}, b"x")
            assert first.status == second.status != 418
            assert it.connections == 2

    run(work())


@pytest.mark.parametrize("answer", [OK, CHUNKED, b"HTTP/1.1 204 No Content\r\n\r\n"], ids=["length", "chunks", "none"])
@pytest.mark.parametrize("more", [b"\r\n", b"H", b"HTTP/1.1 418 Not asked\r\nX: ", POISON])
def test_a_connection_with_bytes_behind_the_response_is_not_kept(
    contexts: Contexts, answer: bytes, more: bytes
) -> None:
    async def work() -> None:
        async with hostile(answer + more, b"", contexts) as (it, client):
            it.go_on.set()
            for number in (1, 2, 3):
                assert (await client.request("POST", it.url(), {}, b"x")).status in (200, 204)
                assert it.connections == number

    run(work())


def test_a_connection_with_nothing_behind_the_response_is_kept(contexts: Contexts) -> None:
    async def work() -> None:
        async with hostile(OK, b"", contexts) as (it, client):
            it.go_on.set()
            for _ in range(5):
                assert (await client.request("POST", it.url(), {}, b"x")).body == b"ok"
            assert it.connections == 1

    run(work())
