"""Litestream beside a server on SQLite, both killed with -9: docs/backup.md brings back all but the end."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import apsw
import pytest

from tests.e2e.backups import recipe, run_recipe
from tests.harness.observations import observe
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, Schedule
from tests.harness.records import rows
from tests.harness.wire import ask
from tests.services import litestream

pytestmark = pytest.mark.skipif(litestream.available() is not None, reason=str(litestream.available()))

PUBLISHERS = 4
POSTS_PER_SECOND = 200
SYNCED, MORE = 100, 200
"""Posts that must have come to the replica before the end, and those that follow them at least."""


def environment_of(server: ServerProcess, replica: Path) -> dict[str, str]:
    """The values for the recipes of docs/backup.md."""
    path = f"{litestream.folder()}:{os.environ['PATH']}"
    data = str(server.settings["DATA_DIR"])
    return {**os.environ, "PATH": path, "PRESSROOM_DATA_DIR": data, "REPLICA": f"file://{replica}"}


@contextlib.contextmanager
def replicating(server: ServerProcess, replica: Path) -> Generator[subprocess.Popen[bytes]]:
    """Litestream as the docs start it; killed at the end."""
    command = f"exec {recipe('litestream replicate')}"
    with (server.folder / "litestream.log").open("wb") as log:
        process = subprocess.Popen(
            ["sh", "-euc", command],
            env=environment_of(server, replica),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def synced(replica: Path, folder: Path) -> set[str]:
    """The contents of the posts that a restore would bring back now; empty while there is nothing to restore."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = folder / "copy.db"
    program = str(litestream.folder() / "litestream")
    done = subprocess.run([program, "restore", "-o", str(copy), f"file://{replica}"], capture_output=True, timeout=60)
    if done.returncode or not copy.exists():
        return set()
    connection = apsw.Connection(str(copy))
    try:
        return {str(content) for (content,) in connection.execute("SELECT content FROM posts")}
    finally:
        connection.close()


async def publish_until_killed(
    server: ServerProcess, publishers: Sequence[Publisher], replica: Path, kill: Callable[[], None]
) -> set[str]:
    """Publishes until the replica has the first acknowledged posts, and more has been; returns the former."""
    over, schedule = asyncio.Event(), Schedule(POSTS_PER_SECOND)

    def acknowledged() -> set[str]:
        return {content for publisher in publishers for content in publisher.acknowledged}

    async with asyncio.timeout(240), asyncio.TaskGroup() as group:
        for publisher in publishers:
            group.create_task(publisher.publish_on(schedule, over))
        try:
            while len(first := acknowledged()) < SYNCED:
                await asyncio.sleep(0.01)
            while not first <= await asyncio.to_thread(synced, replica, server.folder / "look"):
                await asyncio.sleep(0.1)
            enough = len(acknowledged()) + MORE
            while len(acknowledged()) < enough:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(kill)
        finally:
            over.set()
    return first


def test_all_but_the_last_moments_come_back_when_everything_is_killed(
    roomy_server: Callable[..., ServerProcess], tmp_path: Path
) -> None:
    server, replica = roomy_server().start(), tmp_path / "replica"
    key = Owner(server).key()
    publishers = [Publisher(server, key, f"program{number}", patient=False) for number in range(PUBLISHERS)]
    with replicating(server, replica) as process:

        def kill() -> None:
            process.kill()
            server.kill()

        first = asyncio.run(publish_until_killed(server, publishers, replica, kill))
    killed_at = time.time()

    copy, began = roomy_server(), time.monotonic()
    given = {name: environment_of(copy, replica)[name] for name in ("PATH", "PRESSROOM_DATA_DIR", "REPLICA")}
    run_recipe(recipe("litestream restore"), tmp_path, **given)
    copy.start()
    recovered = time.monotonic() - began

    kept = {content: post_id for post_id, content in rows(copy, "SELECT id, content FROM posts")}
    assert first <= kept.keys()
    for publisher in publishers:
        told = list(publisher.acknowledged)
        held = [content in kept for content in told]
        assert held == sorted(held, reverse=True), "what is lost is the end, without a gap"
    assert rows(copy, "PRAGMA integrity_check") == [("ok",)]
    for table in ("events WHERE type = 'post.created'", "idempotent_answers WHERE body LIKE '%content%'"):
        assert rows(copy, f"SELECT count(*) FROM {table}") == [(len(kept),)]  # noqa: S608
    assert rows(copy, "SELECT sum(used) FROM content_quotas") == [(len(kept),)]
    for publisher in publishers:
        for content, post_id in [*list(publisher.acknowledged.items())[:3], *list(publisher.acknowledged.items())[-3:]]:
            again = ask(publish(copy, key, content, content.replace(" ", "-")))
            assert again.status == (200 if content in kept else 201)
            assert (again.json()["id"] == post_id) == (content in kept)
    ((newest,),) = rows(copy, f"SELECT max(created_at) FROM posts WHERE id <= '{max(kept.values())}'")  # noqa: S608
    lost = sum(content not in kept for publisher in publishers for content in publisher.acknowledged)
    acknowledged = sum(len(publisher.acknowledged) for publisher in publishers)
    observe(
        "server on SQLite and Litestream killed with -9 under load",
        f"restored to {killed_at - newest / 1_000:.1f} s before: {lost} of {acknowledged}"
        f" acknowledged posts lost at {POSTS_PER_SECOND} offered a second",
        recovered,
        "the restore's start",
    )
