"""Writing, scheduling and publishing drafts, by the API or from a compose box.

Each action takes an open transaction first. Every one that writes locks the drafts of the account first, so that a
version, a count and a state hold until it ends.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Account, Caller, SourceKey
from pressroom.domains.drafts import queries
from pressroom.domains.drafts.models import (
    EMPTY,
    OPEN,
    RETENTION,
    Draft,
    DraftChanges,
    DraftState,
    DraftView,
    alt_text_faults,
    audience_of,
    changed,
    decoded,
    encoded,
    faults_of,
    file_faults,
    key_faults,
    post_of,
    room_faults,
)
from pressroom.domains.limits.models import Allowance
from pressroom.domains.media.actions import arrange_media, attach_media, list_of_owners, take_storage
from pressroom.domains.media.models import FILES_BY_KEY, FILES_SIGNED_IN, NewMedia
from pressroom.domains.media.queries import describe
from pressroom.domains.posts.actions.publish import precheck_post, publish_composed
from pressroom.domains.posts.models import NewPost
from pressroom.errors import Code, FieldError, MissingScope, NotFound, StaleVersion, Unprocessable
from pressroom.ids import new_id
from pressroom.jobs import queue

PUBLISH_JOB: Final = "scheduled post"
"""The kind of job that publishes a scheduled draft; its subject is the draft's id."""

PUBLISH_SCOPE: Final = "posts:write"
"""The scope that a key needs to publish a draft, now or later."""


async def create_draft(tx: Tx, caller: Caller, changes: DraftChanges) -> DraftView:
    """Stores a new draft, scheduled when it is given a time, and returns it.

    Raises Unprocessable when the account has as many as it may have, MissingScope.
    """
    account_id = caller.account.id
    await queries.lock_drafts(tx, account_id)  # before the count: two at once could both be the hundredth
    bare = Draft(
        id=new_id(tx.now, account_id),
        account_id=account_id,
        key_id=caller.key_id,
        version=0,
        state=DraftState.DRAFT,
        fields=encoded(EMPTY),
        publish_at=None,
        scheduled_by_key=False,
        needs_approval=False,
        refusal=None,
        post_id=None,
        created_at=tx.now,
        updated_at=tx.now,
    )
    _check_key(caller, bare, changes)
    _check([*file_faults(changes.media_ids or [], []), *alt_text_faults(changes, 0)])
    draft = changed(bare, changes, by_key=caller.key is not None)
    await _check_room(tx, draft, None)
    await queries.insert_draft(
        tx,
        draft_id=draft.id,
        account_id=account_id,
        key_id=draft.key_id,
        state=draft.state,
        fields=draft.fields,
        publish_at=draft.publish_at,
        scheduled_by_key=draft.scheduled_by_key,
        needs_approval=draft.needs_approval,
    )
    if draft.publish_at is not None:
        await queue.enqueue(tx, PUBLISH_JOB, draft.id, account_id=account_id, due_at=draft.publish_at)
    return await get_draft(tx, caller, draft.id)


async def get_draft(tx: Tx, caller: Caller, draft_id: str) -> DraftView:
    """Returns a draft of the caller; of a key, one that it made. Raises NotFound."""
    draft = await queries.find_draft(tx, caller.account.id, draft_id)
    if draft is None or (caller.key is not None and draft.key_id != caller.key_id):
        raise NotFound("There is no such draft.")
    return (await complete(tx, [draft]))[0]


async def list_drafts(tx: Tx, caller: Caller, before: str, limit: int) -> list[DraftView]:
    """Returns drafts of the caller with ids before `before`, newest first; of a key, those that it made."""
    if caller.key_id is not None:
        return await complete(tx, await queries.list_of_key(tx, caller.key_id, before, limit))
    return await complete(tx, await queries.list_drafts(tx, caller.account.id, before, limit))


async def edit_draft(tx: Tx, caller: Caller, draft_id: str, version: int, changes: DraftChanges) -> DraftView:
    """Changes a draft, its files and its schedule, and returns it.

    Raises NotFound, StaleVersion when the draft has another version, Unprocessable, MissingScope.
    """
    view = await lock_draft(tx, caller, draft_id, version)
    _check_key(caller, view.draft, changes)
    await _arrange(tx, view, changes)
    draft = changed(view.draft, changes, by_key=caller.key is not None)
    await _check_room(tx, draft, view.draft.state)
    await save_draft(tx, draft)
    return await get_draft(tx, caller, draft_id)


async def delete_draft(tx: Tx, caller: Caller, draft_id: str) -> str:
    """Deletes a draft with its files, and returns its id. A post that it became stays. Raises NotFound."""
    await queries.lock_drafts(tx, caller.account.id)
    view = await get_draft(tx, caller, draft_id)
    # In this transaction: a worker that has the job finds it gone, and publishes nothing.
    await queue.cancel(tx, PUBLISH_JOB, draft_id)
    await arrange_media(tx, view.draft.account_id, draft_id, view.media, [])
    await queries.delete_draft(tx, view.draft.account_id, draft_id)
    return draft_id


async def add_files(
    tx: Tx, caller: Caller, draft_id: str, files: Sequence[NewMedia], allowance: Allowance
) -> DraftView:
    """Adds files behind those that a draft has, and returns it.

    Raises NotFound, and Unprocessable when these are too many, or too many bytes for the account.
    """
    view = await lock_draft(tx, caller, draft_id, None)
    most = FILES_SIGNED_IN if caller.key is None else FILES_BY_KEY
    if caller.key is not None:
        _check(key_faults(view.draft, DraftChanges({})))
    if len(view.media) + len(files) > most:
        message = f"A draft has at most {most} files, and this one has {len(view.media)} already."
        raise Unprocessable([FieldError("media", Code.TOO_MANY, message)])
    account_id = view.draft.account_id
    await take_storage(tx, caller.account, "media", files, allowance.storage)
    await attach_media(tx, account_id, draft_id, files, len(view.media))
    # The version grows with the files too: a save from another tab is refused instead of dropping them.
    await save_draft(tx, changed(view.draft, DraftChanges({}), by_key=caller.key is not None))
    return await get_draft(tx, caller, draft_id)


async def publish_draft(tx: Tx, caller: Caller, draft_id: str, version: int | None, allowance: Allowance) -> DraftView:
    """Publishes a draft now, and returns it with the id of its post.

    Raises NotFound, StaleVersion, and what publishing a post raises; then the draft stays as it was.
    """
    view = await lock_draft(tx, caller, draft_id, version)
    _check_publisher(caller, view)
    await publish_view(tx, caller.account, view, allowance)
    return await get_draft(tx, caller, draft_id)


async def precheck_draft(
    tx: Tx, caller: Caller, draft_id: str, version: int | None, allowance: Allowance
) -> str | None:
    """Checks a draft before `publish_draft` and writes nothing; returns the URL of its future link card.

    Raises the same refusals, by the same checks.
    """
    view = await get_draft(tx, caller, draft_id)
    # Without the lock: `publish_draft` checks all of it again under it.
    _check_version(view, version)
    _check_publisher(caller, view)
    _check(faults_of(view))
    return await precheck_post(tx, author_of(caller.account, view.draft), _new_post(view), allowance)


async def publish_view(tx: Tx, account: Account, view: DraftView, allowance: Allowance) -> None:
    """Publishes a locked draft: its post, event and deliveries, and its own state, commit together.

    Raises Unprocessable and QuotaExceeded.
    """
    _check(faults_of(view))
    author = author_of(account, view.draft)
    post = await publish_composed(tx, author, _new_post(view), allowance, audience_of(view.fields))
    published = msgspec.structs.replace(view.draft, state=DraftState.PUBLISHED, post_id=post.post.id, refusal=None)
    await save_draft(tx, published)


def author_of(account: Account, draft: Draft) -> Caller:
    """Returns whose post a draft becomes: of the key that made it, also when its owner publishes it."""
    key = None if draft.key_id is None else SourceKey(draft.key_id, draft.key_label or "", draft.key_prefix or "")
    return Caller(account, key)


async def lock_draft(tx: Tx, caller: Caller, draft_id: str, version: int | None) -> DraftView:
    """Locks the drafts of the caller's account and returns one of them, which can be changed.

    Raises NotFound, StaleVersion when it has another version, and Unprocessable when it is published.
    """
    await queries.lock_drafts(tx, caller.account.id)
    view = await get_draft(tx, caller, draft_id)
    _check_version(view, version)
    if view.draft.state == DraftState.PUBLISHED:
        message = "This draft is published. Edit its post instead: PATCH /api/posts/{postId}."
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, message)])
    return view


async def save_draft(tx: Tx, draft: Draft) -> None:
    """Replaces the row of a draft, and with it the job that publishes it."""
    await queries.update_draft(
        tx,
        account_id=draft.account_id,
        draft_id=draft.id,
        state=draft.state,
        fields=draft.fields,
        publish_at=draft.publish_at,
        scheduled_by_key=draft.scheduled_by_key,
        needs_approval=draft.needs_approval,
        refusal=draft.refusal,
        post_id=draft.post_id,
    )
    # A worker that has the job already finds it gone, and leaves the draft to the new one.
    await queue.cancel(tx, PUBLISH_JOB, draft.id)
    if draft.state == DraftState.SCHEDULED and draft.publish_at is not None:
        await queue.enqueue(tx, PUBLISH_JOB, draft.id, account_id=draft.account_id, due_at=draft.publish_at)


async def complete(tx: Tx, drafts: Sequence[Draft]) -> list[DraftView]:
    """Returns drafts with their fields and files."""
    files = await list_of_owners(tx, [draft.id for draft in drafts])
    return [DraftView(draft, decoded(draft.fields), files.get(draft.id, [])) for draft in drafts]


async def purge_published(tx: Tx, batch: int) -> int:
    """Removes up to `batch` drafts 30 days after they were published; returns their number."""
    return await queries.purge_published(tx, until=tx.now - RETENTION, batch=batch)


async def erase_drafts(tx: Tx, account_id: str, batch: int) -> int:
    """Removes up to `batch` drafts of a deleted account; returns their number. Its files go with all others."""
    # A worker that publishes one of them holds this lock; after it, that worker finds its job cancelled.
    await queries.lock_drafts(tx, account_id)
    await queue.cancel_of_account(tx, PUBLISH_JOB, account_id)
    erased = await queries.erase_rows(tx, account_id, batch)
    if erased < batch:
        await queries.erase_lock(tx, account_id)
    return erased


async def _arrange(tx: Tx, view: DraftView, changes: DraftChanges) -> None:
    """Removes, orders and describes the files of a draft. Raises Unprocessable."""
    present = [media.id for media in view.media]
    kept = present if changes.media_ids is msgspec.UNSET else changes.media_ids
    _check([*file_faults(kept, present), *alt_text_faults(changes, len(kept))])
    if kept != present:
        await arrange_media(tx, view.draft.account_id, view.draft.id, view.media, kept)
    for media_id, text in zip(kept, changes.alt_text or [], strict=False):
        await describe(tx, view.draft.account_id, media_id, text or None)


async def _check_room(tx: Tx, draft: Draft, before: DraftState | None) -> None:
    # An edit that stays in its state adds none: it is allowed at the limit.
    if draft.state == before or (draft.state in OPEN and before in OPEN):
        return
    counts = await queries.count_open(tx, draft.account_id), await queries.count_scheduled(tx, draft.account_id)
    _check(room_faults(draft.state, before, drafts=counts[0], scheduled=counts[1]))


def _new_post(view: DraftView) -> NewPost:
    return post_of(view.fields, view.draft.id, view.media)


def _check_version(view: DraftView, version: int | None) -> None:
    if version is not None and version != view.draft.version:
        message = f"The draft was changed meanwhile and has version {view.draft.version}."
        raise StaleVersion(f"{message} Merge your text with the one in draft, and send it with that version.", view)


def _check_key(caller: Caller, draft: Draft, changes: DraftChanges) -> None:
    """Raises Unprocessable or MissingScope when a key may not make these changes."""
    if caller.key is None:
        return
    _check(key_faults(draft, changes))
    # To schedule is to publish later.
    if isinstance(changes.publish_at, int) and not caller.has_scope(PUBLISH_SCOPE):
        raise MissingScope(PUBLISH_SCOPE)


def _check_publisher(caller: Caller, view: DraftView) -> None:
    if caller.key is not None:
        _check(key_faults(view.draft))


def _check(found: list[FieldError]) -> None:
    if found:
        raise Unprocessable(found)


class Composed(msgspec.Struct):
    """The content of a compose box: the draft and version that it was opened with, if any, and new files."""

    draft_id: str | None
    version: int | None
    changes: DraftChanges
    files: Sequence[NewMedia] = ()


async def save_composed(tx: Tx, caller: Caller, composed: Composed, allowance: Allowance) -> DraftView:
    """Stores the content as a new draft, or as the next version of its draft. Raises the errors of those actions."""
    if composed.draft_id is None:
        view = await create_draft(tx, caller, composed.changes)
    else:
        view = await edit_draft(tx, caller, composed.draft_id, composed.version or 0, composed.changes)
    if composed.files:
        view = await add_files(tx, caller, view.draft.id, composed.files, allowance)
    return view


async def publish_box(tx: Tx, caller: Caller, composed: Composed, allowance: Allowance) -> DraftView:
    """Stores the content in its draft and publishes that, or changes nothing. Raises the errors of those actions."""
    view = await save_composed(tx, caller, composed, allowance)
    return await publish_draft(tx, caller, view.draft.id, None, allowance)
