"""Where the bench's deliveries arrive: a process of its own that answers 200 at once, except on paths that hang.

    python -m benchmarks.sink --port 9000

A path `/hang…` is never answered. On each line of its standard input it prints the count of arrivals since the line
before, as one line of JSON. It ends with its input.
"""

import argparse
import asyncio
import sys
import time
from calendar import timegm
from typing import Final, cast

import msgspec
import uvloop

ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_CREATED: Final = b'"created_at":"'


class Arrived(msgspec.Struct):
    """What arrived on paths that are answered. `seconds`: from the first to the last; `delays`: in milliseconds, from
    an event's own time, which is just before its transaction commits."""

    count: int
    seconds: float
    delays: list[int]


class Arrivals:
    """The arrivals since the last report."""

    def __init__(self) -> None:
        self.count = 0
        self.first = 0.0
        self.last = 0.0
        self.delays: list[int] = []

    def add(self, message: bytes) -> None:
        """One delivery."""
        self.last = time.perf_counter()
        self.first = self.first or self.last
        self.count += 1
        self.delays.append(round(time.time() * 1000) - created_at(message))

    def report(self) -> Arrived:
        """The arrivals; from now on counting begins anew."""
        arrived = Arrived(self.count, self.last - self.first, self.delays)
        self.count, self.first, self.last, self.delays = 0, 0.0, 0.0, []
        return arrived


def created_at(message: bytes) -> int:
    """The envelope's time in milliseconds. Read by position, so that the sink is cheaper than the sender."""
    start = message.index(_CREATED) + len(_CREATED)
    text = message[start : start + 24]
    day = (int(text[0:4]), int(text[5:7]), int(text[8:10]), int(text[11:13]), int(text[14:16]), int(text[17:19]))
    return timegm((*day, 0, 0, 0)) * 1000 + int(text[20:23])


class Connection(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._transport: asyncio.Transport
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received = received = self._received + data if self._received else data
        end = received.find(b"\r\n\r\n")
        if end < 0:
            return
        length = received.lower().find(b"content-length:")
        size = end + 4 + int(received[length + 15 : received.index(b"\r\n", length)])
        if len(received) < size:
            return
        self._received = received[size:]
        if received.startswith(b"POST /hang"):
            return
        self._arrivals.add(received)
        self._transport.write(ANSWER)


async def run(port: int) -> None:
    """Serves until standard input ends."""
    loop, arrivals, ended = asyncio.get_running_loop(), Arrivals(), asyncio.Event()

    def on_line() -> None:
        if not sys.stdin.buffer.raw.read(64):  # type: ignore[union-attr]  # unbuffered under the reader
            ended.set()
            return
        print(msgspec.json.encode(arrivals.report()).decode(), flush=True)

    server = await loop.create_server(lambda: Connection(arrivals), "127.0.0.1", port, backlog=1024)
    loop.add_reader(sys.stdin, on_line)
    print("ready", flush=True)
    async with server:
        await ended.wait()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sink", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(run(parser.parse_args().port))


if __name__ == "__main__":
    main()
