"""The contents of the whole database, to show that something left it as it was."""

import re

import msgspec

from pressroom.db import Query
from pressroom.db.migrate import all_migrations
from tests.harness.local import LocalServer

WRITTEN_BEHIND = {
    ("rate_windows", ""),
    *((table, "") for table in ("sweeps", "unindexed_posts", "indexed_posts", "explore_picks")),
    ("api_keys", "last_used_at"),
    ("api_key_usage", ""),
    ("api_key_refusals", ""),
    *(("sessions", column) for column in ("seen_at", "address")),
    *(("link_cards", column) for column in ("status", "title", "description", "site_name", "image_token")),
    *(("link_cards", column) for column in ("fetched_at", "leased_until", "lease_token")),
}
"""Tables and columns that change some time after a request: by a key, a session, a card's fetch, or the schedule."""

_TABLE = re.compile(r"^CREATE TABLE (\w+) \(\n(.*?)^\)[^\n]*;$", re.MULTILINE | re.DOTALL)
_TYPE = r"(TEXT|BIGINT|INTEGER|BOOLEAN|DOUBLE PRECISION)"
_COLUMN = re.compile(rf"^    ([a-z_]+) {_TYPE}", re.MULTILINE)
_ADDED = re.compile(rf"^ALTER TABLE (\w+) ADD COLUMN ([a-z_]+) {_TYPE}", re.MULTILINE)
_WEIGHTS = {
    "TEXT": "length({})",
    "BIGINT": "{}",
    "INTEGER": "{}",
    "BOOLEAN": "CASE WHEN {} THEN 1 ELSE 0 END",
    "DOUBLE PRECISION": "CASE WHEN {} IS NULL THEN 0 ELSE 1 END",
}


class Held(msgspec.Struct):
    """A table, the number of its rows, and a sum over their columns that hardly any change leaves the same."""

    table: str
    rows: int
    weight: int


def columns() -> dict[str, dict[str, str]]:
    """The columns of each table of the schema, with their types."""
    found: dict[str, dict[str, str]] = {}
    for migration in all_migrations():
        for table, inside in _TABLE.findall(migration.sql):
            found[table] = dict(_COLUMN.findall(inside))
        for table, column, kind in _ADDED.findall(migration.sql):
            found[table][column] = kind
    return found


def _held(table: str, kinds: dict[str, str]) -> str:
    weights = [
        f"coalesce({_WEIGHTS[kind].format(column)}, 0)"
        for column, kind in kinds.items()
        if (table, column) not in WRITTEN_BEHIND
    ]
    total = f"CAST(coalesce(sum({' + '.join(weights)}), 0) AS BIGINT)"
    return f"SELECT '{table}' AS \"table\", count(*) AS rows, {total} AS weight FROM {table}"  # noqa: S608  # names come from our own schema


HELD = Query(
    Held,
    " UNION ALL ".join(_held(table, kinds) for table, kinds in columns().items() if (table, "") not in WRITTEN_BEHIND),
)


def held(server: LocalServer) -> dict[str, Held]:
    """What each table of the server's database holds now."""
    found = server.run(server.runtime.db.read(lambda tx: tx.all(HELD)))
    return {each.table: each for each in found}
