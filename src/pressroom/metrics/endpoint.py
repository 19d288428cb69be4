"""The address that Prometheus reads: GET /metrics, in a thread of its own, bounded in time, bytes and connections.

Why not the library's server: docs/decisions/0009-metrics-endpoint.md.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from functools import partial
from typing import Final, Self

from pressroom.errors import SettingError

SECONDS: Final = 10.0
"""Time for a whole exchange."""

HEAD: Final = 8_192
"""Bytes that the head of a request may have."""

CONNECTIONS: Final = 16
"""Connections that are served at once. For a further one, that is closed which has asked for nothing the longest."""

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


class MetricsEndpoint:
    """Listens from the beginning and answers once it has the page's source. Raises SettingError if it cannot listen."""

    def __init__(self, host: str, port: int) -> None:
        self._listening = _listen(host, port)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open = 0
        self._silent: dict[asyncio.StreamWriter, None] = {}
        """Of these, the ones that have not sent a whole request, the oldest first."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def serve(self, render: Callable[[], bytes]) -> None:
        """Begins to answer with what `render` returns."""
        self._loop = asyncio.new_event_loop()
        listens = threading.Event()
        work = partial(self._run, self._loop, render, listens)
        self._thread = threading.Thread(target=work, name="metrics", daemon=True)
        self._thread.start()
        listens.wait(SECONDS)  # a loop that is stopped before it runs ends its thread with an error

    def close(self) -> None:
        """Ends it. May be called again."""
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(SECONDS)
            self._thread = None
        self._listening.close()

    def _run(self, loop: asyncio.AbstractEventLoop, render: Callable[[], bytes], listens: threading.Event) -> None:
        asyncio.set_event_loop(loop)
        answer = partial(self._answer, render)
        loop.run_until_complete(asyncio.start_server(answer, sock=self._listening, limit=HEAD))
        listens.set()
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    async def _answer(
        self, render: Callable[[], bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._open += 1
        self._silent[writer] = None
        if self._open > CONNECTIONS:
            oldest = next(iter(self._silent))
            del self._silent[oldest]
            oldest.transport.abort()
        try:
            async with asyncio.timeout(SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                self._silent.pop(writer, None)
                writer.write(_answer_to(head, render))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # The client has gone, or sent too much.
        finally:
            self._open -= 1
            self._silent.pop(writer, None)
            with contextlib.suppress(RuntimeError):  # the loop has ended
                writer.transport.abort()


def _answer_to(head: bytes, render: Callable[[], bytes]) -> bytes:
    """Returns the whole response to a request."""
    method, _, rest = head.partition(b"\r\n")[0].partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    if path != b"/metrics":
        return _response("404 Not Found", b"The metrics are at /metrics.\n")
    if method != b"GET":
        return _response("405 Method Not Allowed", b"Send GET.\n", "Allow: GET\r\n")
    try:
        return _response("200 OK", render())
    except Exception:  # the files may have been removed or damaged by others
        return _response("500 Internal Server Error", b"The values cannot be read; a restart makes new files.\n")


def _response(status: str, body: bytes, more: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {TEXT}\r\nContent-Length: {len(body)}\r\n{more}Connection: close\r\n\r\n"
    )
    return head.encode() + body


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=CONNECTIONS)  # type: ignore[arg-type]  # typeshed has no IPv6 here
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "this is no address"
        raise SettingError(
            f"Cannot listen for metrics on {host}:{port}: {reason}."
            " Set PRESSROOM_METRICS_HOST or PRESSROOM_METRICS_PORT."
        ) from None
