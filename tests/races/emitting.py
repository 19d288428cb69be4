"""A process that emits events from several writers at once: `python -m tests.races.emitting ACCOUNT WRITERS SEED`.

It runs until it is killed or told to stop by the end of its input, and prints the label of each event once it is
committed. Transactions wait at random before the event, after it and so before their commit; some are refused.
"""

import asyncio
import os
import sys
import threading
import time
from random import Random
from typing import ClassVar

from pressroom.clock import SystemClock
from pressroom.db import Database, Query, Tx
from pressroom.domains.events.actions import emit
from pressroom.domains.events.models import EventData, EventType
from pressroom.errors import Conflict, Unavailable
from pressroom.server.database import open_database
from pressroom.settings import Settings

SLEEP = Query(int, "SELECT CASE WHEN pg_sleep(:seconds) IS NULL THEN 0 ELSE 1 END")
LONGEST = {"postgres": 0.04, "sqlite": 0.002}


class Labelled(EventData):
    """An event that a test tells from others."""

    event: ClassVar = EventType.POST_CREATED
    sent_when: ClassVar = "A test emits it."

    label: str


async def write(tx: Tx, account_id: str, label: str, before: float, after: float, refused: bool) -> None:
    """Emits an event between two waits."""
    await wait(tx, before)
    await emit(tx, Labelled(label), account_id=account_id)
    await wait(tx, after)
    if refused:
        raise Conflict("Refused, as many a write is.")


async def wait(tx: Tx, seconds: float) -> None:
    """Waits in the transaction."""
    if tx.engine == "postgres":
        await tx.one(SLEEP, seconds=seconds)
    else:
        time.sleep(seconds)  # its transactions run one after the other


async def write_on(db: Database, account_id: str, chance: Random, stopping: threading.Event) -> None:
    """Writes one event after the other."""
    longest = LONGEST[db.engine]
    while not stopping.is_set():
        label = f"{chance.getrandbits(64):016x}"
        # Most waits are short, some are long: transactions that began early commit late.
        before, after = (longest * chance.random() ** 3 for _ in range(2))
        try:
            await db.transact(write, account_id, label, before, after, chance.random() < 0.2)
        except (Conflict, Unavailable):
            continue
        print(label, flush=True)
        await asyncio.sleep(longest * chance.random())


async def main(account_id: str, writers: int, seed: str) -> None:
    """Writes until the end of the input."""
    stopping = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stopping.set()), daemon=True).start()
    db = await open_database(Settings(os.environ), SystemClock())
    try:
        chances = [Random(f"{seed}/{number}") for number in range(writers)]
        await asyncio.gather(*(write_on(db, account_id, chance, stopping) for chance in chances))
    finally:
        await db.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
