"""Tag pages of an account that turns private and public while the job of the turn before is under way."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Database, Query, Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import open_postgres
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.accounts.actions import TAG_JOB, NewAccount, create_account, edit_profile
from pressroom.domains.accounts.models import Caller, Profile
from pressroom.domains.posts.actions.reach import move_tags, reach_readers_anew
from pressroom.domains.posts.jobs import tag_handler
from pressroom.domains.posts.models import parse_text
from pressroom.domains.posts.visibility import Visibility
from pressroom.ids import new_id
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from tests.services.postgres import PostgresServer

HIDDEN = Query(bool, "SELECT DISTINCT hidden FROM post_tags WHERE account_id = :account_id")
WAITING = Query(
    int, "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
)
LATER = 1_900_000_000_000
TOKEN = "token"


class Turning:
    """An account with posts below a hashtag, its turns, and the jobs that follow them."""

    def __init__(self, db: Database, caller: Caller, posts: list[str]) -> None:
        self._db = db
        self._caller = caller
        self._posts = posts

    async def turn(self, *, private: bool) -> None:
        """Makes the account private or public."""
        await self._db.transact(edit_profile, self._caller, Profile(is_private=private))

    async def edit(self) -> None:
        """Writes the hashtags of the first post anew."""

        async def edit(tx: Tx) -> None:
            await reach_readers_anew(
                tx, self._caller.account.id, self._posts[0], parse_text("#harbour"), Visibility.PUBLIC
            )

        await self._db.transact(edit)

    async def claim(self) -> list[Job]:
        """Returns the jobs that wait."""
        return await self._db.transact(queue.claim, TAG_JOB, token=TOKEN, until=LATER, limit=10)

    async def hidden(self) -> list[bool]:
        """Returns which states the rows of its hashtags have."""
        return await self._db.read(lambda tx: tx.all(HIDDEN, account_id=self._caller.account.id))


async def make_turning(db: Database) -> Turning:
    """Makes a public account with three posts."""
    await migrate(db)
    account = await db.transact(create_account, NewAccount("alice", "alice@example.org", "hash"))
    posts = [new_id(1_800_000_000_000 + number) for number in range(3)]

    async def put(tx: Tx) -> None:
        for post_id in posts:
            await reach_readers_anew(tx, account.id, post_id, parse_text("#harbour"), Visibility.PUBLIC)

    await db.transact(put)
    return Turning(db, Caller(account), posts)


async def check_turned_and_back(db: Database) -> None:
    """A post that is edited while the account is public for a moment, behind the job's back, is hidden in the end."""
    account = await make_turning(db)
    await account.turn(private=True)
    (job,) = await account.claim()
    progress = await db.transact(move_tags, job, TOKEN, "")
    assert progress is not None

    await account.turn(private=False)
    await account.edit()
    await account.turn(private=True)

    while progress is not None:
        progress = await db.transact(move_tags, job, TOKEN, progress)
    for later in await account.claim():
        await tag_handler(db).work(later, TOKEN)
    assert await account.hidden() == [True]
    assert await account.claim() == []


async def check_turns_wait(db: Database) -> None:
    """A step of the job that has read the account's state ends before the account turns."""
    account = await make_turning(db)
    await account.turn(private=True)
    (job,) = await account.claim()
    turns: list[asyncio.Task[None]] = []

    async def step(tx: Tx) -> None:
        await move_tags(tx, job, TOKEN, "")
        turns.append(asyncio.create_task(account.turn(private=False)))
        while not await tx.one(WAITING):
            assert not turns[0].done()

    await db.transact(step)
    await turns[0]
    for later in await account.claim():
        await tag_handler(db).work(later, TOKEN)
    assert await account.hidden() == [False]


def test_on_sqlite(tmp_path: Path) -> None:
    async def run() -> None:
        db = open_sqlite(tmp_path / "test.db", SettableClock())
        try:
            await check_turned_and_back(db)
        finally:
            await db.close()

    asyncio.run(run())


@pytest.mark.parametrize("check", [check_turned_and_back, check_turns_wait])
def test_on_postgresql(postgres_server: PostgresServer, check: Callable[[Database], Awaitable[None]]) -> None:
    async def run() -> None:
        db = await open_postgres(postgres_server.create_database(check.__name__), SettableClock())
        try:
            await check(db)
        finally:
            await db.close()

    asyncio.run(run())
