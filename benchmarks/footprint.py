"""Measures the bytes that a create moves and leaves behind: `python -m benchmarks.footprint [--seconds 3]`.

Bytes do not depend on what else the machine does. On PostgreSQL each account has an endpoint, so that each create
queues a delivery.
"""

import argparse
import shutil
import socket
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import apsw
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

WAL: Final = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"

# A partition counts for its table.
POSTGRES_SIZES: Final = (
    "SELECT coalesce(whole.relname, part.relname), sum(pg_total_relation_size(part.oid)) FROM pg_class part"
    " LEFT JOIN pg_inherits i ON i.inhrelid = part.oid LEFT JOIN pg_class whole ON whole.oid = i.inhparent"
    " WHERE part.relkind = 'r' AND part.relnamespace = 'public'::regnamespace GROUP BY 1"
)
SQLITE_SIZES: Final = (
    "SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name GROUP BY m.tbl_name"
)

MONTH: Final = {"events", "deliveries"}
"""Tables that keep a row for 30 days."""

DAY: Final = {"idempotent_answers"}
"""Tables that keep a row for 24 hours."""


class Kept(msgspec.Struct):
    """Bytes that one create leaves in the database, by how long they stay there: for good, 30 days, 24 hours."""

    lasting: float
    month: float
    day: float


class OnSqlite(msgspec.Struct):
    """Bytes of one create on SQLite."""

    http: float
    written: float
    kept: Kept


class OnPostgres(msgspec.Struct):
    """Bytes of one create on PostgreSQL and Redis, and microseconds of Redis's CPU for one request."""

    wal: float
    kept: Kept
    redis_moved: float
    redis_cpu: float


def kept(before: Mapping[str, float], after: Mapping[str, float], answered: float) -> Kept:
    """Returns the bytes that each of `answered` creates left, from the sizes of tables with their indexes."""
    grown = {table: (size - before.get(table, 0)) / answered for table, size in after.items()}
    month, day = (sum(grown.get(table, 0) for table in tables) for tables in (MONTH, DAY))
    return Kept(sum(grown.values()) - month - day, month, day)


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


def on_sqlite(folder: Path, seconds: float) -> OnSqlite:
    """Measures creates on SQLite, in accounts without endpoints."""
    file, keys = folder / "pressroom.db", folder / "keys.txt"
    secrets = uvloop.run(seed(file))
    keys.write_text("\n".join(secrets), "utf-8")
    before = _sizes_of_file(file)
    server = real_server(folder, secrets[0])
    try:
        moved = exchanged(server.port, secrets[0])
        process = psutil.Process(server.pid)
        written = process.io_counters().write_bytes
        answered = measure_load(server, "create", "--keys", keys, "--seconds", seconds).load.answered
        written = process.io_counters().write_bytes - written
    finally:
        server.stop()
    return OnSqlite(moved, written / answered, kept(before, _sizes_of_file(file), answered))


def _sizes_of_file(file: Path) -> dict[str, float]:
    connection = cast("Any", apsw.Connection(str(file)))
    try:
        return {str(table): float(size) for table, size in connection.execute(SQLITE_SIZES)}
    finally:
        connection.close()


def on_postgres(folder: Path, seconds: float) -> OnPostgres:
    """Measures creates on PostgreSQL with Redis, in accounts with one endpoint each."""
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
            (wal, before), info = uvloop.run(_state(url)), client.info()
            answered = measure_load(server, "create", "--keys", keys, "--seconds", seconds).load.answered
            (later, after), end = uvloop.run(_state(url)), client.info()
        finally:
            server.stop()
            client.close()
    moved = sum(end[name] - info[name] for name in ("total_net_input_bytes", "total_net_output_bytes"))
    cpu = sum(end[name] - info[name] for name in ("used_cpu_user", "used_cpu_sys"))
    return OnPostgres((later - wal) / answered, kept(before, after, answered), moved / answered, cpu / answered * 1e6)


async def _seeded(url: str) -> list[str]:
    db = await open_postgres(url, SystemClock())
    try:
        return [writer.secret for writer in await seed_writers(db)]
    finally:
        await db.close()


async def _state(url: str) -> tuple[float, dict[str, float]]:
    """Returns the position in the WAL and the size of each table with its indexes, in bytes."""
    connect = cast("Callable[[str], Awaitable[Any]]", asyncpg.connect)
    connection = await connect(url)
    try:
        sizes = await connection.fetch(POSTGRES_SIZES)
        return float(await connection.fetchval(WAL)), {str(table): float(size) for table, size in sizes}
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
        found = {
            "SQLite": msgspec.structs.asdict(on_sqlite(folder / "sqlite", seconds)),
            "PostgreSQL": msgspec.structs.asdict(on_postgres(folder / "postgres", seconds)),
        }
    finally:
        shutil.rmtree(folder)
    for engine, figures in found.items():
        for name, value in figures.items():
            parts = msgspec.structs.asdict(value) if isinstance(value, Kept) else {"": value}
            for part, figure in parts.items():
                print(f"{engine} {name} {part}".ljust(28), f"{figure:8,.0f}")


if __name__ == "__main__":
    main()
