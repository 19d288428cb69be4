"""Measures explore beside millions of posts and likes: a read, the job, and the writes whose indexes it needs.

    .venv/bin/python -m benchmarks.discovery [--posts 5000000] [--engine sqlite|postgres] [--rounds 200]

As many likes as posts, 100,000 of them in the last day; 50,000 uses of hashtags in that day and 200,000 in the week
before; 20,000 bounces; 10,000 hubs; a reader who follows 1,000 accounts with 50 follows each. CPU is that of the
server, on PostgreSQL with PostgreSQL's own. A step is what holds the event loop without a pause.
"""

import argparse
import asyncio
import http.client
import os
import tempfile
import time
from pathlib import Path
from typing import Final

import uvloop

from benchmarks.growth import MORE_ACCOUNTS, Place, places
from benchmarks.processes import RAISED, Server, free_port, load_average
from pressroom.clock import DAY, SystemClock
from pressroom.db import Command, Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import PostgresDatabase
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.explore.picking import Picker
from pressroom.domains.posts.queries.reach import insert_tags
from pressroom.domains.posts.queries.reactions import insert_like
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.ids import first_id

ACCOUNTS: Final = 200_000
FOLLOWING: Final = 1_000
FOLLOWS: Final = 50
LIKED_TODAY: Final = 100_000
APART: Final = DAY // 2 // LIKED_TODAY
"""Milliseconds between two likes; the last was half a day ago."""

USES: Final = 50_000
USES_BEFORE: Final = 200_000
BOUNCES: Final = 20_000
HUBS: Final = 10_000
WRITES: Final = 5_000
SLICE: Final = 20_000

_NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"


def _account(number: str) -> str:
    return f"'0000001' || (1000000000000000000 + ({number}) % {ACCOUNTS})"


def _old(number: str) -> str:
    return f"'0000000' || (1000000000000000000 + {number})"


_NEW: Final = ":stamp || (1000000000000000 + i)"

_POSTS: Final = (
    "INSERT INTO posts (id, account_id, type, content, visibility, original_id, created_at, updated_at)"
    f" {_NUMBERS} SELECT"
)
OLD_POSTS: Final = Command(f"{_POSTS} {_old('i')}, {_account('i')}, 'POST', :content, 'PUBLIC', NULL, 0, 0 FROM n")
NEW_POSTS: Final = Command(f"{_POSTS} {_NEW}, {_account('i * 7')}, 'POST', :content, 'PUBLIC', NULL, :now, :now FROM n")
NEW_BOUNCES: Final = Command(
    f"{_POSTS} {_NEW}, {_account('i * 11')}, 'SHARE', NULL, 'PUBLIC', {_old('i % 977')}, :now, :now FROM n"
)
TAGS: Final = Command(
    f"INSERT INTO post_tags (account_id, post_id, tag, hidden) {_NUMBERS}"
    f" SELECT {_account('i * 7')}, {_NEW}, 'tag' || (i * 13 % 3000), FALSE FROM n"
)
LIKES: Final = Command(
    f"INSERT INTO likes (post_id, account_id, created_at) {_NUMBERS}"
    f" SELECT {_old('i % 500000')}, {_account('i / 500000 * 7919 + i')}, :since + i * :apart FROM n WHERE TRUE"
    " ON CONFLICT DO NOTHING"
)
FOLLOWED: Final = Command(
    f"INSERT INTO follows (account_id, followed_id, created_at) {_NUMBERS}"
    f" SELECT {_account(f'i / {FOLLOWS}')}, {_account(f'i * 31 + i / {FOLLOWS}')}, 0 FROM n WHERE TRUE"
    " ON CONFLICT DO NOTHING"
)
READER_FOLLOWS: Final = Command(
    f"INSERT INTO follows (account_id, followed_id, created_at) {_NUMBERS} SELECT :reader, {_account('i')}, 0 FROM n"
)
MORE_HUBS: Final = Command(
    f"INSERT INTO hubs (id, account_id, slug, name, members, created_at) {_NUMBERS}"
    f" SELECT '0000004' || (1000000000000000000 + i), {_account('i')}, 'hub-' || i, 'Hub', i % 997, 0 FROM n"
)


async def fill(place: Place, posts: int) -> tuple[str, str]:
    """Fills the database; the id and session of a reader."""
    now = SystemClock().now()
    async with place.opened() as db:
        await migrate(db)
        reader = await db.transact(_make, "reader")
        session = await db.transact(begin_session, reader)
        today, before = first_id(now - DAY // 2)[:10], first_id(now - 4 * DAY)[:10]
        for command, first, count, stamp in (
            (MORE_ACCOUNTS, 0, ACCOUNTS, ""),
            (OLD_POSTS, 0, posts, ""),
            (NEW_POSTS, 0, USES, today),
            (TAGS, 0, USES, today),
            (TAGS, USES, USES_BEFORE, before),
            (NEW_BOUNCES, USES + USES_BEFORE, BOUNCES, today),
            (LIKES, 0, posts, ""),
            (FOLLOWED, 0, FOLLOWING * FOLLOWS, ""),
            (READER_FOLLOWS, 0, FOLLOWING, ""),
            (MORE_HUBS, 0, HUBS, ""),
        ):
            values = {"stamp": stamp, "reader": reader, "since": now - DAY // 2 - posts * APART, "apart": APART}
            for start in range(first, first + count, SLICE):
                await db.transact(_insert, command, start, min(start + SLICE, first + count) - 1, values)
        if isinstance(db, PostgresDatabase):
            await db.build(["VACUUM ANALYZE"])
        return reader, session


async def _make(tx: Tx, name: str) -> str:
    return (await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))).id


async def _insert(tx: Tx, command: Command, first: int, last: int, values: dict[str, str | int]) -> None:
    known = {**values, "first": first, "last": last, "accounts": ACCOUNTS, "content": "The harbour.", "now": tx.now}
    await tx.run(command, **{name: known[name] for name in command.names})


async def do_job(place: Place) -> None:
    """Does the job and prints its cost."""
    async with place.opened() as db:
        steps: list[float] = []

        async def watch() -> None:
            last = time.thread_time()
            while True:
                await asyncio.sleep(0)
                now = time.thread_time()
                steps.append(now - last)
                last = now

        picker = Picker(db, SystemClock())
        await picker.run()
        began, cpu, theirs = time.perf_counter(), time.process_time(), place.cpu()
        await picker.run()
        elapsed, cpu, theirs = time.perf_counter() - began, time.process_time() - cpu, place.cpu() - theirs
        watching = asyncio.create_task(watch())
        await picker.run()
        watching.cancel()
        steps.sort()
        print(
            f"job: {elapsed:.1f} s, {cpu:.2f} s of CPU here and {theirs:.2f} s in PostgreSQL;"
            f" its longest steps take {', '.join(f'{step * 1e3:.1f}' for step in steps[-3:])} ms of CPU",
            flush=True,
        )


async def write(place: Place, drop: str) -> None:
    """Prints the CPU of a like and of a hashtag with the indexes of the job, without them, and with them again."""
    for round_, indexes in enumerate(("with", "without", "with", "without")):
        async with place.opened() as db:
            if indexes == "without":
                await db.script(drop)
            else:
                await db.script(
                    "CREATE INDEX IF NOT EXISTS likes_newest ON likes (created_at);"
                    " CREATE INDEX IF NOT EXISTS post_tags_newest ON post_tags (post_id, tag) WHERE NOT hidden;"
                )
            ours, theirs = time.process_time(), place.cpu()
            for number in range(WRITES):
                await db.transact(_like, round_ * WRITES + number)
            liked, ours = time.process_time() - ours, time.process_time()
            database, theirs = place.cpu() - theirs, place.cpu()
            for number in range(WRITES):
                await db.transact(_tag, round_ * WRITES + number)
            tagged = time.process_time() - ours + place.cpu() - theirs
            print(
                f"{indexes:>8} the indexes: a like {(liked + database) / WRITES * 1e6:.0f} µs,"
                f" a post's hashtag {tagged / WRITES * 1e6:.0f} µs",
                flush=True,
            )


async def _like(tx: Tx, number: int) -> None:
    post = f"0000000{1_000_000_000_000_000_000 + number * 37 % 400_000}"
    await insert_like(tx, post, f"0000001{1_000_000_000_000_000_000 + 199_999 - number}")


async def _tag(tx: Tx, number: int) -> None:
    account_id = f"0000001{1_000_000_000_000_000_000 + number}"
    post_id = f"{first_id(tx.now)[:10]}{1_000_000_000_000_000 + number}"
    await insert_tags(tx, account_id=account_id, post_id=post_id, tags=[f"tag{number % 3_000}"])


def read(place: Place, session: str, rounds: int) -> None:
    """Prints the cost of a read."""
    port = free_port()
    where: dict[str, object] = {"DATA_DIR": place.folder, "PORT": port, "PUBLIC_EXPLORE": 1}
    if place.url:
        where["DATABASE_URL"] = place.url
    server = Server(["pressroom", "serve", "--only", "api"], port, place.folder / "log", "", where | RAISED)
    try:
        for name, path, cookie in (
            ("GET /api/explore", "/api/explore", session),
            ("GET /explore", "/explore", session),
            ("GET / of a visitor", "/", ""),
            ("GET /@filler7 of a visitor", "/@filler7", ""),
        ):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            size = _ask(connection, path, cookie)
            ours, theirs = server.cpu_seconds, place.cpu()
            for _ in range(rounds):
                _ask(connection, path, cookie)
            mine = (server.cpu_seconds - ours) / rounds * 1e3
            both = mine + (place.cpu() - theirs) / rounds * 1e3
            print(f"{name}: {mine:.2f} ms of CPU, with the database {both:.2f} ms; {size:,} bytes", flush=True)
            connection.close()
    finally:
        server.stop()


def _ask(connection: http.client.HTTPConnection, path: str, session: str) -> int:
    connection.request("GET", path, headers={"Cookie": f"session={session}"} if session else {})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {body[:300]!r}")
    return len(body)


def run(engine: str, posts: int, rounds: int) -> None:
    """Measures one engine and prints it."""
    with tempfile.TemporaryDirectory() as folder, places(engine, Path(folder)) as place:
        started = time.perf_counter()
        _, session = uvloop.run(fill(place, posts))
        os.sync()
        print(f"\n{engine}: {posts:,} posts and likes in {time.perf_counter() - started:.0f} s", flush=True)
        uvloop.run(do_job(place))
        read(place, session, rounds)
        uvloop.run(write(place, "DROP INDEX likes_newest; DROP INDEX post_tags_newest;"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.discovery", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--posts", type=int, default=5_000_000)
    parser.add_argument("--engine", action="append", choices=("sqlite", "postgres"))
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    print(f"{load_average():.1f} processes wanted a core before.")
    for engine in given.engine or ("sqlite", "postgres"):
        run(engine, given.posts, given.rounds)


if __name__ == "__main__":
    main()
