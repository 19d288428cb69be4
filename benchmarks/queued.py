"""Accounts with endpoints, and deliveries that wait for them, in a database file of the bench's own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.harness.queued import fill

from pressroom.clock import SystemClock
from pressroom.db.migrate import migrate
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.webhooks.actions.deliveries import fan_out

ENDPOINTS: Final = 200
ENDPOINTS_PER_ACCOUNT: Final = 5


async def queue(file: Path, port: int, deliveries: int) -> str:
    """Makes a database in `file` with `deliveries` that wait for 200 endpoints on `port`; a key of one account."""
    accounts = ENDPOINTS // ENDPOINTS_PER_ACCOUNT
    urls = [f"http://127.0.0.1:{port}/{number}" for number in range(ENDPOINTS)]
    shares = [urls[number::accounts] for number in range(accounts)]
    return (await _fill(file, shares, deliveries // ENDPOINTS))[0]


async def listeners(file: Path, urls: list[str]) -> list[str]:
    """Makes a database in `file` with an account, a key and an endpoint for each of `urls`; the keys."""
    return await _fill(file, [[url] for url in urls], 0)


async def _fill(file: Path, shares: Sequence[Sequence[str]], events: int) -> list[str]:
    db = open_sqlite(file, SystemClock(), [fan_out])
    try:
        await migrate(db)
        return await fill(db, shares, events)
    finally:
        await db.close()
