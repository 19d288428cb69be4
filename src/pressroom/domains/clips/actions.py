"""Publishing clips and reading them. Each takes an open transaction first."""

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import lock_account
from pressroom.domains.clips import queries
from pressroom.domains.clips.events import ClipCreatedData, CreatedClip
from pressroom.domains.clips.models import ClipDraft, ClipView
from pressroom.domains.events.actions import emit
from pressroom.domains.limits.allowance import Allowance
from pressroom.domains.media.actions import attach_media, list_of_owners, take_storage
from pressroom.domains.media.models import ProcessingStatus
from pressroom.domains.posts.actions.publish import get_joined_hub, spend_quota
from pressroom.errors import NotFound
from pressroom.ids import new_id


async def publish_clip(tx: Tx, caller: Caller, draft: ClipDraft, allowance: Allowance) -> ClipView:
    """Publishes a clip and returns it as its author sees it.

    It takes one unit of the account's content of the day, and storage for its video (docs/limits.md). Raises
    Unprocessable when the account is no member of the hub or stores too much, QuotaExceeded.
    """
    if draft.hub_id is not None:
        await get_joined_hub(tx, caller, draft.hub_id)
    await take_storage(tx, caller.account.id, "video", [draft.video], allowance.storage)
    await spend_quota(tx, caller, allowance)
    account, clip_id = caller.account, new_id(tx.now)
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
    await lock_account(tx, account.id)  # as every publisher does: docs/architecture.md#locks
    await emit(tx, ClipCreatedData(created), account_id=account.id)
    return await get_clip(tx, clip_id, account.id)


async def get_clip(tx: Tx, clip_id: str, reader: str, *, by_key: bool = False) -> ClipView:
    """Returns a clip that `reader` (an account's id, or empty; with `by_key`: their key) may see. Raises NotFound."""
    clip = await queries.find_clip(tx, clip_id, reader=reader)
    if clip is None or not clip.may_be_seen() or (by_key and not clip.may_be_read_by_key()):
        raise NotFound("There is no such clip.")
    videos = await list_of_owners(tx, [clip_id])
    return ClipView(clip, videos[clip_id][0])
