"""The job that erases a deleted account, killed before each of its transactions: done again, it ends the same."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from pressroom.blobs.disk import DiskBlobs
from pressroom.clock import SettableClock
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.moderation.actions import delete_account
from pressroom.domains.moderation.models import DELETION_JOB
from pressroom.domains.personal_data.deletion import deletion_handler
from pressroom.jobs import queue
from pressroom.jobs.worker import Postpone
from tests.api.actors import Actor, body_of
from tests.api.belongings import NEEDED, Rich
from tests.api.tables import columns
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

OF_JOBS = {"jobs", "job_queues"}
"""Tables that tell how often the job was begun."""


class Killed(Exception):
    """The process ends here."""


class Mortal:
    """A part of a server that may be called so many times, over all its methods, before the process ends."""

    def __init__(self, part: Any, life: list[int]) -> None:
        self._part, self._life = part, life

    def __getattr__(self, name: str) -> Any:
        """The part's own, which counts down when it is called."""

        def call(*given: Any, **more: Any) -> Any:
            if self._life[0] <= 0:
                raise Killed
            self._life[0] -= 1
            return getattr(self._part, name)(*given, **more)

        return call


def mortal(part: Any, life: list[int]) -> Any:
    """Such a part, in place of the whole one."""
    return Mortal(part, life)


@pytest.fixture(scope="module")
def deleted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """The data folder of a server on which an account with everything was deleted, its job not done; the time."""
    server = LocalServer(tmp_path_factory.mktemp("deleted"), **{**ROOMY, **NEEDED}).start()
    friend = Actor(server)
    rich = Rich(server, friend)
    rich.fill()
    body_of(rich.web.post("/api/auth/export"), 202)
    server.do_jobs()
    server.run(server.runtime.db.transact(delete_account, rich.word))
    rich.close()
    for client in friend.clients():
        client.close()
    server.stop()
    return server.settings.data_dir, server.clock.now()


def held(folder: Path) -> dict[str, list[Any]]:
    """All rows of all tables, and the names of all files of the store."""
    connection = apsw.Connection(str(folder / "pressroom.db"))
    rows: dict[str, list[Any]] = {
        table: sorted(map(repr, connection.execute(f"SELECT * FROM {table}")))  # noqa: S608  # names of our own schema
        for table in columns()
        if table not in OF_JOBS
    }
    connection.close()
    return rows | {"files": sorted(path.name for path in (folder / "blobs").rglob("*") if path.is_file())}


async def erase(folder: Path, now: int, life: int) -> int:
    """Does the job, which is killed after so many calls, and then to its end; returns the calls that were left."""
    clock = SettableClock(now)
    db, blobs = open_sqlite(folder / "pressroom.db", clock), DiskBlobs.open(folder / "blobs")
    left = [life]
    try:
        while True:
            handler = deletion_handler(mortal(db, left), mortal(blobs, left))
            await db.transact(queue.forget_leases)
            jobs = await db.transact(queue.claim, DELETION_JOB, token="t", until=clock.now() + 1, limit=1)
            if not jobs:
                return left[0]
            try:
                await handler.work(jobs[0], "t")
            except Killed:
                left[0] = 1_000_000
            except Postpone as later:
                clock.advance(later.wait)
    finally:
        await db.close()
        await blobs.close()


def test_it_ends_the_same_wherever_it_is_killed(deleted: tuple[Path, int], tmp_path: Path) -> None:
    source, now = deleted
    whole = tmp_path / "whole"
    shutil.copytree(source, whole)
    calls = 1_000_000 - asyncio.run(erase(whole, now, 1_000_000))
    expected = held(whole)
    assert calls > 20
    assert expected["files"] == []

    for life in range(calls):
        folder = tmp_path / str(life)
        shutil.copytree(source, folder)
        asyncio.run(erase(folder, now, life))
        assert held(folder) == expected, f"killed after {life} calls"
        shutil.rmtree(folder)
