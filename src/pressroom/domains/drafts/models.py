"""A draft, its states, and the changes that a PATCH makes (docs/drafts.md)."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.domains.media.models import Media, ProcessingStatus
from pressroom.domains.posts.models import BARE, NewPoll, NewPost, PostFields, parse_text
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.previews.urls import normalised
from pressroom.errors import Code, FieldError
from pressroom.text import is_blank

MOST_DRAFTS: Final = 100
"""Drafts of an account that are not scheduled; published ones do not count."""

MOST_SCHEDULED: Final = 300
"""Scheduled drafts of an account."""

AHEAD: Final = 365 * DAY
"""How far ahead (milliseconds) a draft may be scheduled."""

RETENTION: Final = 30 * DAY
"""For how long (milliseconds) the draft of a published post is kept."""


class DraftState(StrEnum):
    """The state of a draft. PUBLISHED is final."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"
    REFUSED = "refused"
    PUBLISHED = "published"


OPEN: Final = (DraftState.DRAFT, DraftState.REFUSED)
"""The states that count against MOST_DRAFTS."""


class DraftFields(PostFields):
    """The fields of the post that a draft is to become. They are stored as one JSON text."""

    content: str | None = None
    poll: NewPoll | None = None
    link: str | None = None  # the page whose card is to be shown, as it was typed
    usernames: list[str] = msgspec.field(default_factory=list[str])  # the allowlist of a CUSTOM post


class Draft(msgspec.Struct):
    """A draft as its row holds it. Times are in milliseconds."""

    id: str
    account_id: str
    key_id: str | None  # the key that made it
    version: int
    state: DraftState
    fields: str  # DraftFields as JSON
    publish_at: int | None
    scheduled_by_key: bool  # and not by a person
    needs_approval: bool
    refusal: str | None
    post_id: str | None
    created_at: int
    updated_at: int
    key_label: str | None = None  # this and the next: of that key
    key_prefix: str | None = None


class DraftView(msgspec.Struct):
    """A draft with its fields and files."""

    draft: Draft
    fields: DraftFields
    media: list[Media]


class DraftChanges(msgspec.Struct):
    """Changes to a draft. UNSET leaves something as it is.

    `given` has fields of DraftFields by their names. `media_ids` are the files that it keeps, in their new order, and
    `alt_text` describes them in that order. `publish_at` is in milliseconds; None takes it off the schedule.
    """

    given: dict[str, object]
    media_ids: list[str] | msgspec.UnsetType = msgspec.UNSET
    alt_text: list[str] | msgspec.UnsetType = msgspec.UNSET
    publish_at: int | None | msgspec.UnsetType = msgspec.UNSET
    needs_approval: bool | msgspec.UnsetType = msgspec.UNSET

    def applied(self, fields: DraftFields) -> DraftFields:
        """Returns the fields after the changes."""
        return msgspec.structs.replace(fields, **self.given)


EMPTY: Final = DraftFields(**msgspec.structs.asdict(BARE))
"""The fields of a draft that was given none."""

_DEFAULTS: Final = msgspec.to_builtins(BARE)


def encoded(fields: DraftFields) -> str:
    """Returns the fields as they are stored."""
    return msgspec.json.encode(fields).decode()


def decoded(stored: str) -> DraftFields:
    """Returns stored fields. A field that is younger than the draft has its value in BARE."""
    return msgspec.convert(_DEFAULTS | msgspec.json.decode(stored), DraftFields)


def post_of(fields: DraftFields, owner_id: str, media: list[Media]) -> NewPost:
    """Returns the post to publish; it takes over the files of the draft `owner_id`."""
    return NewPost(
        content=None if is_blank(fields.content) else parse_text(fields.content or ""),
        fields=PostFields(**{name: getattr(fields, name) for name in PostFields.__struct_fields__}),
        poll=fields.poll,
        forced_link=None if fields.link is None or media else normalised(fields.link),
        files_of=owner_id if media else None,
    )


def audience_of(fields: DraftFields) -> list[str] | None:
    """Returns the allowlist to set; None for a post that has none."""
    return fields.usernames if fields.visibility == Visibility.CUSTOM and fields.usernames else None


def faults_of(view: DraftView) -> list[FieldError]:
    """Returns why a draft is not complete enough to be published."""
    fields, found = view.fields, list[FieldError]()
    if is_blank(fields.content) and not view.media:
        found.append(FieldError("content", Code.REQUIRED, "A post needs some text that is not white space, or a file."))
    if fields.poll is not None and view.media:
        found.append(FieldError("poll", Code.NOT_ALLOWED, "A post has a poll or files, not both."))
    if fields.usernames and fields.visibility != Visibility.CUSTOM:
        message = "Readers are named for a CUSTOM post alone. Choose that, or name nobody."
        found.append(FieldError("usernames", Code.NOT_ALLOWED, message))
    for place, media in enumerate(view.media):
        if media.status == ProcessingStatus.FAILED:
            message = "This file could not be read. Remove it from mediaIds, or upload another."
            found.append(FieldError(f"mediaIds[{place}]", Code.NOT_ALLOWED, message))
    return found


def changed(draft: Draft, changes: DraftChanges, *, by_key: bool) -> Draft:
    """Returns the draft after the changes of a person or a key. Its version is left to the row."""
    new = msgspec.structs.replace(draft, fields=encoded(changes.applied(decoded(draft.fields))))
    if changes.needs_approval is not msgspec.UNSET:
        new.needs_approval = changes.needs_approval
    if changes.publish_at is msgspec.UNSET:
        # A person's change makes the draft no longer the key's alone: it is published even if the key is revoked.
        new.scheduled_by_key = draft.scheduled_by_key and by_key
        is_unapproved = draft.scheduled_by_key and changes.needs_approval is True
        return _taken_off(new) if is_unapproved and draft.state == DraftState.SCHEDULED else new
    if changes.publish_at is None:
        return _taken_off(new)
    new.state, new.publish_at, new.refusal = DraftState.SCHEDULED, changes.publish_at, None
    new.scheduled_by_key = by_key
    return new


def _taken_off(draft: Draft) -> Draft:
    """Returns the draft without its schedule and refusal."""
    off = msgspec.structs.replace(draft, state=DraftState.DRAFT, publish_at=None, refusal=None)
    off.scheduled_by_key = False
    return off


def key_faults(draft: Draft, changes: DraftChanges | None = None) -> list[FieldError]:
    """Returns why a key may not change or publish a draft that needs a person's approval (docs/drafts.md#approval)."""
    if draft.needs_approval and draft.state == DraftState.SCHEDULED and not draft.scheduled_by_key:
        message = "A person approved and scheduled this draft. A key cannot change it any more."
        return [FieldError("body", Code.NOT_ALLOWED, message)]
    if changes is None:
        message = "This draft needs the approval of a person, who publishes or schedules it signed in."
        return [FieldError("body", Code.NOT_ALLOWED, message)] if draft.needs_approval else []
    found: list[FieldError] = []
    if draft.needs_approval and changes.needs_approval is False:
        message = "A key cannot take this back. A person does, signed in."
        found.append(FieldError("needsApproval", Code.NOT_ALLOWED, message))
    if (draft.needs_approval or changes.needs_approval is True) and isinstance(changes.publish_at, int):
        message = "This draft needs the approval of a person, who publishes or schedules it signed in."
        found.append(FieldError("publishAt", Code.NOT_ALLOWED, message))
    return found


def room_faults(state: DraftState, before: DraftState | None, *, drafts: int, scheduled: int) -> list[FieldError]:
    """Returns why a draft cannot enter a state: the account has as many as it may have.

    `before` is its present state; None: it is new. `drafts` and `scheduled` count those of the account.
    """
    if state in OPEN and before not in OPEN and drafts >= MOST_DRAFTS:
        message = f"The account has {MOST_DRAFTS} drafts, the most it may have. Publish or delete one."
        return [FieldError("body", Code.TOO_MANY, message)]
    if state == DraftState.SCHEDULED != before and scheduled >= MOST_SCHEDULED:
        message = f"The account has {MOST_SCHEDULED} scheduled drafts, the most it may have. Wait, or delete one."
        return [FieldError("publishAt", Code.TOO_MANY, message)]
    return []


def file_faults(wanted: list[str], present: list[str]) -> list[FieldError]:
    """Returns the faults in the list of files that a draft is to keep; `present` were uploaded to it."""
    return [
        FieldError(f"mediaIds[{place}]", Code.NOT_ALLOWED, "No such file was uploaded to this draft.")
        for place, media_id in enumerate(wanted)
        if media_id not in present
    ]


def alt_text_faults(changes: DraftChanges, files: int) -> list[FieldError]:
    """Returns an error when the changes describe more files than the draft keeps."""
    if len(changes.alt_text or []) <= files:
        return []
    return [FieldError(f"altText[{files}]", Code.TOO_MANY, f"There is no mediaIds[{files}] that this could describe.")]
