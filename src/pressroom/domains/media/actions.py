"""Stores the files of posts, clips and accounts, and moves each from PROCESSING to READY or FAILED."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Tx
from pressroom.db.params import batches
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind
from pressroom.domains.limits.models import own_limits
from pressroom.domains.media import queries
from pressroom.domains.media.decoding import MEDIUM
from pressroom.domains.media.models import (
    AccountPicture,
    HiddenFile,
    Media,
    NewMedia,
    Pictures,
    ProcessingStatus,
    Variant,
    new_token,
    source,
)
from pressroom.domains.media.sandbox import Processed
from pressroom.errors import Code, FieldError, Unprocessable
from pressroom.jobs import queue
from pressroom.jobs.queue import Job

PICTURES: Final = "media"
VIDEOS: Final = "video"
LONG_VIDEOS: Final = "video.long"
"""Kinds of jobs that process a file; the subject of each is the file's id. They are separate, so that no picture waits
for a video and no short video for a long one."""


async def take_storage(tx: Tx, account: Account, field: str, files: Sequence[NewMedia], usual: int) -> None:
    """Adds the sizes of new files to the account's stored bytes (docs/limits.md#stored-media).

    Raises Unprocessable, with an error of `field`, when the account would store more bytes than it may; one without a
    limit of its own may store the `usual`.
    """
    account_id, own = account.id, own_limits(account.limits, tx.now).storage_bytes
    limit = usual if own is None else own
    size = sum(new.size for new in files)
    # One conditional update: of two uploads at once, the second sees the bytes of the first.
    if files and (size > limit or not await queries.take_storage(tx, account_id=account_id, size=size, limit=limit)):
        message = (
            f"The account may store {limit:,} bytes of media, and these {size:,} are too many on top of what it stores."
        )
        raise Unprocessable([FieldError(field, Code.TOO_LARGE, message)])


async def attach_media(tx: Tx, account_id: str, owner_id: str, files: Sequence[NewMedia], start: int = 0) -> None:
    """Inserts the files of a new post or clip, in their order, and queues a job for each.

    `start` is the position of the first.
    """
    for position, new in enumerate(files, start):
        await queries.insert_media(
            tx,
            media_id=new.id,
            account_id=account_id,
            owner_id=owner_id,
            position=position,
            token=new_token(new.id),
            kind=new.kind.mime,
            alt_text=new.alt_text,
            stored_bytes=new.size,
        )
    # Always in the same order, so that two requests of one account cannot deadlock on the queues.
    for new in sorted(files, key=lambda new: new.kind.is_video):
        await queue.enqueue(tx, VIDEOS if new.kind.is_video else PICTURES, new.id, account_id=account_id)


async def set_picture(tx: Tx, caller: Caller, picture: AccountPicture, new: NewMedia, usual: int) -> Pictures:
    """Adds a picture that the account will show once it is READY. One that was still to be shown gives way to it.

    Raises Unprocessable when the account would store too much (`take_storage`).
    """
    account_id = caller.account.id
    await take_storage(tx, caller.account, picture, [new], usual)
    start = await make_room(tx, account_id, picture)
    await attach_media(tx, account_id, picture.owner_of(account_id), [new], start)
    await record(tx, account_id, Kind.PROFILE_CHANGED, caller.source, fields=picture.value)
    return await find_pictures(tx, account_id, picture)


async def list_of_owners(tx: Tx, owner_ids: Sequence[str]) -> dict[str, list[Media]]:
    """Returns the files of these posts or clips by owner id, in the order of upload."""
    found: dict[str, list[Media]] = {}
    for batch in batches(owner_ids):
        for media in await queries.list_of_owners(tx, batch):
            found.setdefault(media.owner_id, []).append(media)
    return found


async def arrange_media(tx: Tx, account_id: str, draft_id: str, present: Sequence[Media], kept: Sequence[str]) -> None:
    """Orders the files of a draft as `kept` names them, by their ids, and removes its others.

    `present` are all that it has. A file that is being processed leaves the store when that ends.
    """
    # Locked first, as by an upload and by the end of a job: bytes, then files, then queues.
    await queries.lock_stored(tx, account_id)
    removed = [media for media in present if media.id not in kept]
    for media in removed:
        await queries.take_from_owner(tx, account_id, media.id)
    # All places are cleared first: they are unique, so two files could not be exchanged one by one.
    await queries.clear_places(tx, draft_id)
    for position, media_id in enumerate(kept):
        await queries.set_place(tx, account_id, media_id, position)
    await _remove(tx, account_id, [HiddenFile(media.id, media.status) for media in removed])


async def move_of_owner(tx: Tx, owner_id: str) -> None:
    """Gives the files of a post or clip new addresses after a narrowing edit. The old ones stop working."""
    # A signature covers the token, so a new one ends every address that was given out.
    for media_id in await queries.list_of_owner(tx, owner_id):
        await queries.renew_token(tx, media_id, new_token(media_id))


async def finish_ready(tx: Tx, job: Job, token: str, done: Processed) -> bool:
    """Marks a file READY and finishes its job.

    Returns False, and changes nothing, when another worker has taken the job over.
    """
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
        has_medium=any(file.name == MEDIUM for file in done.files),
    )
    await queries.count_stored(tx, job.subject, sum(file.size for file in done.files))
    await show_processed(tx, job.subject)
    return True


async def finish_failed(tx: Tx, job: Job, token: str, reason: str) -> bool:
    """Marks a file FAILED, with the reason for its owner, and finishes its job.

    Returns False, and changes nothing, when another worker has taken the job over.
    """
    if not await _finish(tx, job, token):
        return False
    await fail(tx, job.subject, reason)
    return True


async def fail(tx: Tx, media_id: str, reason: str) -> None:
    """Marks a file FAILED, and counts none of its bytes as stored."""
    await queries.make_failed(tx, media_id, reason)
    await queries.count_stored(tx, media_id, 0)
    await show_processed(tx, media_id)


async def process_again(tx: Tx, media_id: str) -> None:
    """Has a file that FAILED wait for its job again, which the caller has tried once more.

    Raises Unprocessable for one that did not fail, or that nobody sees any more.
    """
    if not await queries.make_processing(tx, media_id):
        raise Unprocessable([FieldError("id", Code.NOT_ALLOWED, "What the file belonged to was deleted.")])


async def move_to_long_videos(tx: Tx, job: Job, token: str) -> None:
    """Moves a video's job to the queue of long videos."""
    if await queue.finish(tx, job, token):
        await queue.enqueue(tx, LONG_VIDEOS, job.subject, account_id=job.account_id)


async def list_stored_keys(tx: Tx, after: str) -> list[tuple[str, set[str]]]:
    """Returns the next page of files with ids after `after`, each with the keys that the store holds for it."""
    page = await queries.list_stored(tx, after)
    return [(media.id, media.keys) for media in page]


async def expected_blobs(tx: Tx) -> list[str]:
    """Returns keys that the store must hold: of the upload that waits longest, and of the newest processed file.

    In a store other than the one that the rest of the installation uses, at least one is missing.
    """
    waiting = await queries.find_waiting(tx)
    ready = await queries.find_newest_ready(tx)
    return [*([source(waiting)] if waiting else []), *([ready.blob(Variant.MAIN)] if ready else [])]


async def _finish(tx: Tx, job: Job, token: str) -> bool:
    # Lock in the same order as an upload does: the stored bytes, then the queue. Otherwise the two could deadlock.
    await queries.lock_stored(tx, job.account_id)
    return await queue.finish(tx, job, token)


REMOVAL_JOB: Final = "old avatar"
"""The kind of job that removes a replaced avatar or cover, or a file of a draft; its subject is the file's id."""

_SETTERS: Final = {AccountPicture.AVATAR: status.set_avatar, AccountPicture.COVER: status.set_cover}


async def find_pictures(tx: Tx, account_id: str, picture: AccountPicture) -> Pictures:
    """Returns the account's pictures of the kind."""
    found = Pictures()
    for media in await queries.list_pictures(tx, account_id, picture):
        if media.status == ProcessingStatus.READY:
            found.shown = media
        else:
            found.newer = media
    return found


async def make_room(tx: Tx, account_id: str, picture: AccountPicture) -> int:
    """Hides the newer picture, if there is one that is not READY. Returns the position of the next one.

    The caller holds the lock of the account's stored bytes.
    """
    await _remove(tx, account_id, await queries.hide_unshown(tx, account_id, picture))
    return await queries.next_place(tx, account_id, picture)


async def remove_pictures(tx: Tx, caller: Caller, picture: AccountPicture) -> Pictures:
    """Removes the account's pictures of the kind. Returns none of them."""
    account_id = caller.account.id
    await queries.lock_stored(tx, account_id)
    hidden = await queries.hide_others(tx, account_id, picture, but="")
    if hidden:
        await _SETTERS[picture](tx, account_id, None)
        await _remove(tx, account_id, hidden)
        await record(tx, account_id, Kind.PROFILE_CHANGED, caller.source, fields=picture.value)
    return Pictures()


async def show_processed(tx: Tx, media_id: str) -> None:
    """Has an account show a picture that became READY in place of the one before; does nothing for other files.

    One that was hidden amid its processing is removed, and so is a file that was taken from a draft.
    """
    media = await queries.find_any(tx, media_id)
    if media is None or not (media.picture or media.is_removed):
        return
    if media.hidden_at is not None:
        await queue.enqueue(tx, REMOVAL_JOB, media.id, account_id=media.account_id)
    elif media.picture is not None and media.status == ProcessingStatus.READY:
        await _SETTERS[media.picture](tx, media.account_id, media.token)
        hidden = await queries.hide_others(tx, media.account_id, media.picture, but=media.id)
        await _remove(tx, media.account_id, hidden)


async def finish_removal(tx: Tx, job: Job, token: str) -> None:
    """Deletes the row of a file that has left the store, which counts as stored no longer, and finishes the job."""
    await queries.lock_stored(tx, job.account_id)
    # The file has left the store: with the row kept until now, a kill in between repeats the removal.
    if await queue.finish(tx, job, token):
        await queries.count_stored(tx, job.subject, 0)
        await queries.delete_media(tx, job.account_id, [job.subject])


async def _remove(tx: Tx, account_id: str, hidden: Sequence[HiddenFile]) -> None:
    # A file in processing is removed when that ends: until then, a child may still write it.
    for file in hidden:
        if file.status != ProcessingStatus.PROCESSING:
            await queue.enqueue(tx, REMOVAL_JOB, file.id, account_id=account_id)
