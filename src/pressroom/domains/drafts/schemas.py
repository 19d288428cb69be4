"""Wire shapes of drafts (docs/drafts.md)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from pressroom.clock import MINUTE, iso, iso_or_none, parse_iso
from pressroom.domains.drafts.models import AHEAD, DraftChanges, DraftState, DraftView
from pressroom.domains.keys.schemas import SourceKeyOut, source_key
from pressroom.domains.media.models import ALT_TEXT_LIMIT, FILES_SIGNED_IN
from pressroom.domains.media.schemas import MediaEntryOut, media_shape
from pressroom.domains.media.urls import MediaAddresses
from pressroom.domains.posts.poll_schemas import PollIn
from pressroom.domains.posts.schemas import (
    LocationIn,
    LocationOut,
    link_errors,
    location_shape,
    named_twice,
    place_errors,
)
from pressroom.domains.posts.visibility import Commenters, Visibility
from pressroom.domains.previews.urls import LINK_LIMIT
from pressroom.errors import Code, FieldError
from pressroom.web.json_bodies import Body
from pressroom.web.wire import Id, NextCursor, Time

LATEST: Final = 1_000_000_000
"""A version that no draft comes to."""

_MEDIA_ID: Final = Meta(max_length=26)


class DraftBody(Body, kw_only=True):
    """The fields of a draft that can be given. null clears a field, as if it had never been given."""

    needs_approval: (
        Annotated[bool, Meta(description="Whether a person has to publish or schedule it, signed in.")] | UnsetType
    ) = UNSET
    content: (
        Annotated[str, Meta(max_length=5000, description="The text. A draft may have none yet; null clears it.")]
        | None
        | UnsetType
    ) = UNSET
    visibility: Visibility | None | UnsetType = UNSET
    location: LocationIn | None | UnsetType = UNSET
    hub_id: (
        Annotated[
            str, Meta(max_length=100, description="The hub to publish into. Membership counts when it is published.")
        ]
        | None
        | UnsetType
    ) = UNSET
    poll: PollIn | None | UnsetType = UNSET
    link_preview_url: (
        Annotated[
            str,
            Meta(
                max_length=LINK_LIMIT,
                description="The page whose card is shown, instead of the content's first link.",
                extra_json_schema={"format": "uri", "pattern": r"^\s*[hH][tT][tT][pP][sS]?:[/\\]{2}"},
            ),
        ]
        | None
        | UnsetType
    ) = UNSET
    comments: Annotated[Commenters | None, Meta(description="Signed in alone.")] | UnsetType = UNSET
    usernames: (
        Annotated[
            list[Annotated[str, Meta(max_length=30)]],
            Meta(max_length=1000, description="The allowlist of a CUSTOM post. Signed in alone."),
        ]
        | UnsetType
    ) = UNSET
    media_ids: (
        Annotated[
            list[Annotated[str, _MEDIA_ID]],
            Meta(
                max_length=FILES_SIGNED_IN,
                description="The files to keep, of those uploaded to it, in their new order. Others are removed.",
                extra_json_schema={"uniqueItems": True},
            ),
        ]
        | UnsetType
    ) = UNSET
    alt_text: (
        Annotated[
            list[Annotated[str, Meta(max_length=ALT_TEXT_LIMIT)]],
            Meta(max_length=FILES_SIGNED_IN, description="What each file shows, in their order; empty: nothing said."),
        ]
        | UnsetType
    ) = UNSET
    publish_at: (
        Annotated[
            str,
            Meta(
                max_length=40,
                description="When to publish it: ISO 8601 with a zone, up to a year ahead. null: it is not scheduled.",
                extra_json_schema={"format": "date-time"},
            ),
        ]
        | None
        | UnsetType
    ) = UNSET

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if isinstance(self.location, LocationIn):
            yield from place_errors(self.location)
        if isinstance(self.poll, PollIn):
            yield from self.poll.poll_errors()
        if isinstance(self.link_preview_url, str):
            yield from link_errors(self.link_preview_url)
        if isinstance(self.usernames, list):
            yield from named_twice(self.usernames)
        if isinstance(self.media_ids, list):
            for place, media_id in enumerate(self.media_ids):
                if media_id in self.media_ids[:place]:
                    yield FieldError(f"mediaIds[{place}]", Code.DUPLICATE, "This file is named twice.")
        if isinstance(self.publish_at, str):
            yield from moment_errors(self.publish_at, now)

    def changes(self) -> DraftChanges:
        """Returns the given fields."""
        place, poll = self.location, self.poll
        values: dict[str, object] = {
            "content": self.content or None if self.content is not UNSET else UNSET,
            "visibility": Visibility.PUBLIC if self.visibility is None else self.visibility,
            "commenters": Commenters.EVERYONE if self.comments is None else self.comments,
            "location_name": place.name if isinstance(place, LocationIn) else place,
            "latitude": place.latitude if isinstance(place, LocationIn) else place,
            "longitude": place.longitude if isinstance(place, LocationIn) else place,
            "hub_id": self.hub_id,
            "poll": poll.new_poll() if isinstance(poll, PollIn) else poll,
            "link": self.link_preview_url,
            "usernames": self.usernames,
        }
        return DraftChanges(
            given={name: value for name, value in values.items() if value is not UNSET},
            media_ids=self.media_ids,
            alt_text=self.alt_text,
            publish_at=parse_iso(self.publish_at) if isinstance(self.publish_at, str) else self.publish_at,
            needs_approval=self.needs_approval,
        )


class CreateDraft(DraftBody):
    """A new draft. Every field is optional: it may be empty until it is published."""

    @classmethod
    def example(cls) -> Self:
        return cls(
            content="The second run dries until Friday. #letterpress",
            visibility=Visibility.FOLLOWERS,
            publish_at="2027-06-01T08:00:00.000Z",
        )


class EditDraft(DraftBody):
    """Changes to a draft. Fields that are not given stay as they are, and null clears a field."""

    version: Annotated[
        int,
        Meta(ge=1, le=LATEST, description="The version that this changes; another is a 409."),
    ]

    @classmethod
    def example(cls) -> Self:
        return cls(version=1, content="The second run dries until Saturday. #letterpress")


class PublishDraft(Body):
    """The draft to publish."""

    version: Annotated[int, Meta(ge=1, le=LATEST, description="When it is given: another version is a 409.")] | None = (
        None
    )


class DraftPollOut(msgspec.Struct, rename="camel"):
    """The poll of a draft, in the shape in which it is given."""

    question: str | None
    options: list[str]
    multiple: bool
    duration_minutes: int


class DraftOut(msgspec.Struct, rename="camel"):
    """A draft."""

    id: Id
    version: Annotated[int, Meta(description="Grows with each change. A change names the version that it changes.")]
    created_at: Time
    updated_at: Time
    publish_at: Annotated[Time | None, Meta(description="When it is, or was to be, published; null: not scheduled.")]
    needs_approval: bool
    state: Annotated[
        DraftState,
        Meta(
            description="draft: it waits for somebody to publish or schedule it. scheduled: it is published at "
            "`publishAt`. refused: it could not be published then, `refusal` says why. published: `postId` is its post."
        ),
    ]
    refusal: Annotated[str | None, Meta(description="Of a refused draft: why, in words.")]
    post_id: Annotated[str | None, Meta(description="Of a published draft: its post.")]
    content: str | None
    visibility: Visibility
    location: LocationOut | None
    hub_id: str | None
    poll: DraftPollOut | None
    link_preview_url: str | None
    comments: Commenters
    usernames: Annotated[list[str], Meta(description="The allowlist of a CUSTOM post.")]
    media_ids: list[str]
    media: Annotated[list[MediaEntryOut], Meta(description="Those files, for the owner alone.")]
    source_api_key: Annotated[
        SourceKeyOut | None, Meta(description="The key that made the draft; null: made with a session.")
    ]

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WVF2T8Z6Q4K1N3B5C7D9EG",
            version=1,
            created_at="2026-11-20T16:08:12.345Z",
            updated_at="2026-11-20T16:08:12.345Z",
            publish_at="2027-06-01T08:00:00.000Z",
            needs_approval=False,
            state=DraftState.SCHEDULED,
            refusal=None,
            post_id=None,
            content="The second run dries until Friday. #letterpress",
            visibility=Visibility.FOLLOWERS,
            location=None,
            hub_id=None,
            poll=None,
            link_preview_url=None,
            comments=Commenters.EVERYONE,
            usernames=[],
            media_ids=[],
            media=[],
            source_api_key=None,
        )


class DraftList(msgspec.Struct, rename="camel"):
    """A page of drafts, newest first."""

    drafts: list[DraftOut]
    next_cursor: NextCursor


class DeletedDraftOut(msgspec.Struct):
    """The draft that was deleted."""

    message: str
    id: Id


class UploadDraftMedia(Body):
    """The text fields of files for a draft."""

    json_schema: ClassVar = {}

    alt_text: list[Annotated[str, Meta(max_length=ALT_TEXT_LIMIT)]] | None = None


def moment_errors(text: str, now: int) -> Iterator[FieldError]:
    """Yields an error unless the text is a time after `now` (milliseconds), up to a year."""
    try:
        at = parse_iso(text)
    except (ValueError, OverflowError):
        yield FieldError("publishAt", Code.INVALID_FORMAT, "Must be an ISO 8601 time with a zone.")
        return
    if at <= now:
        yield FieldError("publishAt", Code.OUT_OF_RANGE, "Must lie in the future. Publish the draft to have it now.")
    elif at > now + AHEAD:
        yield FieldError("publishAt", Code.OUT_OF_RANGE, "Must lie within 365 days.")


def draft_shape(view: DraftView, addresses: MediaAddresses) -> DraftOut:
    """Returns a draft as its owner, or the key that made it, sees it."""
    draft, fields = view.draft, view.fields
    poll = fields.poll
    return DraftOut(
        id=draft.id,
        version=draft.version,
        created_at=iso(draft.created_at),
        updated_at=iso(draft.updated_at),
        publish_at=iso_or_none(draft.publish_at),
        needs_approval=draft.needs_approval,
        state=DraftState(draft.state),
        refusal=draft.refusal,
        post_id=draft.post_id,
        content=fields.content,
        visibility=fields.visibility,
        location=location_shape(fields),
        hub_id=fields.hub_id,
        poll=DraftPollOut(poll.question, poll.options, poll.multiple, poll.duration // MINUTE) if poll else None,
        link_preview_url=fields.link,
        comments=fields.commenters,
        usernames=fields.usernames,
        media_ids=[media.id for media in view.media],
        media=[media_shape(media, addresses, public=False) for media in view.media],
        source_api_key=source_key(draft.key_id, draft.key_label, draft.key_prefix),
    )
