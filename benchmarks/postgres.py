"""Measures PostgreSQL and Redis: a create and `GET /api/auth/me`, beside their statements in bare asyncpg.

    .venv/bin/python -m benchmarks.postgres [--rounds 4] [--seconds 3] [--source DIR]

CPU is given per request: of the server's process, and of all processes of PostgreSQL, which flushes to disk at each
commit. Each account has an endpoint, and nobody delivers to it. `--source` measures another checkout in turn with this
one. The bare statements are those of a create, in 16 loops side by side: one by one, and as they travel together.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, cast

import asyncpg
import msgspec
import psutil
import uvloop
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

from benchmarks.processes import RAISED, ROOT, Server, free_port, load_average, measure_load
from pressroom.clock import DAY, SystemClock
from pressroom.db import Command, Database, Tx, Value
from pressroom.db.migrate import migrate
from pressroom.db.postgres.connector import PLAIN
from pressroom.db.postgres.database import open_postgres
from pressroom.db.postgres.pipeline import Ahead, encoded
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.accounts.queries.status import ADD_POSTS
from pressroom.domains.events.models import EventType
from pressroom.domains.events.queries import COUNT_EVENT, INSERT_EVENT
from pressroom.domains.idempotency.queries import CLAIM
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.keys.queries import FIND_BEARER
from pressroom.domains.keys.secret import hash_secret
from pressroom.domains.limits.queries import SPEND_QUOTA
from pressroom.domains.posts.models import BARE, Post, PostType
from pressroom.domains.posts.queries.writing import INSERT_POST, post_values
from pressroom.domains.webhooks.actions.endpoints import add_webhook
from pressroom.domains.webhooks.envelope import new_envelope_id
from pressroom.domains.webhooks.models import NewWebhook
from pressroom.domains.webhooks.queries.deliveries import LOCK_SUBSCRIPTIONS, QUEUE_DELIVERY
from pressroom.ids import new_id

ACCOUNTS: Final = 100
LOOPS: Final = 16
FIRST: Final = (CLAIM, SPEND_QUOTA, INSERT_POST, ADD_POSTS, COUNT_EVENT, INSERT_EVENT)
LAST: Final = (QUEUE_DELIVERY,)
"""What travels together before the endpoints are locked, and after. The claim bears the answer."""

REQUIRED: Final[tuple[Command, ...]] = (CLAIM, SPEND_QUOTA)
"""Statements that must touch a row."""


class Writer(msgspec.Struct, frozen=True):
    """An account that publishes: its endpoint and its key."""

    account_id: str
    key_id: str
    webhook_id: str
    secret: str


class Cost(msgspec.Struct):
    """Microseconds of CPU for each request, of the client or server and of PostgreSQL, and requests per second."""

    ours: float
    postgres: float
    per_second: float


async def seed(db: Database) -> list[Writer]:
    """Makes the accounts, each with a key and an endpoint."""
    await migrate(db)
    return [await db.transact(_make_writer, number) for number in range(ACCOUNTS)]


async def _make_writer(tx: Tx, number: int) -> Writer:
    account = await create_account(tx, NewAccount(f"account{number}", f"account{number}@example.org", "no hash"))
    key, secret = await create_key(tx, account.id, NewKey("key", list(Scope)))
    endpoint, _ = await add_webhook(
        tx, account.id, key.id, NewWebhook("https://example.org/", [EventType.POST_CREATED])
    )
    return Writer(account.id, key.id, endpoint.id, secret)


def values_of(writer: Writer) -> dict[str, Value]:
    """Returns the parameters of one create by their names, but for ids of its own rows."""
    now = SystemClock().now()
    post = Post(
        **msgspec.structs.asdict(BARE), id=new_id(now), account_id=writer.account_id, key_id=writer.key_id,
        type=PostType.POST, content="The harbour bridge opens again on Monday.", created_at=now, updated_at=now,
    )  # fmt: skip
    return {
        **post_values(post), "method": "POST", "path": "/api/posts", "idempotency_key": new_id(now), "body_hash": "",
        "now": now, "expired": now - DAY, "day": now // DAY, "quota": 1_000_000_000, "total": 1, "public": 1,
        "followers": 0, "connections": 0, "data": "x" * 270, "webhook_id": writer.webhook_id, "event_id": post.id,
        "event_type": "post.created", "envelope_id": new_envelope_id(), "body": "x" * 900,
        "secret_hash": hash_secret(writer.secret), "trace": None,
        "counted_for": writer.account_id,
    }  # fmt: skip


def _bound(command: Command, values: dict[str, Value]) -> list[Value]:
    replaced: dict[str, Value] = {"type": "post.created", "key_id": None} if command is INSERT_EVENT else {}
    return [{**values, **replaced}[name] for name in command.names]


async def one_by_one(connection: Any, values: dict[str, Value]) -> None:
    """Runs the statements of a create, each by itself."""
    await connection.fetchrow(FIND_BEARER.numbered, *_bound(FIND_BEARER, values))
    await connection.execute("BEGIN")
    statements: tuple[Command, ...] = (*FIRST, LOCK_SUBSCRIPTIONS, *LAST)
    for command in statements:
        method = connection.fetch if command in REQUIRED or command is LOCK_SUBSCRIPTIONS else connection.execute
        await method(command.numbered, *_bound(command, values))
    await connection.execute("COMMIT")


async def together(connection: Any, values: dict[str, Value]) -> None:
    """Runs the same as they travel together."""
    await connection.fetchrow(FIND_BEARER.numbered, *_bound(FIND_BEARER, values))
    connection.pipeline.send([Ahead("BEGIN"), *_ahead(FIRST, values)], note=False)
    await connection.fetch(LOCK_SUBSCRIPTIONS.numbered, *_bound(LOCK_SUBSCRIPTIONS, values))
    connection.pipeline.send(_ahead(LAST, values), note=False)
    await connection.fetch("COMMIT")


def _ahead(commands: Sequence[Command], values: dict[str, Value]) -> list[Ahead]:
    return [Ahead(each.numbered, encoded(_bound(each, values))) for each in commands]


async def bare(
    url: str, writers: Sequence[Writer], seconds: float, postgres: psutil.Process,
    create: Callable[[Any, dict[str, Value]], Awaitable[None]],
) -> Cost:  # fmt: skip
    """Measures creates without the server, in this process."""
    connect = cast("Callable[..., Awaitable[Any]]", asyncpg.connect)
    connections = [await connect(url, connection_class=PLAIN.connection_class()) for _ in range(LOOPS)]
    for connection, writer in zip(connections, writers, strict=False):
        for _ in range(8):  # statements are prepared, and planned for any values
            await create(connection, values_of(writer))
    done, end = 0, time.perf_counter() + seconds

    async def loop(connection: Any, own: Sequence[Writer]) -> None:
        nonlocal done
        while time.perf_counter() < end:
            await create(connection, values_of(own[done % len(own)]))
            done += 1

    used, ours = cpu_of(postgres), time.process_time()
    await asyncio.gather(*(loop(each, writers[n::LOOPS]) for n, each in enumerate(connections)))
    cost = Cost((time.process_time() - ours) / done * 1e6, (cpu_of(postgres) - used) / done * 1e6, done / seconds)
    for connection in connections:
        await connection.close()
    return cost


def cpu_of(postmaster: psutil.Process) -> float:
    """Returns the CPU time, in seconds, of PostgreSQL's processes, those that have ended included."""
    own = postmaster.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    for child in postmaster.children():
        times = child.cpu_times()
        total += times.user + times.system
    return float(total)


def served(server: Server, kind: str, keys: Path, seconds: float, postgres: psutil.Process) -> Cost:
    """Measures one kind of request at a server."""
    before = cpu_of(postgres)
    measured = measure_load(server, kind, "--keys", keys, "--seconds", seconds)
    if measured.load.refused:
        raise RuntimeError(f"{kind} was refused: {measured.load.first_refusal}")
    return Cost(measured.cpu, (cpu_of(postgres) - before) / measured.load.answered * 1e6, measured.load.per_second)


def run(folder: Path, rounds: int, seconds: float, other: Path | None) -> dict[str, list[Cost]]:
    """Measures everything in turn, `rounds` times."""
    found: dict[str, list[Cost]] = {}
    with ExitStack() as stack:
        database = stack.enter_context(PostgresServer.start(folder / "postgres", fsync=True))
        counters = stack.enter_context(RedisServer.start(folder / "redis"))
        postgres = psutil.Process(database.pid)
        url, keys = database.create_database("measured"), folder / "keys.txt"
        writers = uvloop.run(_seeded(url))
        keys.write_text("\n".join(each.secret for each in writers), "utf-8")
        servers: dict[str, Server] = {}
        measured = [("this checkout", 1, ROOT), ("two processes", 2, ROOT)]
        for name, processes, source in measured + ([(str(other), 1, other)] if other else []):
            place = folder / f"served{len(servers)}"
            place.mkdir()
            port = free_port()
            where: dict[str, object] = {"DATABASE_URL": url, "REDIS_URL": counters.url, "DATA_DIR": place, "PORT": port}
            command = ["pressroom", "serve", "--only", "api", "--workers", str(processes)]
            servers[name] = Server(command, port, place / "log", writers[0].secret, where | RAISED, source)
            stack.callback(servers[name].stop)
        for number in range(rounds):
            for kind in ("create", "me"):
                for name in list(servers)[:: 1 if number % 2 == 0 else -1]:
                    cost = served(servers[name], kind, keys, seconds, postgres)
                    found.setdefault(f"{kind}, {name}", []).append(cost)
            for name, create in (("one by one", one_by_one), ("together", together)):
                cost = uvloop.run(bare(url, writers, seconds, postgres, create))
                found.setdefault(f"bare statements of a create, {name}", []).append(cost)
            print(f"round {number + 1} of {rounds}", flush=True)
    return found


async def _seeded(url: str) -> list[Writer]:
    db = await open_postgres(url, SystemClock())
    try:
        return await seed(db)
    finally:
        await db.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.postgres", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--source", type=Path, help="another checkout, measured in turn with this one")
    given = parser.parse_args()
    busy = load_average()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), given.rounds, given.seconds, given.source)
    print(f"\nMedians of {given.rounds} rounds; {busy:.1f} processes wanted a core before. CPU per request, µs.\n")
    print(f"{'':<52} {'ours':>8} {'PostgreSQL':>10} {'a second':>9}")
    for name, costs in found.items():
        ours, postgres, rate = (statistics.median(getattr(each, part) for each in costs) for part in _PARTS)
        print(f"{name:<52} {ours:8,.0f} {postgres:10,.0f} {rate:9,.0f}")


_PARTS: Final = ("ours", "postgres", "per_second")

if __name__ == "__main__":
    main()
