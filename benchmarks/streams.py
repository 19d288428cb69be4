"""Measures idle streams of events: `python -m benchmarks.streams [--streams 9900] [--posts 200]`.

Memory of the server with the streams open beyond that without, its CPU while they are idle, and how long an event takes
to a stream, counted from before the request that causes it. Two streams of each key, five keys of each account, on
SQLite. A server takes half as many connections as `ulimit -n` has files: leave it one for the posts.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Final

import uvloop

from benchmarks.processes import RAISED, Server, free_port
from pressroom.clock import SystemClock
from pressroom.db import Tx
from pressroom.db.migrate import migrate
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope

OF_KEY: Final = 2
KEYS: Final = 5
OPENED_TOGETHER: Final = 100
IDLE_SECONDS: Final = 45.0
"""Three rounds of comments."""

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def make_keys(file: Path, count: int) -> list[str]:
    """Makes a database with keys of accounts of their own; the secrets."""
    db = open_sqlite(file, SystemClock())
    try:
        await migrate(db)
        return [key for first in range(0, count, KEYS) for key in await db.transact(_make_account, first)]
    finally:
        await db.close()


async def _make_account(tx: Tx, number: int) -> list[str]:
    account = await create_account(tx, NewAccount(f"reader{number}", f"{number}@example.org", "no hash"))
    made = [await create_key(tx, account.id, NewKey(f"key {each}", list(Scope))) for each in range(KEYS)]
    return [secret for _, secret in made]


async def open_stream(port: int, key: str) -> Stream:
    """Opens a stream and reads its first block."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4_096)
    head = f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nAccept: text/event-stream"
    writer.write(f"{head}\r\n\r\n".encode())
    if b" 200 " not in await reader.readline():
        raise RuntimeError(f"refused: {await reader.read(1_000)}")
    await reader.readuntil(b"retry: 2000\n")
    return reader, writer


async def drop(reader: asyncio.StreamReader) -> None:
    """Reads comments, as a client does."""
    while await reader.read(4_096):
        pass


async def milliseconds_to(stream: Stream, connection: Stream, key: str) -> float:
    """Publishes a post; the time until its event has come."""
    body = b'{"content":"The harbour bridge opens again on Monday."}'
    head = f"POST /api/posts HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nContent-Length: {len(body)}"
    began = time.perf_counter()
    connection[1].write(f"{head}\r\n\r\n".encode() + body)
    await stream[0].readuntil(b"\ndata: ")
    took = (time.perf_counter() - began) * 1_000
    answer = await connection[0].readuntil(b"\r\n\r\n")
    length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await connection[0].readexactly(int(length.partition(b":")[2]))
    return took


async def measure(server: Server, keys: list[str], streams: int, posts: int) -> None:
    """Opens streams, and prints what they cost."""
    before = server.megabytes
    wanted = [key for key in keys[1:] for _ in range(OF_KEY)][:streams]
    opened: list[Stream] = []
    for first in range(0, streams, OPENED_TOGETHER):
        opened += await asyncio.gather(
            *(open_stream(server.port, key) for key in wanted[first : first + OPENED_TOGETHER])
        )
    dropping = [asyncio.create_task(drop(reader)) for reader, _ in opened]
    cpu, began = server.cpu_seconds, time.perf_counter()
    await asyncio.sleep(IDLE_SECONDS)
    share = (server.cpu_seconds - cpu) / (time.perf_counter() - began)
    more = server.megabytes - before
    print(f"{len(opened):,} streams: {more:.0f} MB more, {more * 1024 / len(opened):.1f} KB each")
    print(f"idle: {share:.1%} of a CPU")
    watched, connection = (
        await open_stream(server.port, keys[0]),
        await asyncio.open_connection("127.0.0.1", server.port),
    )
    took = sorted([await milliseconds_to(watched, connection, keys[0]) for _ in range(posts)])
    print(f"event: median {took[posts // 2]:.1f} ms, p99 {took[posts * 99 // 100]:.1f} ms, worst {took[-1]:.1f} ms")
    print(f"at the end: {sum(not each.done() for each in dropping):,} streams open")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=9_900)
    parser.add_argument("--posts", type=int, default=200)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        keys = uvloop.run(make_keys(Path(folder) / "pressroom.db", asked.streams // OF_KEY + 1))
        port = free_port()
        settings: dict[str, object] = {**RAISED, "DATA_DIR": folder, "PORT": port}
        server = Server(["pressroom", "serve"], port, Path(folder) / "server.log", keys[0], settings)
        try:
            uvloop.run(measure(server, keys, asked.streams, asked.posts))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
