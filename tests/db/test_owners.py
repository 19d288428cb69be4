"""Each table has one package that writes it, as docs/architecture.md says; whoever else reads it is listed here."""

import ast
import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import apsw
import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command
from pressroom.db.migrate import migrate
from pressroom.db.sqlite.database import open_sqlite
from tests.db.conftest import Run
from tests.harness.statements import modules, statements

ARCHITECTURE: Final = Path(__file__).parents[2] / "docs" / "architecture.md"
CELLS: Final = ARCHITECTURE.parent / "decisions" / "0018-cells.md"

WRITTEN_BY_MIGRATIONS: Final = {"oldest_program"}

OF_VIRTUAL_TABLES: Final = {"indexed_words_config"}
"""Tables in which SQLite keeps what belongs to a virtual one, and that it reads by itself."""

WRITES: Final = {apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE}

_AUTHOR: Final = "an author's names, and whether the account is suspended, are read with what it wrote"
_KEY: Final = "the label of the key that something was written with"
_HUB: Final = "the name of the hub that something was written into"
_FOLLOWS: Final = "the condition follows_sql: what a reader may see depends on who follows whom"

_BLOCKS: Final = "the condition blocks_sql: neither of two accounts sees anything of the other"
_MUTES: Final = "the condition mutes_sql: an account does not meet another one in lists of its own"
_HEARD: Final = "the condition HIDDEN and the number OTHERS of a notification, which are read with it"

_NAMES: Final = "accounts, hubs and hashtags are searched by name, with the reader's relation to them"

_STEPS: Final = "which of the first steps an account has done"

_OVERVIEW: Final = "how much there is and what waits, for admins"
_SCHEMA: Final = "what the schema lacks"
_FEED: Final = "whether a feed has changed is told by one read along an index"
_NOTICE: Final = "the page of notifications shows each with what it is about, in one statement"
_LISTED: Final = "whom explore lists, and whom the reader follows, blocks or mutes"
_PICKED: Final = "the picks of explore, and whether their subjects still stand"
_TIMELINE: Final = "the timeline merges the newest rows of its sources, each along an index"
_COPY: Final = "the copy of everything that an owner takes away"

_NEWEST: Final = "the newest id, which names the time that the database has come to"

_COPIED: Final = (
    *(
        "accounts",
        "sessions",
        "posts",
        "post_versions",
        "post_audiences",
        "polls",
        "poll_options",
        "poll_votes",
        "likes",
    ),
    *("saves", "clips", "media", "comments", "follows", "follow_requests", "hubs", "memberships", "api_keys"),
    *(
        "webhooks",
        "passkeys",
        "notifications",
        "notification_settings",
        "audit_entries",
        "blocks",
        "mutes",
        "word_filters",
        "drafts",
    ),
)

_IN_ORDER: Final = (
    *("accounts", "posts", "comments", "clips", "media", "events", "notifications", "audit_entries", "jobs"),
)

READERS: Final = {
    **{("personal_data", table): _COPY for table in _COPIED},
    ("accounts", "one_time_tokens"): "a link verifies the address that it was sent to",
    ("sign_in", "accounts"): "a request finds session and account in one read; a link holds for one e-mail address",
    ("sign_up", "accounts"): "who made an invitation, and who used it",
    ("keys", "accounts"): "a request by key finds key and account in one read",
    ("audit", "accounts"): "the present name of the admin who acted",
    ("follows", "accounts"): _AUTHOR,
    ("notifications", "accounts"): _AUTHOR,
    ("posts", "accounts"): _AUTHOR,
    ("comments", "accounts"): _AUTHOR,
    ("clips", "accounts"): _AUTHOR,
    ("media", "accounts"): _AUTHOR,
    ("posts", "api_keys"): _KEY,
    ("comments", "api_keys"): _KEY,
    ("clips", "api_keys"): _KEY,
    ("drafts", "api_keys"): _KEY,
    ("posts", "hubs"): _HUB,
    ("clips", "hubs"): _HUB,
    ("posts", "follows"): _FOLLOWS,
    ("clips", "follows"): _FOLLOWS,
    ("posts", "blocks"): _BLOCKS,
    ("clips", "mutes"): _MUTES,
    ("posts", "mutes"): _MUTES,
    **{(package, table): _HEARD for package in ("notifications", "home") for table in ("blocks", "mutes", "likes")},
    **{(package, "comments"): _HEARD for package in ("notifications", "home")},
    ("notifications", "posts"): _HEARD,
    ("clips", "blocks"): _BLOCKS,
    ("comments", "blocks"): _BLOCKS,
    ("media", "jobs"): "an upload stays while its dead job can be tried again",
    ("media", "posts"): "a file is seen by whoever may see the post that it belongs to",
    ("media", "clips"): "a file is seen by whoever may see the clip that it belongs to",
    ("webhooks", "api_keys"): "the label of an endpoint's key, in the list of all endpoints",
    ("webhooks", "events"): "a delivery is made of its event; an event stays while a delivery of it waits",
    ("search", "mutes"): "muted accounts and their posts are not found",
    ("search", "blocks"): _BLOCKS,
    ("search", "follows"): "an account that is not listed is found by its followers",
    ("search", "accounts"): _AUTHOR,
    **{("search", table): "imported posts that are not in the index" for table in ("posts", "unindexed_posts")},
    ("search", "account_words"): _NAMES,
    ("search", "hubs"): _NAMES,
    ("search", "hub_words"): _NAMES,
    ("search", "memberships"): _NAMES,
    ("search", "post_tags"): _NAMES,
    ("reports", "accounts"): "who reported something, whose it is, and who decided",
    ("home", "api_keys"): f"{_STEPS}; {_NOTICE}",
    ("home", "posts"): f"{_STEPS}; {_HEARD}",
    ("home", "webhooks"): f"{_STEPS}; {_NOTICE}",
    ("administration", "accounts"): _OVERVIEW,
    ("administration", "posts"): _OVERVIEW,
    ("administration", "webhooks"): _OVERVIEW,
    ("administration", "deliveries"): _OVERVIEW,
    ("administration", "jobs"): _OVERVIEW,
    ("administration", "stored_media"): _OVERVIEW,
    ("home", "notifications"): _NOTICE,
    ("home", "accounts"): _NOTICE,
    **{
        ("timeline", table): _TIMELINE
        for table in ("accounts", "clips", "follows", "memberships", "mutes", "post_audiences", "posts")
    },
    ("reading", "posts"): _FEED,
    ("reading", "accounts"): _FEED,
    ("reading", "hubs"): _FEED,
    ("reading", "post_tags"): _FEED,
    ("reading", "indexed_posts"): "a sitemap has the posts with some numbers of the index of the search",
    **{("explore", table): _LISTED for table in ("accounts", "follows", "blocks", "mutes")},
    **{("explore", table): _PICKED for table in ("posts", "post_tags", "likes", "hubs")},
    ("explore", "memberships"): "whether the reader is a member of a hub that is shown",
    **{("server", table): _NEWEST for table in _IN_ORDER},
    ("db", "sqlite_master"): "whether the table of migrations is there yet, and what the schema lacks",
    **{
        ("db", f"pragma_{name}"): _SCHEMA
        for name in ("table_list", "table_info", "index_list", "index_xinfo", "foreign_key_list")
    },
}
"""Who reads tables of another package, and why."""

ENGINES: Final = {
    *(f"pressroom.db.postgres.{name}" for name in ("database", "tx", "connector", "lock", "signals")),
    *("pressroom.db.sqlite.database", "pressroom.db.sqlite.tx"),
    *("pressroom.operations.transfer.source", "pressroom.operations.transfer.target"),
}
"""Modules that hand SQL to a driver: all else goes through a Query or a Command."""


ACROSS: Final = {
    "pressroom.domains.administration.queries.COUNT",
    "pressroom.domains.clips.queries.FIND_CLIP",
    "pressroom.domains.clips.queries.FIND_CLIPS",
    "pressroom.domains.clips.queries.list_own",
    "pressroom.domains.comments.queries.COMMENTS_BY_KEY",
    "pressroom.domains.comments.queries.LIST_BY_ID",
    "pressroom.domains.comments.queries.LIST_IN_THREADS",
    "pressroom.domains.comments.queries.LIST_IN_TIME",
    "pressroom.domains.comments.queries.find_by_id",
    "pressroom.domains.comments.queries.find_comment",
    "pressroom.domains.comments.queries.find_undeleted",
    "pressroom.domains.explore.queries.LIST_PICKS",
    "pressroom.domains.explore.queries.SUGGEST_PEOPLE",
    "pressroom.domains.explore.queries.FIND_LIKED",
    "pressroom.domains.explore.queries.list_bounces",
    "pressroom.domains.explore.queries.list_likes",
    "pressroom.domains.explore.queries.list_tag_uses",
    "pressroom.domains.follows.queries.SUGGEST_FOLLOWED",
    "pressroom.domains.follows.queries.list_blocked",
    "pressroom.domains.follows.queries.list_followed",
    "pressroom.domains.follows.queries.list_followed_for",
    "pressroom.domains.follows.queries.list_followers",
    "pressroom.domains.follows.queries.list_followers_for",
    "pressroom.domains.follows.queries.list_muted",
    "pressroom.domains.follows.queries.list_requests",
    "pressroom.domains.follows.queries.list_sent",
    "pressroom.domains.follows.queries.list_shown",
    "pressroom.domains.home.queries.FIND_FIRST_STEPS",
    "pressroom.domains.home.queries.list_queued",
    "pressroom.domains.home.queries.list_read",
    "pressroom.domains.home.queries.list_unread",
    "pressroom.domains.media.queries.FIND_BY_ID",
    "pressroom.domains.media.queries.FIND_BY_TOKEN",
    "pressroom.domains.media.queries.FIND_FOR_READER",
    "pressroom.domains.notifications.queries.COUNT_UNREAD",
    "pressroom.domains.notifications.queries.INSERT",
    "pressroom.domains.notifications.queries.INSERT_IN_CASE",
    "pressroom.domains.notifications.queries.INSERT_IN_GROUP",
    "pressroom.domains.notifications.queries.list_notifications",
    "pressroom.domains.personal_data.queries.copied.LIST_AUDIENCES",
    "pressroom.domains.personal_data.queries.copied.LIST_BLOCKS",
    "pressroom.domains.personal_data.queries.copied.LIST_FOLLOWED",
    "pressroom.domains.personal_data.queries.copied.LIST_FOLLOWERS",
    "pressroom.domains.personal_data.queries.copied.LIST_MUTES",
    "pressroom.domains.personal_data.queries.copied.LIST_REQUESTS",
    "pressroom.domains.posts.queries.lookup.FIND_POST",
    "pressroom.domains.posts.queries.lookup.FIND_POSTS",
    "pressroom.domains.posts.queries.lookup.LIST_HUB_AUTHORS",
    "pressroom.domains.posts.queries.lookup.LIST_MEDIA_FOR_LISTED",
    "pressroom.domains.posts.queries.lookup.LIST_OF_HUB",
    "pressroom.domains.posts.queries.lookup.LIST_OF_TAG",
    "pressroom.domains.posts.queries.reach.FIND_MENTIONED",
    "pressroom.domains.posts.queries.reach.INSERT_AUDIENCE",
    "pressroom.domains.posts.queries.reach.INSERT_TAGS",
    "pressroom.domains.posts.queries.reach.list_audience_names",
    "pressroom.domains.posts.queries.reactions.FIND_BOUNCER",
    "pressroom.domains.posts.queries.reactions.FIND_LIKER",
    "pressroom.domains.posts.queries.reactions.LIST_OPTIONS",
    "pressroom.domains.posts.queries.writing.POSTS_BY_KEY",
    "pressroom.domains.reading.queries.OF_ACCOUNT",
    "pressroom.domains.reading.queries.OF_HUB",
    "pressroom.domains.reading.queries.OF_TAG",
    "pressroom.domains.reports.queries.find_case",
    "pressroom.domains.reports.queries.find_report",
    "pressroom.domains.reports.queries.list_decided",
    "pressroom.domains.reports.queries.list_of_owner",
    "pressroom.domains.reports.queries.list_open",
    "pressroom.domains.reports.queries.list_reports",
    "pressroom.domains.search.queries.FIND_NEWEST",
    "pressroom.domains.search.queries.FIND_OLDEST",
    "pressroom.domains.search.queries.FIND_PEOPLE",
    "pressroom.domains.search.queries.FIND_PERSON",
    "pressroom.domains.search.queries.FIND_TAGS",
    "pressroom.server.clock_watch.FIND_NEWEST",
    "pressroom.domains.timeline.queries.FIND_RECENT",
    "pressroom.domains.timeline.queries.LIST_AUTHORS",
    "pressroom.domains.timeline.queries.LIST_HUBS",
    "pressroom.domains.timeline.queries.LIST_POSTS_OF_AUTHORS",
    "pressroom.domains.timeline.queries.LIST_OF_HUBS",
    "pressroom.domains.timeline.queries.walk_newest",
}
"""Statements that join rows of several places. With several cells (docs/decisions/0018-cells.md) each would be two."""


def tables_by(page: Path, heading: str) -> dict[str, str]:
    """Returns the first cell of the row in which a page of docs/ names each table, below a heading."""
    text = page.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| `?([a-z_ ]+)`? \| (.*) \|$", text, re.MULTILINE)
    return {table: cell for cell, tables in rows for table in re.findall(r"`(\w+)`", tables)}


def owners() -> dict[str, str]:
    """Returns the package that owns each table."""
    return tables_by(ARCHITECTURE, "Who owns which table")


def package_of(statement: str) -> str:
    """The package that a statement belongs to: `pressroom.domains.posts.queries.reactions.INSERT_POLL` is of posts."""
    parts = statement.split(".")
    return parts[2] if parts[1] == "domains" else parts[1]


@pytest.fixture
def connection(tmp_path: Path, run: Run) -> apsw.Connection:
    """A migrated database, as SQLite's own library sees it."""
    file = tmp_path / "test.db"
    db = open_sqlite(file, SettableClock())
    run(migrate(db))
    run(db.close())
    return apsw.Connection(str(file))


def touched(connection: apsw.Connection, command: Command) -> tuple[set[str], set[str]]:
    """The tables that a statement writes and reads, as SQLite asks for leave to use them."""
    writes: set[str] = set()
    reads: set[str] = set()

    def allow(operation: int, table: str | None, *_: str | None) -> int:
        if operation in WRITES:
            writes.add(table or "")
        elif operation == apsw.SQLITE_READ and table not in OF_VIRTUAL_TABLES:
            reads.add(table or "")
        return int(apsw.SQLITE_OK)

    connection.authorizer = allow
    cursor = connection.cursor()
    cursor.exec_trace = lambda *_: False
    with pytest.raises(apsw.ExecTraceAbort):
        cursor.execute(command.text, dict.fromkeys(command.names))
    connection.authorizer = None
    return writes, reads


def product(connection: apsw.Connection) -> dict[str, tuple[set[str], set[str]]]:
    """The tables that each of the product's statements writes and reads."""
    found = statements("sqlite").items()
    return {name: touched(connection, each) for name, each in found if name.startswith("pressroom.")}


def test_each_table_has_an_owner(connection: apsw.Connection) -> None:
    tables = connection.execute(
        "SELECT name FROM pragma_table_list WHERE type <> 'shadow' AND schema = 'main'"
    ).fetchall()
    assert set(owners()) == {name for (name,) in tables} - {"sqlite_schema"}


@pytest.mark.parametrize(
    ("statement", "writes", "reads"),
    [
        ("UPDATE accounts SET bio = NULL WHERE id IN (SELECT account_id FROM sessions)", "accounts", "sessions"),
        ("DELETE FROM events WHERE account_id = :account_id", "events", "events"),
        ("INSERT INTO likes (post_id, account_id, created_at) SELECT id, account_id, 0 FROM posts", "likes", "posts"),
    ],
)
def test_tables_of_a_statement_are_found(connection: apsw.Connection, statement: str, writes: str, reads: str) -> None:
    written, read = touched(connection, Command(statement))
    assert written == {writes}
    assert reads in read


def test_only_its_owner_writes_a_table(connection: apsw.Connection) -> None:
    found = product(connection)
    foreign = {
        f"{name} writes {table}, which {owners().get(table)} owns"
        for name, (writes, _) in found.items()
        for table in writes
        if owners().get(table) != package_of(name)
    }
    assert foreign == set()
    assert {table for writes, _ in found.values() for table in writes} == set(owners()) - WRITTEN_BY_MIGRATIONS


def test_foreign_readers_of_a_table_are_listed_with_reasons(connection: apsw.Connection) -> None:
    readers: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, (_, reads) in product(connection).items():
        for table in reads:
            if owners().get(table) != package_of(name):
                readers[package_of(name), table].append(name)
    unlisted = {pair: names for pair, names in readers.items() if pair not in READERS}
    assert unlisted == {}
    assert READERS.keys() - readers.keys() == set(), "nobody does this any more"


def test_statements_of_domains_stand_in_queries() -> None:
    elsewhere = [name for name in statements() if name.startswith("pressroom.domains.") and ".queries." not in name]
    assert elsewhere == []


def test_only_the_engines_hand_sql_to_a_driver() -> None:
    drivers = {"execute", "executemany", "fetch", "fetchrow", "fetchval"}
    callers = {
        module.__name__
        for module in modules()
        if module.__name__.startswith("pressroom.")
        for call in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in drivers
    }
    assert callers == ENGINES


def test_each_table_has_a_place() -> None:
    assert tables_by(CELLS, "Where rows live").keys() == owners().keys()


def test_no_further_statement_joins_rows_of_several_places(connection: apsw.Connection) -> None:
    places = tables_by(CELLS, "Where rows live")
    found = {
        name
        for name, (writes, reads) in product(connection).items()
        if len({places.get(table, "everywhere") for table in writes | reads} - {"everywhere"}) > 1
    }
    assert found - ACROSS == set(), "read the rows of each place by a statement of its own"
    assert ACROSS - found == set(), "take it off the list, which may only shrink"
