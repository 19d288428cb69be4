"""Measures what a create moves and leaves behind, in bytes: `python -m benchmarks.footprint [--seconds 3]`.

Bytes do not depend on what else the machine does. On PostgreSQL each account has an endpoint, so that each create
queues a delivery.
"""

import argparse
import shutil
import socket
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, cast

import asyncpg
import msgspec
import psutil
import redis
import uvloop
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

from benchmarks.load import BODY
from benchmarks.postgres import seed as seed_writers
from benchmarks.processes import RAISED, Server, free_port, measure_load, real_server
from benchmarks.seed import seed
from pressroom.clock import SystemClock
from pressroom.db.postgres.database import open_postgres

STATE: Final = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn, pg_database_size(current_database())"


class Footprint(msgspec.Struct):
    """Bytes of one create, and microseconds of Redis's CPU for one request."""

    http: float
    sqlite_written: float
    sqlite_kept: float
    wal: float
    postgres_kept: float
    redis_moved: float
    redis_cpu: float


def exchanged(port: int, secret: str) -> int:
    """Returns the bytes of a create's request and answer."""
    request = (
        f"POST /api/posts HTTP/1.1\r\nHost: press.example.org\r\nAuthorization: Bearer {secret}\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: 01J0000000000000000000000\r\n"
        f"Connection: close\r\nContent-Length: {len(BODY)}\r\n\r\n"
    ).encode() + BODY
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        received = 0
        while piece := connection.recv(65_536):
            received += len(piece)
    return len(request) + received


def on_sqlite(folder: Path, seconds: float) -> tuple[float, float, float]:
    """Returns the bytes of a create: exchanged, written to disk, and kept in the file."""
    file, keys = folder / "pressroom.db", folder / "keys.txt"
    secrets = uvloop.run(seed(file))
    keys.write_text("\n".join(secrets), "utf-8")
    before = file.stat().st_size
    server = real_server(folder, secrets[0])
    try:
        moved = exchanged(server.port, secrets[0])
        process = psutil.Process(server.pid)
        written = process.io_counters().write_bytes
        answered = measure_load(server, "create", "--keys", keys, "--seconds", seconds).load.answered
        written = process.io_counters().write_bytes - written
    finally:
        server.stop()
    return moved, written / answered, (file.stat().st_size - before) / answered


def on_postgres(folder: Path, seconds: float) -> tuple[float, float, float, float]:
    """Returns the bytes of a create: WAL, kept, exchanged with Redis; and Redis's CPU for it, in microseconds."""
    keys = folder / "keys.txt"
    with (
        PostgresServer.start(folder / "postgres", fsync=True) as database,
        RedisServer.start(folder / "redis") as counters,
    ):
        url = database.create_database("measured")
        secrets = uvloop.run(_seeded(url))
        keys.write_text("\n".join(secrets), "utf-8")
        port, client = free_port(), cast("Any", redis.Redis(port=counters.port))
        where: dict[str, object] = {"DATABASE_URL": url, "REDIS_URL": counters.url, "DATA_DIR": folder, "PORT": port}
        server = Server(["pressroom", "serve", "--only", "api"], port, folder / "log", secrets[0], where | RAISED)
        try:
            state, info = uvloop.run(_state(url)), client.info()
            answered = measure_load(server, "create", "--keys", keys, "--seconds", seconds).load.answered
            later, end = uvloop.run(_state(url)), client.info()
        finally:
            server.stop()
            client.close()
    moved = sum(end[name] - info[name] for name in ("total_net_input_bytes", "total_net_output_bytes"))
    cpu = sum(end[name] - info[name] for name in ("used_cpu_user", "used_cpu_sys"))
    return (
        (later[0] - state[0]) / answered,
        (later[1] - state[1]) / answered,
        moved / answered,
        cpu / answered * 1e6,
    )


async def _seeded(url: str) -> list[str]:
    db = await open_postgres(url, SystemClock())
    try:
        return [writer.secret for writer in await seed_writers(db)]
    finally:
        await db.close()


async def _state(url: str) -> tuple[float, float]:
    connect = cast("Callable[[str], Awaitable[Any]]", asyncpg.connect)
    connection = await connect(url)
    try:
        wal, kept = await connection.fetchrow(STATE)
        return float(wal), float(kept)
    finally:
        await connection.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.footprint", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    seconds: float = parser.parse_args().seconds
    folder = Path(tempfile.mkdtemp())
    try:
        for place in ("sqlite", "postgres"):
            (folder / place).mkdir()
        found = Footprint(*on_sqlite(folder / "sqlite", seconds), *on_postgres(folder / "postgres", seconds))
    finally:
        shutil.rmtree(folder)
    for name in Footprint.__struct_fields__:
        print(f"{name:<16} {getattr(found, name):8,.0f}")


if __name__ == "__main__":
    main()
