"""Retention: every rule removes expired rows, and tables and files keep their size over fill and sweep."""

from pathlib import Path
from typing import Final

from benchmarks.expired import FILLINGS, fill

from pressroom.db import Database, Query
from pressroom.domains.keys import commands as keys
from pressroom.domains.sign_up import commands as accounts
from pressroom.jobs.sweeps import run_batches
from pressroom.operations.retention import PURGES
from tests.harness.databases import in_database, settings_of

CYCLES: Final = 3
ROWS: Final = 1_200
"""Of each table and cycle: more than two batches."""

PAGES: Final = Query(int, "SELECT page_count FROM pragma_page_count()")
SIZES: Final = {
    table: Query(int, f"SELECT count(*) FROM {table}")  # noqa: S608  # names of our own
    for table in FILLINGS
}


async def sizes(db: Database) -> dict[str, int]:
    """How many rows each table has."""
    return {table: await db.one(query) or 0 for table, query in SIZES.items()}


async def fill_and_sweep(db: Database) -> tuple[list[dict[str, int]], list[int]]:
    """Rows of each table before and after each cycle, and pages of the file when it was fullest; none on PostgreSQL."""
    await accounts.create(db, "alice", "alice@example.org", "correct horse")
    await keys.create(db, "alice", "test", ["posts:write"], None, [])
    rows, pages = [await sizes(db)], list[int]()
    for _ in range(CYCLES):
        for table in FILLINGS:
            await fill(db, table, ROWS)
        filled = await sizes(db)
        assert {table: filled[table] - rows[0][table] for table in FILLINGS} == dict.fromkeys(FILLINGS, ROWS)
        if db.engine == "sqlite":
            pages.append(await db.one(PAGES) or 0)
        for _, purge in PURGES:
            await run_batches(db, purge)
        rows.append(await sizes(db))
    return rows, pages


def test_sizes_are_steady_over_cycles_of_fill_and_sweep(engine_settings: dict[str, object], tmp_path: Path) -> None:
    rows, pages = in_database(settings_of({"DATA_DIR": tmp_path, **engine_settings}), fill_and_sweep)

    assert rows == [rows[0]] * (CYCLES + 1)
    assert len(pages) == (0 if engine_settings else CYCLES)
    assert all(each <= pages[0] * 1.05 for each in pages), f"free pages are used again: {pages}"


def test_every_rule_about_time_has_rows_in_the_measurement() -> None:
    of_endpoints = {"endpoints of expired keys", "ended endpoints", "deliveries to paused endpoints"}
    several = {"attempts to sign in and up": 3, "limits of yesterday": 2, "usage of keys of last month": 2}
    wanted = sum(several.get(name, 1) for name, _ in PURGES if name not in of_endpoints)
    assert len(FILLINGS) == wanted, "a rule is new: put its table into benchmarks/expired.py"
