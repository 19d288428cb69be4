"""A clip, and the structs that are read together with it."""

import msgspec

from pressroom.domains.media.models import Media, NewMedia
from pressroom.domains.posts.visibility import Relationship, Visibility, key_may_read, may_see


class ClipDraft(msgspec.Struct):
    """A clip to create."""

    caption: str | None
    visibility: Visibility
    hub_id: str | None
    video: NewMedia


class ClipEdit(msgspec.Struct):
    """The fields of an edit; None leaves a field as it is. An empty caption takes the caption away."""

    caption: str | None
    visibility: Visibility | None


class OwnClip(msgspec.Struct):
    """The columns that editing and deleting a clip read."""

    caption: str | None
    visibility: Visibility


class Clip(msgspec.Struct):
    """A stored clip with its author, key and hub, as one reader finds it. Times are in milliseconds."""

    id: str
    account_id: str  # the author
    key_id: str | None  # the key that it was published with; None: in the browser
    caption: str | None
    visibility: Visibility
    hub_id: str | None
    created_at: int
    edited_at: int | None
    deleted_at: int | None
    username: str  # this and the next three: the author
    display_name: str
    avatar_token: str | None
    verified: bool
    key_label: str | None  # this and the next: the key
    key_prefix: str | None
    hub_name: str | None  # this and the next: the hub
    hub_slug: str | None
    is_author: bool  # the reader is
    follows: bool  # the reader follows the author
    followed_back: bool  # the author follows the reader
    blocked: bool  # the reader and the author, by one of them
    muted: bool  # the author, by the reader
    suspended: bool  # the author is

    def may_be_seen(self) -> bool:
        """Returns whether the reader may see it, deleted or not. It has no allowlist: CUSTOM is for the author."""
        relationship = Relationship(
            self.is_author, self.follows, self.followed_back, blocked=self.blocked, suspended=self.suspended
        )
        return may_see(Visibility(self.visibility), relationship)

    def may_be_read_by_key(self) -> bool:
        """Returns whether a key of the reader may read it."""
        return key_may_read(Visibility(self.visibility), is_author=self.is_author)


class ClipView(msgspec.Struct):
    """A clip with its video."""

    clip: Clip
    video: Media
