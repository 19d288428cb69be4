"""Measures searches beside millions of posts.

    .venv/bin/python -m benchmarks.searching [--posts 5000000] [--engine sqlite|postgres] [--rounds 20]

Posts have 20 words of a vocabulary in which few words are frequent. A fifth of them has the word `common`, one in a
thousand `seldom`, the oldest alone `unique`; a tenth is PRIVATE and has the word `hidden`; a fifth has the words
`never` and `beside`, which no post has next to each other. The index is filled by the statements of the product; on
PostgreSQL its index of GIN is made afterwards. CPU is that of the server, on PostgreSQL with PostgreSQL's own.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote

import uvloop

from benchmarks.growth import Place, places
from benchmarks.processes import RAISED, Server, free_port, load_average
from pressroom.db import Command, Tx, Value
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import PostgresDatabase
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.search.models import tsvector, words_of_post
from pressroom.domains.search.queries import INSERT_INDEXED, INSERT_WORDS
from pressroom.domains.sign_in.sessions import begin_session

AUTHORS: Final = 1_000
VOCABULARY: Final = 50_000
SLICE: Final = 2_000

PUT: Final = Command(
    "INSERT INTO posts (id, account_id, type, content, visibility, commenters, created_at, updated_at)"
    " VALUES (:post_id, :account_id, 'POST', :content, :visibility, 'everyone', :now, :now)"
)

_DROP: Final = "DROP INDEX indexed_posts_words"
_MAKE: Final = "CREATE INDEX indexed_posts_words ON indexed_posts USING gin (words) WITH (fastupdate = off)"

SEARCHES: Final = {
    "a word of one post": "unique",
    "a word of a fifth": "common",
    "a word of one in 1,000": "seldom",
    "two words of a fifth": "common never",
    "a fifth without a fifth": "common -never",
    "a phrase that none has": '"never beside"',
    "words of one and of a fifth": "unique common",
    "an author": "from:author8",
    "a fifth, by an author": "common from:author8",
    "a tenth that others see": "hidden",
    "no post": "absent",
    "a hundred words": " ".join(f"w{number}"[:1] + str(number % 10) for number in range(66)),
}


def contents(posts: int) -> Iterator[tuple[str, str]]:
    """Yields texts and visibilities, oldest first."""
    chance = random.Random(1)
    for number in range(posts):
        words = [f"w{int(VOCABULARY * chance.random() ** 3)}" for _ in range(20)]
        if number % 5 == 0:
            words[3] = "common"
        if number % 5 == 1:
            words[7], words[9] = "never", "beside"
        if number % 1_000 == 500:
            words[5] = "seldom"
        if number == 0:
            words[0] = "unique"
        hidden = number % 10 == 7
        if hidden:
            words[1] = "hidden"
        yield " ".join(words), "PRIVATE" if hidden else "PUBLIC"


async def fill(place: Place, posts: int) -> str:
    """Makes the posts and their index; the session of a reader."""
    async with place.opened() as db:
        await migrate(db)
        names = [f"author{number}" for number in range(AUTHORS)]
        authors = [await db.transact(_make, name) for name in names]
        reader = await db.transact(_make, "reader")
        session = await db.transact(begin_session, reader)
        if db.engine == "postgres":
            await db.script(_DROP)
        rows: list[tuple[int, str, str, str]] = []
        for number, (content, visibility) in enumerate(contents(posts)):
            rows.append((number, authors[number % AUTHORS], content, visibility))
            if len(rows) == SLICE:
                await db.transact(_put, rows)
                rows = []
        await db.transact(_put, rows)
        if isinstance(db, PostgresDatabase):
            await db.build(["SET maintenance_work_mem = '1GB'", _MAKE, "VACUUM ANALYZE"])
        return session


async def _make(tx: Tx, name: str) -> str:
    return (await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))).id


async def _put(tx: Tx, rows: list[tuple[int, str, str, str]]) -> None:
    made: list[dict[str, Value]] = []
    for number, author, content, visibility in rows:
        words = words_of_post(
            content, number=number, account_id=author, has_media=False, has_poll=False, has_link=False
        )
        made.append({
            "number": number, "post_id": f"0000000{1_000_000_000_000_000_000 + number}", "account_id": author,
            "content": content, "visibility": visibility, "now": tx.now,
            "words": " ".join(words) if tx.engine == "sqlite" else tsvector(words),
        })  # fmt: skip
    for command in (PUT, INSERT_INDEXED[tx.engine], *([INSERT_WORDS] if tx.engine == "sqlite" else [])):
        await tx.run_each(command, made)


def measure(place: Place, session: str, rounds: int) -> None:
    """Prints the cost of each search."""
    port = free_port()
    where: dict[str, object] = {"DATA_DIR": place.folder, "PORT": port}
    if place.url:
        where["DATABASE_URL"] = place.url
    server = Server(["pressroom", "serve", "--only", "api"], port, place.folder / "log", "", where | RAISED)
    print(f"{'CPU for each, ms':<30} {'server':>8} {'with database':>14} {'elapsed':>8} {'found':>6} complete")
    try:
        for name, text in SEARCHES.items():
            answer = _ask(port, session, text)
            ours, theirs, took = server.cpu_seconds, place.cpu(), list[float]()
            for _ in range(rounds):
                began = time.perf_counter()
                answer = _ask(port, session, text)
                took.append(time.perf_counter() - began)
            mine = (server.cpu_seconds - ours) / rounds * 1_000
            both = mine + (place.cpu() - theirs) / rounds * 1_000
            posts, complete = cast("list[object]", answer["posts"]), answer["complete"]
            print(
                f"{name:<30} {mine:8.1f} {both:14.1f} {statistics.median(took) * 1_000:8.1f} {len(posts):6} {complete}",
                flush=True,
            )
    finally:
        server.stop()


def _ask(port: int, session: str, text: str) -> dict[str, object]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"/api/search?q={quote(text)}", headers={"Cookie": f"session={session}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{text}: {body!r}")
    return cast("dict[str, object]", json.loads(body))


def run(engine: str, posts: int, rounds: int) -> None:
    """Measures one engine and prints it."""
    with tempfile.TemporaryDirectory(prefix="wt-s-") as folder, places(engine, Path(folder)) as place:
        started = time.perf_counter()
        session = uvloop.run(fill(place, posts))
        os.sync()
        print(f"\n{engine}: {posts:,} posts in {time.perf_counter() - started:.0f} s", flush=True)
        measure(place, session, rounds)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.searching", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--posts", type=int, default=5_000_000)
    parser.add_argument("--engine", action="append", choices=("sqlite", "postgres"))
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    print(f"{load_average():.1f} processes wanted a core before.")
    for engine in given.engine or ("sqlite", "postgres"):
        run(engine, given.posts, given.rounds)


if __name__ == "__main__":
    main()
