"""An upload beside the end of another file's processing: neither is begun twice."""

import asyncio
from collections import Counter

import pytest

from pressroom.db import Query, Tx
from pressroom.domains.media import actions
from pressroom.domains.media.actions import attach_media, take_storage
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.models import NewMedia
from pressroom.ids import new_id
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from tests.api.actors import Actor
from tests.media.uploads import uploaded

WAITING = Query(int, "SELECT count(*) FROM pg_locks WHERE NOT granted")


@pytest.mark.parametrize("server", ["postgres"], indirect=True)
def test_an_upload_and_the_end_of_another_file_s_processing_wait_in_one_order(alice: Actor) -> None:
    uploaded(alice)
    server, db, account_id = alice.server, alice.server.runtime.db, alice.account.id
    begun: Counter[str] = Counter()

    async def upload(tx: Tx, taken: asyncio.Event) -> None:
        begun["upload"] += 1
        new = NewMedia(new_id(tx.now), FileKind.JPEG, None, 1_000)
        await take_storage(tx, alice.account, "media", [new], 10_000_000)
        taken.set()
        while not await tx.one(WAITING):
            pass
        await attach_media(tx, account_id, new_id(tx.now), [new])

    async def end(tx: Tx, job: Job) -> bool:
        begun["end"] += 1
        return await actions.finish_failed(tx, job, "token", "none")

    async def story() -> bool:
        until = server.clock.now() + 60_000
        (job,) = await db.transact(queue.claim, actions.PICTURES, token="token", until=until, limit=1)
        taken = asyncio.Event()
        first = asyncio.ensure_future(db.transact(upload, taken))
        await taken.wait()
        ended = await db.transact(end, job)
        await first
        return ended

    assert server.run(story())
    assert begun == {"upload": 1, "end": 1}
