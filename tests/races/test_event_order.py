"""A reader that follows cursors skips no event, whatever waits before its commit (docs/events.md#order)."""

import asyncio
import itertools
import json
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from pressroom.clock import SystemClock
from pressroom.db import Database, Query
from pressroom.domains.event_stream.actions import read_after
from pressroom.domains.event_stream.cursors import Cursor
from pressroom.server.database import open_database
from pressroom.settings import Settings
from tests.harness.process import ServerProcess

ACCOUNT, KEY = "01KW2EXM0Q3V5Z8B1N4R7T9YZA", "01KW2F3B6E0N5Q8R7T4V1X9YZA"
WRITERS = 16
KILLS = 6
EVENTS_BETWEEN_KILLS = 40
ALL = Query(str, "SELECT data FROM events WHERE account_id = :account_id ORDER BY number")
OTHERS = Query(
    int,
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
    " AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
)


class Writers:
    """Processes that emit, 16 writers in all: four processes on PostgreSQL, one on SQLite."""

    def __init__(self, environment: dict[str, str], engine: str, folder: Path) -> None:
        self._environment = environment
        self._folder = folder
        self._numbers = itertools.count()
        self.outputs: list[Path] = []
        number = 4 if engine == "postgres" else 1
        self._each = str(WRITERS // number)
        self.running = [self._start() for _ in range(number)]

    def _start(self) -> "subprocess.Popen[bytes]":
        seed = f"{next(self._numbers)}"
        self.outputs.append(self._folder / f"committed{seed}")
        with self.outputs[-1].open("wb") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.races.emitting", ACCOUNT, self._each, seed],
                cwd=Path(__file__).parents[2],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=output,
            )

    def kill_one(self, chance: Random) -> None:
        """Kills a process amid its transactions and starts another in its place."""
        place = chance.randrange(len(self.running))
        killed = self.running[place]
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
        assert killed.stdin is not None
        killed.stdin.close()
        self.running[place] = self._start()

    def check(self) -> None:
        """Fails when a process has ended by itself: nobody would write what is waited for."""
        assert [process.poll() for process in self.running] == [None] * len(self.running)

    def stop(self) -> None:
        """Has each finish what it does; one that does not is killed."""
        for process in self.running:
            assert process.stdin is not None
            process.stdin.close()
        for process in self.running:
            try:
                assert process.wait(60) == 0
            finally:
                process.kill()

    def committed(self) -> set[str]:
        """The labels of all events whose commit was confirmed."""
        # A process that is killed may have written half a line.
        return {line for output in self.outputs for line in output.read_text().splitlines() if len(line) == 16}


@pytest.fixture
def server(tmp_path: Path, engine_settings: dict[str, object]) -> ServerProcess:
    """A migrated database of a server that is not started, on each engine."""
    return ServerProcess(tmp_path / "server", **engine_settings).migrate()


async def read_new(db: Database, told: list[str], cursor: Cursor, limit: int) -> Cursor:
    """Reads one batch, and adds the labels in it."""
    batch = await db.read(read_after, ACCOUNT, KEY, cursor, limit)
    told += [json.loads(each.envelope)["data"]["label"] for each in batch.events]
    return batch.cursor


async def follow(db: Database, writers: Writers, chance: Random) -> list[str]:
    """Reads while the writers write and are killed, and on to the end; the labels in the order of the reading."""
    told, cursor, kill_at, kills = list[str](), Cursor(0), EVENTS_BETWEEN_KILLS, 0
    try:
        while kills < KILLS or len(told) < kill_at:
            cursor = await read_new(db, told, cursor, chance.randrange(1, 8))
            await asyncio.sleep(0)
            writers.check()
            if kills < KILLS and len(told) >= kill_at:
                await asyncio.to_thread(writers.kill_one, chance)
                kills, kill_at = kills + 1, len(told) + EVENTS_BETWEEN_KILLS
    finally:
        await asyncio.to_thread(writers.stop)
    # A server process of PostgreSQL may still be at the commit of a client that was killed.
    while db.engine == "postgres" and await db.one(OTHERS):
        await asyncio.sleep(0.01)
    before = -1
    while len(told) != before:
        before, cursor = len(told), await read_new(db, told, cursor, 100)
    return told


def test_reader_skips_no_event_of_writers_that_wait_and_are_killed(server: ServerProcess, tmp_path: Path) -> None:
    async def race() -> tuple[list[str], list[str], set[str]]:
        db = await open_database(Settings(server.environment), SystemClock())
        writers = Writers(server.environment, db.engine, tmp_path)
        try:
            async with asyncio.timeout(300):
                told = await follow(db, writers, Random(26))
            stored = await db.read(lambda tx: tx.all(ALL, account_id=ACCOUNT))
            return told, [json.loads(data)["label"] for data in stored], writers.committed()
        finally:
            await db.close()

    told, stored, committed = asyncio.run(race())

    assert told == stored
    assert len(set(told)) == len(told) > KILLS * EVENTS_BETWEEN_KILLS
    assert committed <= set(told)
