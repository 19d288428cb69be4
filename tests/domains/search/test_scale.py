"""The cost of a search is that of a span of posts, also beside fifty times as many: by plans and work, untimed."""

import asyncio
import os
from pathlib import Path
from typing import Any, Final, cast

import apsw
import asyncpg
import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import open_postgres
from pressroom.db.sqlite.database import connect, drive, open_sqlite
from pressroom.db.sqlite.tx import SqliteTx
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.reading.queries import list_indexed, list_public
from pressroom.domains.search import queries
from pressroom.domains.search.models import parse_search
from pressroom.domains.search.queries import FIND_IN_SPANS, Match
from tests.harness.plans import UNHURRIED, Asked, Cost, Noting, Postgres, Sqlite
from tests.services.postgres import PostgresServer

POSTS: Final = 50_000
SPAN: Final = 1_024
SPANS: Final = range(POSTS // SPAN, -1, -1)
PEOPLE: Final = 5_000

NEWEST: Final = [*range(POSTS - 1, POSTS - 22, -1)]
SEARCHES: Final = {
    "common": NEWEST,
    "rare": [5],
    "absent": [],
    '"usual common"': NEWEST,
    '"rare common"': [5],
    '"even odd"': [],
    'common -"even odd"': NEWEST,
    '-"usual common"': [5],
}
"""Searches, and the numbers of the posts that they find. No post has two of `usual`, `rare`, or of `even`, `odd`."""

NOTED: Final = ("common", "rare", "absent")
LARGE: Final = ("indexed_posts", "account_words", "post_tags")

MAKE_POSTS: Final = """
INSERT INTO posts (id, account_id, type, content, visibility, created_at, updated_at)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last})
SELECT '0000000' || (1000000000000000000 + i), '{author}', 'POST', '', 'PUBLIC', i, i FROM n;
INSERT INTO post_tags (account_id, post_id, tag, hidden)
SELECT account_id, id, 'tag' || (created_at % 4), FALSE FROM posts;
"""
INDEX: Final = {
    "sqlite": """
INSERT INTO indexed_posts (number, post_id, account_id) SELECT created_at, id, account_id FROM posts;
INSERT INTO indexed_words (rowid, words)
SELECT created_at, CASE WHEN created_at = 5 THEN 'rare' ELSE 'usual' END || ' common '
|| CASE WHEN created_at % 2 = 0 THEN 'even' ELSE 'odd' END || ' ~' || (created_at / {span}) FROM posts
""",
    "postgres": """
INSERT INTO indexed_posts (number, post_id, account_id, words)
SELECT created_at, id, account_id, CAST(CASE WHEN created_at = 5 THEN 'rare:1' ELSE 'usual:1' END
|| ' common:2 ' || CASE WHEN created_at % 2 = 0 THEN 'even:3' ELSE 'odd:3' END
|| ' ''~' || (created_at / {span}) || ''':4' AS TSVECTOR) FROM posts;
ANALYZE
""",
}
MAKE_PEOPLE: Final = """
INSERT INTO accounts (id, username, username_key, email, email_key, password_hash, display_name, verified,
email_verified, is_private, is_creator, total_followers, total_following, total_posts, created_at, updated_at)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last})
SELECT 'p' || i, 'p' || i, 'p' || i, 'p' || i, 'p' || i, '', 'P', FALSE, FALSE, FALSE, FALSE, 0, 0, 0, 0, 0 FROM n;
INSERT INTO account_words (word, account_id) SELECT username_key, id FROM accounts WHERE display_name = 'P';
"""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The engine, and where its database with many posts is."""
    folder = tmp_path_factory.mktemp("scale")
    if request.param == "sqlite":
        place = str(folder / "test.db")
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        place = server.create_database(f"search_scale_{os.getpid()}")

    async def make() -> None:
        db = await open_database(request.param, place)
        try:
            await migrate(db)
            author = await db.transact(create_account, NewAccount("author", "author@example.org", "no hash"))
            statements = MAKE_POSTS.format(last=POSTS - 1, author=author.id) + MAKE_PEOPLE.format(last=PEOPLE - 1)
            await db.script(statements + INDEX[request.param].format(span=SPAN))
        finally:
            await db.close()

    asyncio.run(make())
    return request.param, place


async def open_database(engine: str, place: str) -> Database:
    if engine == "sqlite":
        return open_sqlite(Path(place), SettableClock())
    return await open_postgres(place, SettableClock(), options=UNHURRIED)


async def find(tx: Tx, text: str) -> list[Match]:
    """Searches all spans for a text."""
    search = parse_search(text)
    return await queries.find_matches(
        tx, search.wanted, search.unwanted, reader="", spans=SPANS, before=POSTS, oldest=0, limit=21
    )


async def read(tx: Tx, asked: list[Asked]) -> dict[str, list[Match]]:
    """Searches for posts and for names, and notes the statements whose work is looked at."""
    noting = Noting(tx, asked)
    found = {text: await find(noting if text in NOTED else tx, text) for text in SEARCHES}
    await queries.find_people(noting, "p", reader="", place=("p", ""), limit=50)
    await queries.find_person(noting, "p7", reader="")
    await queries.find_hubs(noting, "p", reader="", place=("p", ""), limit=50)
    await queries.find_tags(noting, "t", reader="", after="", limit=50)
    sitemap = await list_indexed(noting, POSTS // 2, POSTS // 2 + 50)
    assert len(await list_public(noting, sitemap)) == 50
    return found


async def costs(engine: str, place: str, asked: list[Asked]) -> list[tuple[Command, list[Cost]]]:
    """What each statement takes, by each of its plans."""
    if engine == "sqlite":
        explaining: Sqlite | Postgres = Sqlite(connect(Path(place)))
        return [(each.command, await explaining.explain(each)) for each in asked]
    connection = await asyncpg.connect(place)
    explaining = Postgres(connection, LARGE)
    try:
        return [(each.command, await explaining.explain(each)) for each in asked]
    finally:
        await connection.close()


def test_search_looks_at_spans_by_the_index_of_words(filled: tuple[str, str]) -> None:
    engine, place = filled
    asked: list[Asked] = []

    async def work() -> tuple[dict[str, list[Match]], list[tuple[Command, list[Cost]]]]:
        db = await open_database(engine, place)
        try:
            return await db.read(read, asked), await costs(engine, place, asked)
        finally:
            await db.close()

    found, explained = asyncio.run(work())
    assert {text: [match.number for match in matches] for text, matches in found.items()} == SEARCHES
    for command, plans in explained:
        for plan in plans:
            assert engine == "sqlite" or plan.walked == [], plan.plan
            assert plan.work < 8 * SPAN, (command.text, plan.work, plan.plan)
            if command is FIND_IN_SPANS:
                assert "indexed_posts_words" in plan.indexes, plan.plan


@pytest.mark.parametrize("filled", ["sqlite"], indirect=True)
def test_search_of_each_span_reads_few_pages_of_fts5(filled: tuple[str, str]) -> None:
    connection = connect(Path(filled[1]))
    status, pages = cast("Any", connection).status, dict[str, int]()
    for text in SEARCHES:
        status(apsw.SQLITE_DBSTATUS_CACHE_HIT, True)
        drive(find(SqliteTx(connection, 0), text))
        pages[text] = status(apsw.SQLITE_DBSTATUS_CACHE_HIT, True)[0]
    connection.close()
    assert max(pages.values()) < 32 * len(SPANS), pages
