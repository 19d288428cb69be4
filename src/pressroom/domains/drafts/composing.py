"""Keeps what stands in a compose box as a draft, or publishes it from there, in one transaction."""

from collections.abc import Sequence

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.drafts.actions import add_files, create_draft, edit_draft, publish_draft
from pressroom.domains.drafts.models import DraftChanges, DraftView
from pressroom.domains.limits.actions import Allowance
from pressroom.domains.media.models import NewMedia


class Composed(msgspec.Struct):
    """The content of a compose box: the draft and version that it was opened with, if any, and new files."""

    draft_id: str | None
    version: int | None
    changes: DraftChanges
    files: Sequence[NewMedia] = ()


async def save_composed(tx: Tx, caller: Caller, composed: Composed, allowance: Allowance) -> DraftView:
    """Stores the content as a new draft, or as the next version of its draft. Raises what those actions raise."""
    if composed.draft_id is None:
        view = await create_draft(tx, caller, composed.changes)
    else:
        view = await edit_draft(tx, caller, composed.draft_id, composed.version or 0, composed.changes)
    if composed.files:
        view = await add_files(tx, caller, view.draft.id, composed.files, allowance)
    return view


async def publish_composed(tx: Tx, caller: Caller, composed: Composed, allowance: Allowance) -> DraftView:
    """Stores the content in its draft and publishes that. Raises what those actions raise; then nothing is changed."""
    view = await save_composed(tx, caller, composed, allowance)
    return await publish_draft(tx, caller, view.draft.id, None, allowance)
