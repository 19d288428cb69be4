"""The avatar and the cover of an account: which picture is shown, which go (docs/media.md#avatars-and-covers).

Each action takes an open transaction first. The lock of the account's stored bytes decides what comes first: a new
picture, the end of processing one, a removal.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind
from pressroom.domains.media import queries
from pressroom.domains.media.models import AccountPicture, HiddenFile, Media, ProcessingStatus
from pressroom.jobs import queue
from pressroom.jobs.queue import Job

REMOVAL_JOB: Final = "old avatar"
"""The kind of job that removes an avatar or cover that is shown no more; its subject is the file's id."""

_SETTERS: Final = {AccountPicture.AVATAR: status.set_avatar, AccountPicture.COVER: status.set_cover}


class Pictures(msgspec.Struct):
    """An account's pictures of one kind: the one that is shown, and a newer one that is not READY."""

    shown: Media | None = None
    newer: Media | None = None


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

    One that was hidden amid its processing is removed.
    """
    media = await queries.find_any(tx, media_id)
    if media is None or media.picture is None:
        return
    if media.hidden_at is not None:
        await queue.enqueue(tx, REMOVAL_JOB, media.id, account_id=media.account_id)
    elif media.status == ProcessingStatus.READY:
        await _SETTERS[media.picture](tx, media.account_id, media.token)
        hidden = await queries.hide_others(tx, media.account_id, media.picture, but=media.id)
        await _remove(tx, media.account_id, hidden)


async def finish_removal(tx: Tx, job: Job, token: str) -> None:
    """Deletes the row of a file that has left the store, which counts as stored no longer, and finishes the job."""
    await queries.lock_stored(tx, job.account_id)
    if await queue.finish(tx, job, token):
        await queries.count_stored(tx, job.subject, 0)
        await queries.delete_media(tx, job.account_id, [job.subject])


async def _remove(tx: Tx, account_id: str, hidden: Sequence[HiddenFile]) -> None:
    # A file in processing is removed when that ends: until then, a child may still write it.
    for file in hidden:
        if file.status != ProcessingStatus.PROCESSING:
            await queue.enqueue(tx, REMOVAL_JOB, file.id, account_id=account_id)
