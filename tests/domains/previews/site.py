"""A web site on real sockets, in a thread of its own, whose pages a test writes, and which misbehaves when asked to.

with Site() as site:
    site.page("/a", "<title>A</title>")
    site.hang("/a")
    …  # something that fetches site.url("/a")
    site.wait(lambda s: s.requests["/a"] == 1)
    site.release("/a")
"""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Final, Self

HTML: Final = "text/html; charset=utf-8"
NONE: Final[Mapping[str, str]] = {}
DRIP_SECONDS: Final = 0.02


class _Answer:
    """The answer at a path: a head, and pieces of a body with a pause between them."""

    def __init__(self, status: int, headers: Mapping[str, str], body: Iterable[bytes], pause: float = 0) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
        self.head = "\r\n".join([*lines, "Connection: close", "", ""]).encode()
        self.body = body
        self.pause = pause


class Site:
    """Listens from `with` to the end of its block. Thread-safe. A path without a page answers 404."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.host = host
        self.port = 0
        self._answers: dict[str, _Answer] = {}
        self._requests: Counter[str] = Counter()
        self._heads: dict[str, bytes] = {}
        self._sent: Counter[str] = Counter()
        self._hanging: dict[str, asyncio.Event] = {}
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="site", daemon=True)

    def url(self, path: str = "/") -> str:
        """The address of a path."""
        return f"http://{self.host}:{self.port}{path}"

    def page(self, path: str, html: str | bytes = "", headers: Mapping[str, str] = NONE, status: int = 200) -> None:
        """Answers a path from now on. `headers` come beside Content-Type (HTML) or replace it; "" removes one."""
        body = html.encode() if isinstance(html, str) else html
        named = {"Content-Type": HTML, "Content-Length": str(len(body)), **headers}
        self._set(path, _Answer(status, {name: value for name, value in named.items() if value}, [body]))

    def redirect(self, path: str, location: str, status: int = 302) -> None:
        """Redirects requests for a path."""
        self.page(path, headers={"Location": location}, status=status)

    def stream(self, path: str, pieces: Iterable[bytes], headers: Mapping[str, str] = NONE) -> None:
        """Answers with these pieces, for as long as the client takes them; they are gone through once a request."""
        self._set(path, _Answer(200, {"Content-Type": HTML, **headers}, pieces))

    def drip(self, path: str, body: bytes) -> None:
        """Answers a byte at a time."""
        self._set(path, _Answer(200, {"Content-Type": HTML}, [bytes([each]) for each in body], DRIP_SECONDS))

    def hang(self, path: str) -> None:
        """Keeps the answers on a path back, until it is released."""
        with self._changed:
            self._hanging[path] = asyncio.Event()

    def release(self, path: str) -> None:
        """Answers held requests, and from now on at once."""
        with self._changed:
            released = self._hanging.pop(path, None)
        if released is not None:
            self._loop.call_soon_threadsafe(released.set)

    @property
    def requests(self) -> Counter[str]:
        """How many requests came, by path."""
        with self._changed:
            return self._requests.copy()

    @property
    def sent(self) -> Counter[str]:
        """Bytes of body that were handed to the system, by path."""
        with self._changed:
            return self._sent.copy()

    def head(self, path: str) -> str:
        """The newest request on a path: its line and headers, in lower case."""
        with self._changed:
            return self._heads.get(path, b"").decode("latin-1").lower()

    def wait(self, condition: Callable[["Site"], bool], seconds: float = 30) -> None:
        """Waits until `condition` holds, asking again at each request. Raises AssertionError."""
        deadline = time.monotonic() + seconds
        while not condition(self):
            with self._changed:
                if not self._changed.wait(min(1, deadline - time.monotonic())) and time.monotonic() > deadline:
                    raise AssertionError(f"Not within {seconds:g} s. Requests: {dict(self._requests)}")

    def __enter__(self) -> Self:
        """Listens."""
        self._thread.start()
        self._on_loop(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        """Drops open connections."""
        self._on_loop(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _set(self, path: str, answer: _Answer) -> None:
        with self._changed:
            self._answers[path] = answer

    def _on_loop(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                await self._answer(head, writer)
        finally:
            writer.close()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ", 2)[1].decode("latin-1").partition("?")[0]
        with self._changed:
            self._requests[path] += 1
            self._heads[path] = head
            hanging = self._hanging.get(path)
            self._changed.notify_all()
        if hanging is not None:
            await hanging.wait()
        with self._changed:
            answer = self._answers.get(path) or _Answer(404, {"Content-Type": HTML}, [b"<title>Not found</title>"])
        writer.write(answer.head)
        for piece in answer.body:
            writer.write(piece)
            await writer.drain()
            with self._changed:
                self._sent[path] += len(piece)
            await asyncio.sleep(answer.pause)
