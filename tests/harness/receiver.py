"""A webhook receiver on real sockets, in a thread of its own, that answers well or misbehaves as a test asks.

with Receiver() as receiver:
    receiver.behave("/hook", answer(500), answer(200))
    …  # something that posts twice to receiver.url("/hook")
    receiver.wait(lambda r: r.count("/hook") == 2)
    first, second = receiver.of("/hook")
"""

import asyncio
import contextlib
import ssl
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Generator
from typing import Final, Self

from tests.harness.behaviours import (
    Behaviour,
    answer,
    close,
    close_at_once,
    drip,
    endless,
    gzip_bomb,
    hold,
    malformed,
    never,
    redirect,
    reset,
)
from tests.harness.incoming import Connection, Received

__all__ = [
    "Behaviour",
    "Received",
    "Receiver",
    "Script",
    "answer",
    "close",
    "close_at_once",
    "drip",
    "endless",
    "gzip_bomb",
    "hold",
    "malformed",
    "never",
    "redirect",
    "reset",
]

SHOWN: Final = 40
"""Requests that a failed wait shows, the newest."""

Script = Callable[[Received], Behaviour]
"""Decides by the request: `lambda request: answer(200 if request.event == "webhook.test" else 500)`."""


class Receiver:
    """Listens from `with` to the end of its block. Thread-safe.

    `tls` makes it speak https. A `port` can be given, to come back where another receiver was. While `hangs_up`
    is set, a connection is closed before anything is read from it.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        self.port = port
        self.hangs_up = False
        self._tls = tls
        self._connections: set[Connection] = set()
        self._connected = 0
        self._received: list[Received] = []
        self._counts: Counter[str] = Counter()
        self._in_flight: Counter[str] = Counter()
        self._most_in_flight: Counter[str] = Counter()
        self._behaviours: dict[str, list[Behaviour | Script]] = {}
        self._held: defaultdict[str, list[tuple[Connection, bytes]]] = defaultdict(list)
        self._failures: list[Exception] = []
        self._version = 0
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="receiver", daemon=True)

    def url(self, path: str = "/", host: str = "") -> str:
        """The address of a path, under another name of this machine if `host` is given."""
        return f"{'https' if self._tls else 'http'}://{host or self.host}:{self.port}{path}"

    def behave(self, path: str, *behaviours: Behaviour | Script) -> None:
        """Does these things to the coming requests on a path, one each; the last stays. The default: answer(200)."""
        with self._changed:
            self._behaviours[path] = list(behaviours)

    def release(self, path: str) -> None:
        """Answers the requests that `hold()` holds on a path now; later ones are held again unless told otherwise."""
        self._loop.call_soon_threadsafe(self._release, path)

    @property
    def received(self) -> list[Received]:
        """Everything so far, in order."""
        with self._changed:
            return list(self._received)

    def of(self, path: str) -> list[Received]:
        """Everything that came on a path, in order."""
        return [each for each in self.received if each.path == path]

    def count(self, path: str | None = None) -> int:
        """How many requests came, on a path or at all; cheaper than to list them."""
        with self._changed:
            return len(self._received) if path is None else self._counts[path]

    @property
    def connections(self) -> int:
        """How many connections were ever accepted (and got through TLS)."""
        with self._changed:
            return self._connected

    @property
    def in_flight(self) -> Counter[str]:
        """By path: requests received whole whose answer is not yet written and whose client has not gone."""
        with self._changed:
            return self._in_flight.copy()

    @property
    def most_in_flight(self) -> Counter[str]:
        """By path: the most that were ever in flight at once."""
        with self._changed:
            return self._most_in_flight.copy()

    def wait(self, condition: Callable[["Receiver"], bool], seconds: float = 120) -> None:
        """Waits until `condition` holds of this receiver; it is asked again at everything that happens here.

        Raises AssertionError that shows the received requests.
        """
        deadline = time.monotonic() + seconds
        while True:
            with self._changed:
                version = self._version
            if condition(self):
                return
            with self._changed:
                if not self._changed.wait_for(lambda: self._version != version, deadline - time.monotonic()):  # noqa: B023
                    raise AssertionError(self._account(seconds))

    def __enter__(self) -> Self:
        """Listens."""
        self._thread.start()
        try:
            self._on_loop(self._start())
        except BaseException:
            self._stop_loop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Drops open connections. Raises the errors of scripts, unless the block itself failed."""
        self._on_loop(self._stop())
        self._stop_loop()
        if self._failures and kind is None:
            raise AssertionError("A script of the receiver failed.") from self._failures[0]

    def _on_loop(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        self._server = await self._loop.create_server(
            lambda: Connection(self), self.host, self.port, ssl=self._tls, backlog=1024
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        for connection in list(self._connections):
            connection.reset()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def _account(self, seconds: float) -> str:
        head = f"Not within {seconds:g} s. {len(self._received)} requests over {self._connected} connections came"
        failed = [f"A script failed: {each!r}" for each in self._failures]
        shown = [f"  {each}" for each in self._received[-SHOWN:]]
        return "\n".join([f"{head}; in flight: {dict(+self._in_flight)}. The newest:", *failed, *shown])

    @contextlib.contextmanager
    def _change(self) -> Generator[None, None, None]:
        with self._changed:
            yield
            self._version += 1
            self._changed.notify_all()

    # What follows runs on the loop's thread alone.

    def came(self, connection: Connection) -> int:
        """A connection stands; its number."""
        with self._change():
            self._connections.add(connection)
            self._connected += 1
            return self._connected

    def went(self, connection: Connection) -> None:
        """A connection is over."""
        with self._change():
            self._connections.discard(connection)
        for held in self._held.values():
            held[:] = [each for each in held if each[0] is not connection]

    def reads_body(self, path: str) -> bool:
        """Whether the next request on a path is to be read to its end."""
        with self._changed:
            queue = self._behaviours.get(path)
            return not (queue and isinstance(queue[0], Behaviour) and not queue[0].reads_body)

    def begin(self, request: Received) -> Behaviour:
        """A request is there; what to do with it."""
        with self._change():
            self._received.append(request)
            self._counts[request.path] += 1
            self._in_flight[request.path] += 1
            self._most_in_flight[request.path] = max(self._most_in_flight[request.path], self._in_flight[request.path])
            queue = self._behaviours.get(request.path)
            behaviour = answer() if not queue else queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(behaviour, Behaviour):
            return behaviour
        try:
            return behaviour(request)
        except Exception as error:
            self.failed(error)
            return close()

    def end(self, path: str) -> None:
        """A request is answered, or its client has gone."""
        with self._change():
            self._in_flight[path] -= 1

    def failed(self, error: Exception) -> None:
        """Something a test wrote raised."""
        with self._change():
            self._failures.append(error)

    def keep(self, path: str, connection: Connection, data: bytes) -> None:
        """Keeps an answer back until the path is released."""
        self._held[path].append((connection, data))

    def _release(self, path: str) -> None:
        for connection, data in self._held.pop(path, []):
            connection.finish(data)
