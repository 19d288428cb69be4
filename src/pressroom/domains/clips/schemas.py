"""Wire shapes of the clips package."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.schemas import AuthorOut, author_of
from pressroom.domains.clips.models import ClipDraft, ClipEdit, ClipView
from pressroom.domains.hubs.schemas import PostHubOut, hub_of
from pressroom.domains.keys.schemas import SourceKeyOut, source_key
from pressroom.domains.media.models import NewMedia, ProcessingStatus, Variant
from pressroom.domains.media.schemas import MediaEntryOut
from pressroom.domains.media.urls import MediaAddresses, variant_address
from pressroom.domains.posts.visibility import Visibility
from pressroom.errors import Code, FieldError
from pressroom.text import is_blank
from pressroom.web.json_bodies import Body
from pressroom.web.permalinks import Permalinks
from pressroom.web.wire import EXAMPLE_BASE, Id, NextCursor, Permalink, Time, Url, some_given


class PublishClip(Body):
    """The texts of a clip."""

    caption: Annotated[str, Meta(max_length=2200)] | None = None
    visibility: Visibility | None = None
    hub_id: Annotated[str | None, Meta(description="A hub that the account is a member of.")] = None

    def draft(self, video: NewMedia) -> ClipDraft:
        """The clip to make of this video."""
        caption = None if is_blank(self.caption) else self.caption
        return ClipDraft(caption, self.visibility or Visibility.PUBLIC, self.hub_id, video)

    @classmethod
    def example(cls) -> Self:
        return cls(caption="Inking the forme", visibility=Visibility.PUBLIC)


class EditClip(Body):
    """Changes to a clip: at least one field. A field that is not given stays as it is."""

    json_schema: ClassVar = some_given(caption={"type": "string"}, visibility={"type": "string"})

    required_unless: ClassVar = {"body": ("caption", "visibility")}

    caption: Annotated[str, Meta(max_length=2200, description="Empty: the clip has none.")] | None = None
    visibility: Visibility | None = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.caption is None and self.visibility is None:
            yield FieldError("body", Code.REQUIRED, "Give at least one of caption and visibility.")

    def edit(self) -> ClipEdit:
        """Returns the changes."""
        caption = self.caption
        return ClipEdit("" if caption is not None and is_blank(caption) else caption, self.visibility)

    @classmethod
    def example(cls) -> Self:
        return cls(caption="Inking the forme, second take", visibility=Visibility.FOLLOWERS)


class ClipOut(msgspec.Struct, rename="camel"):
    """A clip."""

    id: Id
    author: AuthorOut
    caption: str | None
    duration: Annotated[float | None, Meta(description="Seconds; null until it is READY.")]
    visibility: Visibility
    hub: Annotated[PostHubOut | None, Meta(description="The hub that it was made into.")]
    processing_status: Annotated[ProcessingStatus, Meta(description="READY and FAILED are final.")]
    url: Annotated[Url, Meta(description="An MP4; answers 404 until it is READY.")]
    thumbnail_url: Url
    created_at: Time
    source_api_key: Annotated[
        SourceKeyOut | None, Meta(description="The key that made the clip; null: made with a session.")
    ]
    permalink: Permalink

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WVEB0X1R6S9D3F5G7H8JKM",
            author=AuthorOut.example(),
            caption=PublishClip.example().caption,
            duration=None,
            visibility=Visibility.PUBLIC,
            hub=None,
            processing_status=ProcessingStatus.PROCESSING,
            url=MediaEntryOut.example().url,
            thumbnail_url=MediaEntryOut.example().thumbnail_url,
            created_at="2026-11-20T16:08:12.345Z",
            source_api_key=SourceKeyOut.example(),
            permalink=Permalinks(EXAMPLE_BASE).of_clip("01M7WVEB0X1R6S9D3F5G7H8JKM"),
        )


class ClipList(msgspec.Struct, rename="camel"):
    """A page of clips, newest first."""

    clips: list[ClipOut]
    next_cursor: NextCursor


class DeletedClipOut(msgspec.Struct):
    """The clip that was deleted."""

    message: str
    id: Id


def clip_shape(view: ClipView, addresses: MediaAddresses) -> ClipOut:
    """The clip as the reader that it was read for sees it."""
    clip, video, base_url = view.clip, view.video, addresses.base_url
    address = addresses.of(video, public=clip.visibility == Visibility.PUBLIC)
    return ClipOut(
        id=clip.id,
        author=author_of(clip.account_id, clip, base_url),
        caption=clip.caption,
        duration=video.duration,
        visibility=clip.visibility,
        hub=hub_of(clip.hub_id, clip.hub_name, clip.hub_slug, base_url),
        processing_status=ProcessingStatus(video.status),
        url=address,
        thumbnail_url=variant_address(address, Variant.THUMBNAIL),
        created_at=iso(clip.created_at),
        source_api_key=source_key(clip.key_id, clip.key_label, clip.key_prefix),
        permalink=addresses.permalinks.of_clip(clip.id),
    )


EDITED_CLIP_EXAMPLE = msgspec.structs.replace(
    ClipOut.example(), caption=EditClip.example().caption, visibility=Visibility.FOLLOWERS
)
