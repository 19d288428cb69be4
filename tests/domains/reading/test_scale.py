"""A page costs the same among a hundred posts and among a hundred thousand: by its plans and its work, untimed."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import apsw
import httpx
import pytest

from pressroom.db import Command, Database, Tx
from pressroom.db.postgres.database import PostgresDatabase
from pressroom.db.sqlite.database import SqliteDatabase
from pressroom.domains.comments.actions import list_in_time
from pressroom.domains.comments.queries import LIST_BY_ID, LIST_IN_THREADS, LIST_IN_TIME
from pressroom.domains.posts.queries import lookup
from pressroom.domains.reading.actions import open_hub, open_permalink, open_profile, open_tag
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.ids import BEYOND
from tests.domains.reading.shelves import (
    COMMENTS,
    DELETED,
    FEW,
    LONG,
    MANY,
    MODERATED,
    NEW,
    SHORT,
    SIZES,
    discussed,
    fill,
    numbered,
    put_comments,
    put_posts,
)
from tests.harness.local import LocalServer
from tests.harness.plans import KINDS, Asked, Cost, Engine, Noting, opened_for_plans

pytestmark = pytest.mark.xdist_group("scale")

LIMIT = 1.5
"""How many times the work among few a page may be among many."""

WALK = 10_000
"""Less work than any walk through the many."""

STATEMENTS = 10
OWN = ("BEGIN", "COMMIT", "SELECT pg_advisory_unlock_all")
"""The statements of the pool and the transaction themselves."""
"""A page takes fewer, the look-up of the session included."""

NEEDED: Final[dict[Command, set[str]]] = {
    lookup.LIST_OF_ACCOUNT: {"posts_profile"},
    lookup.FIND_POST: {"posts_id"},
    lookup.FIND_POSTS: {"posts_id"},
    lookup.LIST_OF_HUB: {"posts_hub_public", "posts_hub_author", "post_audiences_hub"},
    lookup.LIST_HUB_AUTHORS: {"posts_hub_author"},
    lookup.LIST_OF_HUB_AUTHORS: {"posts_hub_author"},
    lookup.LIST_OF_TAG: {"post_tags_tag"},
    LIST_IN_THREADS: {"comments_thread"},
    LIST_IN_TIME: {"comments_post"},
    LIST_BY_ID: {"comments_id"},
}
"""By statement the indexes that it cannot do without."""

LARGE: Final = {"posts", "post_tags", "post_audiences", "likes", "comments"}
"""Tables that hold a hundred thousand rows and more."""


class Page(NamedTuple):
    """How a page is opened by a reader among `few` or `many`, and who is its author."""

    open: Callable[[Tx, int, str], Awaitable[Any]]
    author: Callable[[int], str] = "public{}_0".format
    few: int = FEW
    many: int = MANY


def profile(shelf: str, *, middle: bool = False) -> Page:
    """The page of the account that owns a shelf, from the newest post or from the middle."""

    async def open_page(tx: Tx, size: int, reader: str) -> object:
        before = numbered(NEW + SIZES.index(size), size // 2) if middle else BEYOND
        return await open_profile(tx, f"{shelf}{size}_0", reader, before)

    return Page(open_page, (shelf + "{}_0").format)


def hidden_hub() -> Page:
    """The page of a hub all of whose new posts are hidden, by the author of which they are."""

    async def open_page(tx: Tx, size: int, reader: str) -> object:
        return await open_hub(tx, f"hidden{size}", reader, BEYOND)

    return Page(open_page, "private{}_0".format)


def hub_or_tag(opens: Callable[[Tx, str, str, str], Awaitable[Any]], *, middle: bool = False) -> Page:
    """The page of a hub, or of the hashtag of its name, from the newest post or from the middle."""

    async def open_page(tx: Tx, size: int, reader: str) -> object:
        before = numbered(NEW + 6 + SIZES.index(size), size // 2) if middle else BEYOND
        return await opens(tx, f"hub{size}", reader, before)

    return Page(open_page)


def thread(*, further: bool = False) -> Page:
    """The permalink of a post with comments, from the first of them or from further on."""

    async def open_page(tx: Tx, size: int, reader: str) -> object:
        first = NEW + COMMENTS.index(size)
        after = (numbered(first, 1), numbered(first, size // 4)) if further else ("", "")
        return await open_permalink(tx, discussed(size), reader, after)

    return Page(open_page, few=SHORT, many=LONG)


PAGES: Final = {
    "public posts": profile("public"),
    "public posts from the middle": profile("public", middle=True),
    "private posts before public ones": profile("private"),
    "deleted posts before others": profile("deleted"),
    "custom posts": profile("custom"),
    "hub": hub_or_tag(open_hub),
    "hub of hidden posts": hidden_hub(),
    "hub from the middle": hub_or_tag(open_hub, middle=True),
    "tag": hub_or_tag(open_tag),
    "tag from the middle": hub_or_tag(open_tag, middle=True),
    "thread": thread(),
    "thread further on": thread(further=True),
}
READERS: Final = ["nobody", "stranger", "follower", "connection", "listed", "author"]


@dataclass(frozen=True, slots=True)
class Library:
    """A database full of posts, and the ids of its accounts by their names."""

    db: Database
    engine: Engine
    accounts: dict[str, str]
    run: Callable[[Any], Any]

    def open(self, page: Page, size: int, reader: str) -> tuple[Any, list[Asked]]:
        """The posts on a page, and its statements."""
        asked: list[Asked] = []
        name = page.author(size) if reader == "author" else reader

        async def open_page(tx: Tx) -> object:
            return await page.open(Noting(tx, asked), size, self.accounts.get(name, ""))

        return self.run(self.db.read(open_page)), asked

    def costs(self, page: Page, size: int, reader: str) -> list[tuple[Command, list[Cost]]]:
        """What each statement takes of those by which a page is opened."""
        _, asked = self.open(page, size, reader)
        return [(each.command, self.run(self.engine.explain(each))) for each in asked]


@pytest.fixture(scope="module", params=KINDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A library on each engine; SQLite's also as the server leaves it, which never tells it to gather statistics."""
    folder = tmp_path_factory.mktemp("scale")
    with opened_for_plans(request, folder, request.param, "scale", fill, LARGE) as opened:
        yield Library(opened.db, opened.engine, opened.filled, opened.run)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_found_by_indexes_alone(library: Library, page: str) -> None:
    for reader in READERS:
        for command, costs in library.costs(PAGES[page], PAGES[page].many, reader):
            for cost in costs:
                # Whom a reader follows is sorted, by their newest posts; that is theirs alone.
                sorts = ["USE TEMP B-TREE FOR ORDER BY"] if command is lookup.LIST_HUB_AUTHORS else []
                assert set(cost.walked) <= set(sorts), f"{reader}: {command.text}\n{cost.plan}"
                assert NEEDED.get(command, set()) <= cost.indexes, f"{reader}: {command.text}\n{cost.plan}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_among_many_is_the_work_of_one_among_few(library: Library, page: str) -> None:
    for reader in READERS:
        few = library.costs(PAGES[page], PAGES[page].few, reader)
        many = library.costs(PAGES[page], PAGES[page].many, reader)

        assert [command for command, _ in few] == [command for command, _ in many]
        for way in range(len(few[0][1])):
            little, much = (sum(costs[way].work for _, costs in statements) for statements in (few, many))
            assert much <= LIMIT * little, reader
            assert much < WALK, reader


async def open_moderated(tx: Tx, size: int, reader: str) -> Any:
    """The permalink of a post whose first comments were deleted."""
    return await open_permalink(tx, MODERATED, reader, ("", ""))


async def list_moderated(tx: Tx, size: int, reader: str) -> Any:
    """The first of its comments in time order, as JSON has them."""
    return await list_in_time(tx, MODERATED, reader, "", 21)


@pytest.mark.parametrize("opens", [open_moderated, list_moderated])
def test_deleted_comments_are_not_walked_through(
    library: Library, opens: Callable[[Tx, int, str], Awaitable[Any]]
) -> None:
    costs = library.costs(Page(opens), DELETED, "nobody")

    for way in range(len(costs[0][1])):
        # Whatever the planner does with the few that stand, their authors and keys is less.
        assert sum(each[way].work for _, each in costs) < DELETED / 2


@pytest.mark.parametrize("size", SIZES)
def test_profile_shows_each_reader_the_visible_posts(library: Library, size: int) -> None:
    shown = {
        shelf: [len(library.open(profile(shelf), size, reader)[0].page.posts) for reader in READERS]
        for shelf in ("public", "private", "deleted", "custom")
    }

    assert shown == {
        "public": [20] * len(READERS),
        "private": [5, 5, 5, 5, 5, 20],
        "deleted": [20] * len(READERS),
        "custom": [0, 0, 0, 0, 20, 20],
    }


def test_a_permalink_with_a_thousand_comments_takes_few_statements(
    local_server: Callable[..., LocalServer], engine_settings: dict[str, object]
) -> None:
    server = local_server(**engine_settings)
    transact = server.runtime.db.transact
    reader, *others = [server.account(name) for name in ("reader", *(f"other{number}" for number in range(20)))]
    session = server.run(transact(begin_session, reader.id))
    server.run(transact(put_posts, "other", NEW, 1))
    server.run(transact(put_comments, NEW, LONG, numbered(NEW, 1), len(others)))
    server.run(server.runtime.schedule.stop())
    asked = listen(server)
    page = f"{server.base_url}/post/{numbered(NEW, 1)}"

    for headers in ({}, {"Cookie": f"session={session}"}):
        for address in (page, f"{page}?after={numbered(NEW, 1)}-{numbered(NEW, 500)}"):
            asked.clear()
            assert httpx.get(address, headers=headers).status_code == 200
            assert sum(lookup.FIND_POST.text.partition(":")[0] in each for each in asked) == 1
            assert len([each for each in asked if not each.startswith(OWN)]) < STATEMENTS


def listen(server: LocalServer) -> list[str]:
    """Whatever the server asks of its database from now on."""
    asked: list[str] = []
    db = server.runtime.db

    async def begin() -> None:
        if isinstance(db, SqliteDatabase):
            for connection in (db._reader, db._writer):
                connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))  # type: ignore[attr-defined]
        elif isinstance(db, PostgresDatabase):
            connection = await db.pool.take()
            db.pool.give_back(connection)
            connection.add_query_logger(lambda told: asked.append(told.query))  # type: ignore[attr-defined]

    server.run(begin())
    return asked
