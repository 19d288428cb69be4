"""Wire shapes of the timeline."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from pressroom.domains.accounts.schemas import AuthorOut, author_of
from pressroom.domains.clips.schemas import ClipOut, clip_shape
from pressroom.domains.media.urls import MediaAddresses
from pressroom.domains.posts.schemas import PostOut, post_shape
from pressroom.domains.timeline.models import Entry
from pressroom.web.wire import Id, NextCursor


class EntryKind(StrEnum):
    """The kind of an entry of a timeline."""

    POST = "post"
    CLIP = "clip"


class EntryOut(msgspec.Struct, rename="camel", omit_defaults=True):
    """An entry of the timeline: a post or a clip."""

    kind: EntryKind
    id: Annotated[
        Id, Meta(description="Its place in the timeline: the id of the post or clip, or of the bounce that brought it.")
    ]
    post: PostOut | None = None
    clip: ClipOut | None = None
    bounced_by: Annotated[
        AuthorOut | None, Meta(description="The account of the last bounce; absent: the post comes by itself.")
    ] = None


class TimelineOut(msgspec.Struct, rename="camel"):
    """A page of the timeline, newest first."""

    items: list[EntryOut]
    next_cursor: NextCursor


class NewEntriesOut(msgspec.Struct):
    """The number of new entries."""

    count: Annotated[int, Meta(ge=0, le=20, description="New entries; 20 stands for 20 and more.")]
    after: Annotated[str, Meta(description="The `after` of the next request.")]


def entry_shape(entry: Entry, addresses: MediaAddresses, now: int) -> EntryOut:
    """Returns an entry as its reader sees it at `now` (milliseconds)."""
    if entry.clip is not None:
        return EntryOut(EntryKind.CLIP, entry.id, clip=clip_shape(entry.clip, addresses))
    post = None if entry.post is None else post_shape(entry.post, addresses, now)
    bounce = entry.bounce
    bounced_by = None if bounce is None else author_of(bounce.account_id, bounce, addresses.base_url)
    return EntryOut(EntryKind.POST, entry.id, post=post, bounced_by=bounced_by)
