"""Measures whether the size of an installation makes requests dearer: `make bench-growth`.

    .venv/bin/python -m benchmarks.growth [--posts 5000000] [--engine sqlite|postgres] [--rounds 3] [--seconds 2]

A create, a look at a key, a permalink, a profile and the claim of deliveries, on a database with 100 accounts, then on
the same one with so many posts and events more, and an account with a key and an endpoint for each 25 of them. CPU is
that of the server, on PostgreSQL with PostgreSQL's own, per request.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, cast

import asyncpg
import msgspec
import psutil
import uvloop
from tests.services.postgres import PostgresServer

from benchmarks.library import CONTENT, FILL
from benchmarks.postgres import Writer, cpu_of, seed
from benchmarks.processes import RAISED, Server, free_port, load_average, measure_load
from pressroom.clock import SystemClock
from pressroom.db import Command, Database, Query, Tx
from pressroom.db.postgres.database import open_postgres
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.webhooks.models import Speed
from pressroom.domains.webhooks.queries.leases import CANDIDATES, FIND_CANDIDATES, LEASE_ENDPOINT, WINDOW

POSTS_PER_ACCOUNT: Final = 25
SHOWN: Final = 100
"""Posts of the profile that is looked at, the same before and after."""

SLICE: Final = 20_000
"""Rows to a transaction: no statement may take longer than the server's own time-out."""

CLAIMS: Final = 500
LEASED: Final = 8

_NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
_ACCOUNT: Final = "'0000001' || (1000000000000000000 + i % :accounts)"

MORE_ACCOUNTS: Final = Command(
    "INSERT INTO accounts (id, username, username_key, email, email_key, password_hash, display_name, verified,"
    " email_verified, is_private, is_creator, total_followers, total_following, total_posts, public_posts, created_at,"
    f" updated_at) {_NUMBERS} SELECT '0000001' || (1000000000000000000 + i), 'filler' || i, 'filler' || i,"
    " 'filler' || i || '@example.org', 'filler' || i || '@example.org', 'no hash', 'Filler', FALSE, TRUE, FALSE, FALSE,"
    " 0, 0, 25, 25, :now, :now FROM n"
)
MORE_KEYS: Final = Command(
    "INSERT INTO api_keys (id, account_id, secret_hash, key_prefix, label, scopes, ip_allowlist, created_at)"
    f" {_NUMBERS} SELECT '0000002' || (1000000000000000000 + i), '0000001' || (1000000000000000000 + i),"
    " 'filler' || i, 'svc_live_', 'key', 'posts:write', '', :now FROM n"
)
MORE_ENDPOINTS: Final = Command(
    "INSERT INTO webhooks (id, origin_id, account_id, key_id, url, events, secret, speed, created_at,"
    f" consecutive_failures, leased_until) {_NUMBERS}"
    " SELECT '0000003' || (1000000000000000000 + i), '0000003' || (1000000000000000000 + i),"
    " '0000001' || (1000000000000000000 + i), '0000002' || (1000000000000000000 + i), 'https://example.org/',"
    " 'post.created', 'secret', 'new', :now, 0, 0 FROM n"
)
MORE_POSTS: Final = Command(
    "INSERT INTO posts (id, account_id, type, content, visibility, created_at, updated_at)"
    f" {_NUMBERS} SELECT '0000000' || (1000000000000000000 + i), {_ACCOUNT}, 'POST', :content, 'PUBLIC', :now, :now"
    " FROM n"
)
MORE_EVENTS: Final = Command(
    "INSERT INTO events (id, account_id, type, data, created_at)"
    f" {_NUMBERS} SELECT '0000000' || (1000000000000000000 + i), {_ACCOUNT}, 'post.created', :data, :now FROM n"
)

BACKEND: Final = Query(int, "SELECT pg_backend_pid()")


class Place(msgspec.Struct):
    """A database that is measured. `postgres` is the process whose CPU counts too."""

    folder: Path
    url: str
    postgres: psutil.Process | None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Database]:
        """Opens the database for as long as the block."""
        file = self.folder / "pressroom.db"
        db = await open_postgres(self.url, SystemClock()) if self.url else open_sqlite(file, SystemClock())
        try:
            yield db
        finally:
            await db.close()

    def cpu(self) -> float:
        """Returns the seconds of CPU that the database's own processes have used so far."""
        return cpu_of(self.postgres) if self.postgres else 0.0


@contextmanager
def places(engine: str, folder: Path) -> Generator[Place]:
    """Makes a new database of an engine for as long as the block."""
    with ExitStack() as stack:
        if engine == "sqlite":
            yield Place(folder, "", None)
            return
        server = stack.enter_context(PostgresServer.start(folder / "postgres", fsync=True))
        yield Place(folder, server.create_database("measured"), psutil.Process(server.pid))


async def begin(place: Place) -> tuple[list[Writer], str]:
    """Makes the measured rows; the accounts, and the id of a post of the first one."""
    async with place.opened() as db:
        writers = await seed(db)
        await db.transact(_show, writers[0].account_id)
        return writers, f"0000000{2_000_000_000_000_000_010}"


async def _show(tx: Tx, account_id: str) -> None:
    await tx.run(FILL, account_id=account_id, count=SHOWN, place=0, content=CONTENT, now=tx.now)


async def grow(place: Place, posts: int) -> None:
    """Fills the database: rows of all accounts lie beside each other, as if they had been written in turn."""
    accounts = posts // POSTS_PER_ACCOUNT
    async with place.opened() as db:
        for command, count in (
            (MORE_ACCOUNTS, accounts),
            (MORE_KEYS, accounts),
            (MORE_ENDPOINTS, accounts),
            (MORE_POSTS, posts),
            (MORE_EVENTS, posts),
        ):
            for first in range(0, count, SLICE):
                await db.transact(_insert, command, first, min(first + SLICE, count) - 1, accounts)
    if place.url:
        await _analyze(place.url)


async def _insert(tx: Tx, command: Command, first: int, last: int, accounts: int) -> None:
    values = {"first": first, "last": last, "accounts": accounts, "content": CONTENT, "data": "x" * 270, "now": tx.now}
    await tx.run(command, **{name: values[name] for name in command.names})


async def _analyze(url: str) -> None:
    """Does what autovacuum does by itself, later."""
    connect = cast("Callable[[str], Awaitable[Any]]", asyncpg.connect)
    connection = await connect(url)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


def costs(place: Place, writers: list[Writer], post_id: str, seconds: float) -> dict[str, float]:
    """Returns microseconds of CPU for each of the five."""
    keys = place.folder / "keys.txt"
    keys.write_text("\n".join(each.secret for each in writers[1:]), "utf-8")
    port = free_port()
    where: dict[str, object] = {"DATA_DIR": place.folder, "PORT": port}
    if place.url:
        where["DATABASE_URL"] = place.url
    server = Server(
        ["pressroom", "serve", "--only", "api"], port, place.folder / "log", writers[0].secret, where | RAISED
    )
    found: dict[str, float] = {}
    loads = {
        "create": ("create", "--keys", keys),
        "key look-up": ("me", "--keys", keys),
        "permalink": ("page", "--path", f"/post/{post_id}"),
        "profile": ("page", "--path", "/@account0"),
    }
    try:
        for name, arguments in loads.items():
            before = place.cpu()
            measured = measure_load(server, *arguments, "--seconds", seconds)
            if measured.load.refused:
                raise RuntimeError(f"{name} was refused: {measured.load.first_refusal}")
            found[name] = measured.cpu + (place.cpu() - before) / measured.load.answered * 1e6
    finally:
        server.stop()
    return {**found, "delivery claim": uvloop.run(_claims(place))}


async def _claims(place: Place) -> float:
    """Returns microseconds of CPU to find the due endpoints and to lease some of them.

    Of PostgreSQL, the one process that does it: its others still work at what came before.
    """
    async with place.opened() as db:
        await db.transact(_claim)
        backend = psutil.Process(await db.one(BACKEND) or 0) if place.postgres else None
        used, ours = _cpu(backend), time.process_time()
        for _ in range(CLAIMS):
            await db.transact(_claim)
        return (time.process_time() - ours + _cpu(backend) - used) / CLAIMS * 1e6


def _cpu(process: psutil.Process | None) -> float:
    times = process.cpu_times() if process else None
    return times.user + times.system if times else 0.0


async def _claim(tx: Tx) -> None:
    found = await tx.all(FIND_CANDIDATES, speed=Speed.NEW, now=tx.now, full="", window=WINDOW, limit=CANDIDATES)
    for each in found[:LEASED]:
        await tx.one(LEASE_ENDPOINT, token="token", until=0, account_id=each.account_id, id=each.id, now=tx.now)


def run(engine: str, posts: int, rounds: int, seconds: float) -> None:
    """Measures one engine and prints it."""
    with tempfile.TemporaryDirectory() as folder, places(engine, Path(folder)) as place:
        writers, post_id = uvloop.run(begin(place))
        empty = _medians([costs(place, writers, post_id, seconds) for _ in range(rounds)])
        started = time.perf_counter()
        uvloop.run(grow(place, posts))
        os.sync()  # else the kernel writes gigabytes back while creates wait for their own flush
        print(f"\n{engine}: {posts:,} posts and events in {time.perf_counter() - started:.0f} s", flush=True)
        full = _medians([costs(place, writers, post_id, seconds) for _ in range(rounds)])
    print(f"{'CPU for each, µs':<20} {'empty':>8} {'full':>8} {'ratio':>6}")
    for name, before in empty.items():
        print(f"{name:<20} {before:8,.0f} {full[name]:8,.0f} {full[name] / before:6.2f}", flush=True)


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--posts", type=int, default=5_000_000)
    parser.add_argument("--engine", action="append", choices=("sqlite", "postgres"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    print(f"{load_average():.1f} processes wanted a core before.")
    for engine in given.engine or ("sqlite", "postgres"):
        run(engine, given.posts, given.rounds, given.seconds)


if __name__ == "__main__":
    main()
