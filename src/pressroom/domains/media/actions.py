"""Keeping files with what they belong to, and bringing them from PROCESSING to their end."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Tx
from pressroom.db.params import batches
from pressroom.domains.media import queries
from pressroom.domains.media.models import Media, NewMedia, Variant, new_token, source
from pressroom.domains.media.sandbox import Processed
from pressroom.errors import Code, FieldError, Unprocessable
from pressroom.ids import random_base62
from pressroom.jobs import queue
from pressroom.jobs.queue import Job

SIGNING: Final = "media"
"""The name of the secret that addresses in pages are signed with."""

PICTURES: Final = "media"
VIDEOS: Final = "video"
LONG_VIDEOS: Final = "video.long"
"""The kinds of job that process a file, whose id is their subject: no picture waits for a video, no short video for a
long one."""


async def take_storage(tx: Tx, account_id: str, field: str, files: Sequence[NewMedia], limit: int) -> None:
    """Takes storage for new files out of what the account may store, `limit` bytes (docs/limits.md#stored-media).

    Raises Unprocessable with a fault of `field` when they find none.
    """
    size = sum(new.size for new in files)
    if files and (size > limit or not await queries.take_storage(tx, account_id=account_id, size=size, limit=limit)):
        message = (
            f"The account may store {limit:,} bytes of media, and these {size:,} are too many on top of what it stores."
        )
        raise Unprocessable([FieldError(field, Code.TOO_LARGE, message)])


async def attach_media(tx: Tx, account_id: str, owner_id: str, files: Sequence[NewMedia]) -> None:
    """Keeps the files of a new post or clip, in their order, and has them processed."""
    for position, new in enumerate(files):
        await queries.insert_media(
            tx,
            media_id=new.id,
            account_id=account_id,
            owner_id=owner_id,
            position=position,
            token=new_token(),
            kind=new.kind.mime,
            alt_text=new.alt_text,
            stored_bytes=new.size,
        )
    # In one order, so that two requests of one account never wait for each other's queues.
    for new in sorted(files, key=lambda new: new.kind.is_video):
        await queue.enqueue(tx, VIDEOS if new.kind.is_video else PICTURES, new.id, account_id=account_id)


async def list_of_owners(tx: Tx, owner_ids: Sequence[str]) -> dict[str, list[Media]]:
    """The files of these posts or clips, by owner, each one's in their order."""
    found: dict[str, list[Media]] = {}
    for batch in batches(owner_ids):
        for media in await queries.list_of_owners(tx, batch):
            found.setdefault(media.owner_id, []).append(media)
    return found


async def move_of_owner(tx: Tx, owner_id: str) -> None:
    """Gives the files of a post or clip other addresses, once fewer may see it: none that was given before holds on."""
    for media_id in await queries.find_of_owner(tx, owner_id):
        await queries.renew_token(tx, media_id, new_token())


async def hide_of_owner(tx: Tx, owner_id: str) -> None:
    """Serves the files of what was deleted no more. They are kept for audit."""
    await queries.hide_of_owner(tx, owner_id)


async def finish_ready(tx: Tx, job: Job, token: str, done: Processed) -> bool:
    """A file has been processed; False when the job was somebody else's by then, who finishes it too."""
    if not await _finish(tx, job, token):
        return False
    await queries.make_ready(
        tx,
        job.subject,
        width=done.width,
        height=done.height,
        duration=done.duration,
        size_bytes=done.size_bytes,
        placeholder=done.placeholder,
    )
    await queries.count_stored(tx, job.subject, sum(file.size for file in done.files))
    return True


async def finish_failed(tx: Tx, job: Job, token: str, reason: str) -> bool:
    """A file cannot be processed, and why; False when the job was somebody else's by then."""
    if not await _finish(tx, job, token):
        return False
    await fail(tx, job.subject, reason)
    return True


async def fail(tx: Tx, media_id: str, reason: str) -> None:
    """PROCESSING → FAILED: nothing of the file stays in the store."""
    await queries.make_failed(tx, media_id, reason)
    await queries.count_stored(tx, media_id, 0)


async def move_to_long_videos(tx: Tx, job: Job, token: str) -> None:
    """Has a video processed among the long ones."""
    if await queue.finish(tx, job, token):
        await queue.enqueue(tx, LONG_VIDEOS, job.subject, account_id=job.account_id)


async def signing_secret(tx: Tx) -> str:
    """What addresses of media in pages are signed with: the same on all servers."""
    return await queries.shared_secret(tx, SIGNING, random_base62(32))


async def list_stored_keys(tx: Tx, after: str) -> list[tuple[str, set[str]]]:
    """The next files whose identifiers follow `after`, each with the keys that the store holds for it."""
    page = await queries.list_stored(tx, after)
    return [(media.id, media.keys) for media in page]


async def expected_blobs(tx: Tx) -> list[str]:
    """Keys that the store must hold: the upload that waits longest, and what was made of the newest file.

    Whoever uses another store than the rest of the installation finds at least one of them missing.
    """
    waiting = await queries.find_waiting(tx)
    ready = await queries.find_newest_ready(tx)
    return [*([source(waiting)] if waiting else []), *([ready.blob(Variant.MAIN)] if ready else [])]


async def _finish(tx: Tx, job: Job, token: str) -> bool:
    # As an upload does: first what the account stores, then its queue. Else the two could wait for each other.
    await queries.lock_stored(tx, job.account_id)
    return await queue.finish(tx, job, token)
