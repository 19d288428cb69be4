"""A steady load: so many creates a second, whether or not the server keeps up.

python -m benchmarks.posting --port 8000 --keys FILE --per-second 300 --seconds 10
"""

import argparse
import asyncio
import itertools
import statistics
import time
from pathlib import Path

import msgspec
import uvloop

from benchmarks.load import CONNECTIONS, Connection, Responses, creates


class Paced(Connection):
    """A connection that sends when it is asked to."""

    busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # asyncio hands over a Transport

    def send(self) -> None:
        """Sends the next request."""
        self.busy = True
        super()._send()

    def _send(self) -> None:
        self.busy = False


class Posted(msgspec.Struct):
    """How many creates were answered 201, and how long their answers took in milliseconds."""

    count: int
    p50: float
    p99: float


async def run(port: int, keys: list[str], per_second: int, seconds: float) -> Posted:
    """Posts at that rate, each request on a connection that is free."""
    responses, requests = Responses(b"201 "), creates(port, keys)
    responses.measuring = True
    loop = asyncio.get_running_loop()
    connections = [
        (await loop.create_connection(lambda: Paced(requests, responses), "127.0.0.1", port))[1]
        for _ in range(2 * CONNECTIONS)
    ]
    began = time.perf_counter()
    for number in itertools.count():
        due = began + number / per_second
        if due > began + seconds:
            break
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        while not (free := [connection for connection in connections if not connection.busy]):
            await asyncio.sleep(0.001)
        free[0].send()
    while any(connection.busy for connection in connections):
        await asyncio.sleep(0.01)
    responses.stopping = True
    latencies = statistics.quantiles(responses.latencies, n=100)
    return Posted(responses.answered - responses.refused, latencies[49] * 1000, latencies[98] * 1000)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.posting", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--keys", type=Path, required=True, help="a file with one key per line")
    parser.add_argument("--per-second", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=10)
    given = parser.parse_args()
    keys = given.keys.read_text("utf-8").split()
    posted = uvloop.run(run(given.port, keys, given.per_second, given.seconds))
    print(msgspec.json.encode(posted).decode())


if __name__ == "__main__":
    main()
