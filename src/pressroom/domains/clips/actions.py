"""Publishing clips, reading, editing and deleting them. Each takes an open transaction first."""

from collections.abc import Sequence

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries.status import note_clip
from pressroom.domains.clips import queries
from pressroom.domains.clips.events import ClipCreatedData, CreatedClip
from pressroom.domains.clips.models import Clip, ClipDraft, ClipEdit, ClipView
from pressroom.domains.events.actions import emit
from pressroom.domains.follows.queries import get_between
from pressroom.domains.limits.models import Allowance
from pressroom.domains.media.actions import attach_media, list_of_owners, move_of_owner, take_storage
from pressroom.domains.media.models import ProcessingStatus
from pressroom.domains.media.queries import hide_of_owner
from pressroom.domains.posts.actions.publish import get_joined_hub, spend_quota
from pressroom.domains.posts.visibility import Relationship, Visibility, narrows
from pressroom.errors import NotFound
from pressroom.ids import new_id


async def publish_clip(tx: Tx, caller: Caller, draft: ClipDraft, allowance: Allowance) -> ClipView:
    """Publishes a clip and returns it as its author sees it.

    It takes one unit of the account's content of the day, and storage for its video (docs/limits.md). Raises
    Unprocessable when the account is no member of the hub or stores too much, QuotaExceeded.
    """
    if draft.hub_id is not None:
        await get_joined_hub(tx, caller, draft.hub_id)
    await take_storage(tx, caller.account, "video", [draft.video], allowance.storage)
    await spend_quota(tx, caller, allowance)
    account, clip_id = caller.account, new_id(tx.now, caller.account.id)
    await queries.insert_clip(
        tx,
        clip_id=clip_id,
        account_id=account.id,
        key_id=caller.key_id,
        caption=draft.caption,
        visibility=draft.visibility,
        hub_id=draft.hub_id,
    )
    await attach_media(tx, account.id, clip_id, [draft.video])
    created = CreatedClip(
        id=clip_id,
        author_id=account.id,
        caption=draft.caption,
        duration=None,
        visibility=draft.visibility,
        hub_id=draft.hub_id,
        processing_status=ProcessingStatus.PROCESSING,
        created_at=iso(tx.now),
    )
    # Adding an endpoint locks the account too. Without this lock the event could be queued neither for a replaced
    # endpoint nor for the one that takes its place.
    await note_clip(tx, account.id, clip_id)
    await emit(tx, ClipCreatedData(created), account_id=account.id)
    return await get_clip(tx, clip_id, account.id)


async def get_clip(tx: Tx, clip_id: str, reader: str, *, by_key: bool = False) -> ClipView:
    """Returns a clip that stands and that `reader` (an account's id, or empty; with `by_key`: their key) may see.

    Raises NotFound, and does not tell a hidden clip from an unknown one.
    """
    view = await open_clip(tx, clip_id, reader)
    if view is None or (by_key and not view.clip.may_be_read_by_key()):
        raise _no_clip()
    return view


async def open_clip(tx: Tx, clip_id: str, reader: str) -> ClipView | None:
    """Returns a clip that the reader may see, None when it was deleted. Raises NotFound."""
    clip = await queries.find_clip(tx, clip_id, reader=reader)
    if clip is None or not clip.may_be_seen():
        raise _no_clip()
    return None if clip.deleted_at is not None else (await _complete(tx, [clip]))[0]


async def list_own(tx: Tx, account_id: str, before: str, limit: int) -> list[ClipView]:
    """Returns the account's clips, of every visibility, newest first, with ids below `before`."""
    return await _complete(tx, await queries.list_own(tx, account_id, before=before, limit=limit))


async def list_of_account(tx: Tx, author: str, reader: str, before: str, limit: int) -> list[ClipView]:
    """Returns the account's clips that the reader may see, newest first, with ids below `before`.

    No clips are read that the reader may not see. `limit` is at most BATCH.
    """
    relationship = Relationship(is_author=reader == author)
    if reader and reader != author:
        between = await get_between(tx, account_id=reader, other_id=author)
        relationship = Relationship(False, between.follows, between.followed_back, blocked=between.blocked)
    ids = await queries.list_of_account(tx, author, relationship, before=before, limit=limit)
    if not ids:
        return []
    views = await list_seen(tx, sorted(ids, reverse=True)[:limit], reader)
    return sorted(views, key=lambda view: view.clip.id, reverse=True)


async def list_seen(tx: Tx, clip_ids: Sequence[str], reader: str) -> list[ClipView]:
    """Returns those of the clips with these ids, at most BATCH, that stand and that the reader may see, in no order."""
    if not clip_ids:
        return []
    found = await queries.find_clips(tx, clip_ids, reader=reader)
    return await _complete(tx, [clip for clip in found if clip.deleted_at is None and clip.may_be_seen()])


async def edit_clip(tx: Tx, caller: Caller, clip_id: str, edit: ClipEdit) -> ClipView:
    """Changes the given fields of the caller's own clip and returns it. Raises NotFound, also for somebody else's."""
    author = caller.account.id
    before = await queries.lock_own(tx, author, clip_id)
    if before is None:
        raise _no_clip()
    visibility = edit.visibility or Visibility(before.visibility)
    caption = before.caption if edit.caption is None else edit.caption or None
    await queries.edit_clip(tx, author, clip_id, caption=caption, visibility=visibility)
    # Addresses that were given out would go on opening the video for those who are shut out now.
    if narrows(Visibility(before.visibility), visibility):
        await move_of_owner(tx, clip_id)
    return await get_clip(tx, clip_id, author)


async def delete_clip(tx: Tx, caller: Caller, clip_id: str) -> str:
    """Marks the caller's own clip as deleted and returns its id.

    Raises NotFound, also for somebody else's clip and for a second deletion.
    """
    author = caller.account.id
    if await queries.lock_own(tx, author, clip_id) is None:
        raise _no_clip()
    await queries.delete_clip(tx, author, clip_id)
    await hide_of_owner(tx, clip_id)
    return clip_id


async def _complete(tx: Tx, clips: Sequence[Clip]) -> list[ClipView]:
    videos = await list_of_owners(tx, [clip.id for clip in clips])
    return [ClipView(clip, videos[clip.id][0]) for clip in clips]


def _no_clip() -> NotFound:
    return NotFound("There is no such clip.")
