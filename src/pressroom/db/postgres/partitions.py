"""Partitions by time: tables whose rows expire are kept, on PostgreSQL, in one table for each week.

A table is partitioned by the migration that makes it, in comments that SQLite skips, by the column of its rows' ULIDs:

    ) /* PARTITION BY RANGE (event_id) */;
    /* CREATE TABLE deliveries_rest PARTITION OF deliveries DEFAULT; */

A ULID begins with its time, so `deliveries_p20261123` holds the ids of the week that begins on Monday, 23 November
2026. Partitions of the next weeks are made ahead. A row of any other week goes into `deliveries_rest`, so that no write
fails for want of a partition; rows move from there when the partition of their week is made. Retention drops a
partition once its week has been over for long enough, and moves the few rows that have to stay into `deliveries_rest`.

Each change is one transaction, which holds up reads and writes of the table: it waits briefly for its locks, since
requests queue behind it, and touches few rows. Reasons and figures: docs/decisions/0020-partitions.md.
"""

from datetime import UTC, datetime
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.db import Database, Query, Tx
from pressroom.db.dialect import LOCKS_OF_SCHEMA
from pressroom.ids import first_id

WEEK: Final = 7 * DAY
AHEAD: Final = 4 * WEEK

MONDAY: Final = 4 * DAY
"""The first Monday of 1970, in milliseconds."""

LOCK_MILLISECONDS: Final = 100
"""How long a change waits for a lock, and requests behind it."""

MOST_BYTES: Final = 16 * 1024 * 1024
"""The size up to which a rest is searched for rows to move while requests wait."""

LOCK: Final = 7_238_003
"""The advisory lock under which one process at a time changes partitions."""


class Table(msgspec.Struct, frozen=True):
    """A partitioned table, the column by whose ULIDs it is partitioned, and the size of its rest."""

    name: str
    key: str
    rest_bytes: int


class Partition(msgspec.Struct, frozen=True):
    """A partition by its name, and its table."""

    table_name: str
    name: str


class Week(msgspec.Struct, frozen=True):
    """A week of a partitioned table. `start` is its Monday at 00:00 UTC, in milliseconds."""

    table: Table
    start: int

    @property
    def partition(self) -> Partition:
        """The partition that holds it."""
        day = datetime.fromtimestamp(self.start / 1_000, UTC)
        return Partition(self.table.name, f"{self.table.name}_p{day:%Y%m%d}")

    @property
    def first(self) -> str:
        """The smallest id of the week."""
        return first_id(self.start)

    @property
    def end(self) -> str:
        """The smallest id after it."""
        return first_id(self.start + WEEK)


class Reach(msgspec.Struct, frozen=True):
    """For how long (milliseconds) from now on a table has partitions without a gap, and the size of its rest."""

    table_name: str
    ahead: int
    rest_bytes: int


# A table without a rest is none of ours: an operator may add partitioned tables.
TABLES: Final = Query(
    Table,
    "SELECT CAST(c.relname AS TEXT) AS name, CAST(a.attname AS TEXT) AS key, pg_relation_size(r.oid) AS rest_bytes"
    " FROM pg_partitioned_table p JOIN pg_class c ON c.oid = p.partrelid"
    " JOIN pg_class r ON r.oid = p.partdefid AND r.relname = c.relname || '_rest'"
    " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]"
    " WHERE pg_table_is_visible(c.oid) ORDER BY c.relname",
)

PARTITIONS: Final = Query(
    Partition,
    "SELECT CAST(c.relname AS TEXT) AS table_name, CAST(x.relname AS TEXT) AS name FROM pg_inherits i"
    " JOIN pg_class c ON c.oid = i.inhparent JOIN pg_class x ON x.oid = i.inhrelid"
    " WHERE c.relkind = 'p' AND x.relkind = 'r' AND pg_table_is_visible(c.oid)",
)

# Few rows are moved, along an index, even if the planner estimates many.
_CHANGE: Final = f"""SET LOCAL lock_timeout = '{LOCK_MILLISECONDS}ms'; SET LOCAL enable_seqscan = off;
    DO $change$ BEGIN PERFORM pg_advisory_xact_lock({LOCKS_OF_SCHEMA} + {LOCK}); {{steps}} END $change$"""

# ATTACH lets others at the table. A statement that has just chosen the rest would then wait for it and go on there: it
# would not find a row that was moved, and its own row would be refused. So the table is locked before.
_MAKE: Final = """IF to_regclass('{name}') IS NULL THEN
    CREATE TABLE {name} (LIKE {table} INCLUDING ALL);
    LOCK TABLE ONLY {table} IN ACCESS EXCLUSIVE MODE;
    WITH moved AS (DELETE FROM {table}_rest WHERE {key} >= '{first}' AND {key} < '{end}' RETURNING *)
        INSERT INTO {name} SELECT * FROM moved;
    ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ('{first}') TO ('{end}');
END IF;"""

# The week of the rows that stay has no partition any more, so they go into the rest.
_DROP: Final = """IF to_regclass('{name}') IS NOT NULL THEN
    ALTER TABLE {table} DETACH PARTITION {name};
    INSERT INTO {table} SELECT * FROM {name} WHERE {stays};
    DROP TABLE {name};
END IF;"""


async def make_ahead(db: Database, *, since: int | None = None, most: int | None = MOST_BYTES) -> int:
    """Makes the missing partitions of this week and of those ahead, and returns how many. SQLite has none.

    Args:
        db: The database, at whose time "now" is.
        since: The time (milliseconds) in the first week that is to have a partition; None: now.
        most: A table whose rest has more bytes is left alone; None: none is.

    Raises:
        LockedElsewhere: Others did not let it at a table; the next call goes on.
    """
    if db.engine != "postgres":
        return 0
    now = await db.read(_now)
    return await make_partitions(db, now if since is None else since, now + AHEAD, most=most)


async def make_partitions(db: Database, first: int, last: int, *, most: int | None = MOST_BYTES) -> int:
    """Makes the missing partitions of PostgreSQL from the week of `first` to that of `last` (milliseconds).

    Otherwise as `make_ahead`.
    """
    made = 0
    for table, have in (await db.read(_weeks)).items():
        missing = [each for each in _between(table, first, last) if each not in have]
        # A large rest takes long to search, and requests wait meanwhile: it is left to `migrate`, while an operator
        # looks on.
        if not missing or (most is not None and table.rest_bytes > most):
            continue
        # Each in a transaction of its own, so that requests get in between.
        for week in missing:
            await _change(db, week, _MAKE)
        made += len(missing)
        await analyze(db, table)
    return made


async def list_ended(tx: Tx, table_name: str, until: int) -> list[Week]:
    """Returns the weeks of a table that have partitions and ended up to `until` (milliseconds), earliest first."""
    weeks = await _weeks(tx)
    return [week for table in weeks if table.name == table_name for week in weeks[table] if week.start + WEEK <= until]


async def drop(db: Database, week: Week, stays: str) -> None:
    """Drops the partition of a week. `analyze` its table after the last one.

    Args:
        db: The database.
        week: The week.
        stays: The condition of the rows that are kept: few, since they are moved while requests wait.

    Raises:
        LockedElsewhere: Others did not let it at the table; nothing has changed.
    """
    await _change(db, week, _DROP, stays)


async def analyze(db: Database, table: Table) -> None:
    """Renews the statistics of a whole table; autovacuum renews those of its partitions only."""
    await db.script(f"ANALYZE {table.name}")


async def list_reaches(tx: Tx) -> list[Reach]:
    """Returns for how long each table has partitions."""
    found: list[Reach] = []
    for table, have in (await _weeks(tx)).items():
        # The first week without a partition. One exists: the range is a week longer than there are partitions.
        gap = next(week for week in _between(table, tx.now, tx.now + len(have) * WEEK + WEEK) if week not in have)
        found.append(Reach(table.name, max(0, gap.start - tx.now), table.rest_bytes))
    return found


async def _now(tx: Tx) -> int:
    return tx.now


async def _weeks(tx: Tx) -> dict[Table, list[Week]]:
    """Returns the weeks that each table has partitions for. Partitions of other names are an operator's."""
    tables, partitions = await tx.all(TABLES), await tx.all(PARTITIONS)
    return {
        table: sorted(
            (week for each in partitions if (week := _week(table, each)) is not None), key=lambda week: week.start
        )
        for table in tables
    }


def _week(table: Table, partition: Partition) -> Week | None:
    """Returns the week that a partition of the table is named for."""
    try:
        day = datetime.strptime(partition.name.removeprefix(f"{table.name}_p"), "%Y%m%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    week = Week(table, round(day.timestamp() * 1_000))
    return week if week.partition == partition else None


def _between(table: Table, first: int, last: int) -> list[Week]:
    """Returns the weeks from that of `first` to that of `last` (milliseconds)."""
    monday = (first - MONDAY) // WEEK * WEEK + MONDAY
    return [Week(table, start) for start in range(monday, last + 1, WEEK)]


async def _change(db: Database, week: Week, steps: str, stays: str = "") -> None:
    table = week.table
    words = {"table": table.name, "key": table.key, "name": week.partition.name, "first": week.first, "end": week.end}
    await db.script(_CHANGE.format(steps=steps.format(stays=stays, **words)))
