"""The files of posts, clips and accounts, and their states (docs/media.md#upload)."""

from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from pressroom.domains.media.decoding import MEDIUM_SIDE, THUMBNAIL_SIDE
from pressroom.domains.media.kinds import FileKind
from pressroom.ids import random_base62

FILES_BY_KEY: Final = 4
FILE_BYTES_BY_KEY: Final = 8 * 1024 * 1024
FILES_SIGNED_IN: Final = 10
FILE_BYTES_SIGNED_IN: Final = 50 * 1024 * 1024
ALT_TEXT_LIMIT: Final = 1_500


REMOVED: Final = "removed."
"""With its own id, the owner of a file that was taken from a draft, until it leaves the store."""


class AccountPicture(StrEnum):
    """The pictures that an account itself has (docs/media.md#avatars-and-covers)."""

    AVATAR = "avatar"
    COVER = "cover"

    @property
    def box(self) -> tuple[int, int]:
        """Returns its width and height in pixels, at most: its form is always theirs."""
        return _BOXES[self]

    def owner_of(self, account_id: str) -> str:
        """Returns the `owner_id` of the account's pictures of this kind, which no post or clip has."""
        return account_id if self is AccountPicture.AVATAR else f"{account_id}.{self}"


_BOXES: Final = {AccountPicture.AVATAR: (512, 512), AccountPicture.COVER: (1_500, 500)}

RENDITIONS: Final = ("large.webp", "medium.webp", "thumbnail.webp", "poster.webp", "video.mp4")
"""The names of all files that are made from uploads."""


class ProcessingStatus(StrEnum):
    """The states of a file. READY is final; FAILED too, unless an admin has the file processed again."""

    PROCESSING = "PROCESSING"
    READY = "READY"
    FAILED = "FAILED"


TRANSITIONS: Final = {
    ProcessingStatus.PROCESSING: frozenset({ProcessingStatus.READY, ProcessingStatus.FAILED}),
    ProcessingStatus.READY: frozenset[ProcessingStatus](),
    ProcessingStatus.FAILED: frozenset({ProcessingStatus.PROCESSING}),
}
"""The states that may follow each state."""


def leading_to(state: ProcessingStatus) -> str:
    """Returns the states that may precede `state`, as a list in SQL."""
    return ", ".join(f"'{before}'" for before, after in TRANSITIONS.items() if state in after)


if TRANSITIONS.keys() != set(ProcessingStatus):
    raise ValueError("Every state of a file needs its line in TRANSITIONS.")


class Variant(StrEnum):
    """The renditions of a file that are served."""

    MAIN = "main"
    MEDIUM = "medium"
    THUMBNAIL = "thumbnail"
    POSTER = "poster"


class ServedSize(NamedTuple):
    """A size in which a picture is served. width and height in pixels."""

    variant: Variant
    width: int
    height: int


class MediaEntryType(StrEnum):
    """How a client shows a file."""

    IMAGE = "image"
    GIF = "gif"
    VIDEO = "video"


class NewMedia(msgspec.Struct):
    """A staged upload: a file in the store, under the key of its source, that no row refers to yet. size in bytes."""

    id: str
    kind: FileKind
    alt_text: str | None
    size: int


class Media(msgspec.Struct):
    """A file of a post, clip, draft or account. Times are in milliseconds; sizes are those of the served file."""

    id: str
    account_id: str  # the uploader
    owner_id: str  # the post, clip or draft that it belongs to
    position: int  # among the files of its post
    token: str  # the secret part of its address
    kind: str
    alt_text: str | None
    status: ProcessingStatus
    reason: str | None  # why it failed
    width: int | None  # pixels
    height: int | None  # pixels
    duration: float | None  # seconds
    size_bytes: int | None
    placeholder: str | None  # a few bytes of picture, shown until the rest is there
    has_medium: bool  # whether there is a rendition between the thumbnail and the served file
    created_at: int
    hidden_at: int | None  # when its post or clip was deleted

    @property
    def type(self) -> MediaEntryType:
        """Returns how a client shows the file; known before it is processed."""
        if self.kind.startswith("video/"):
            return MediaEntryType.VIDEO
        return MediaEntryType.GIF if self.kind == "image/gif" else MediaEntryType.IMAGE

    @property
    def picture(self) -> AccountPicture | None:
        """Returns what picture of its account it is; None for a file of a post or clip."""
        return next((each for each in AccountPicture if self.owner_id == each.owner_of(self.account_id)), None)

    @property
    def is_removed(self) -> bool:
        """Returns whether it was taken from a draft, and is to leave the store."""
        return self.owner_id.startswith(REMOVED)

    @property
    def mime_type(self) -> str:
        """Returns the media type of the served file, which can differ from the upload's."""
        return "video/mp4" if self.type is MediaEntryType.VIDEO else "image/webp"

    def content_type(self, variant: Variant) -> str:
        """Returns the media type of a variant."""
        return self.mime_type if variant is Variant.MAIN else "image/webp"

    def blob(self, variant: Variant) -> str:
        """Returns the key of a variant in the store."""
        is_video = self.type is MediaEntryType.VIDEO
        name = {
            Variant.MAIN: "video.mp4" if is_video else "large.webp",
            Variant.MEDIUM: "poster.webp" if is_video else "medium.webp" if self.has_medium else "large.webp",
            Variant.THUMBNAIL: "thumbnail.webp",
            Variant.POSTER: "poster.webp" if is_video else "large.webp",
        }[variant]
        return rendition(self.id, name)

    @property
    def sizes(self) -> list[ServedSize]:
        """Returns the sizes in which an image is served, the smallest first; none for a video, or until it is READY."""
        if self.type is MediaEntryType.VIDEO or self.width is None or self.height is None:
            return []
        longest = max(self.width, self.height)
        sides = {Variant.THUMBNAIL: THUMBNAIL_SIDE} | ({Variant.MEDIUM: MEDIUM_SIDE} if self.has_medium else {})
        smaller = [
            ServedSize(variant, _scaled(self.width, side, longest), _scaled(self.height, side, longest))
            for variant, side in sides.items()
            if side < longest
        ]
        return [*smaller, ServedSize(Variant.MAIN, self.width, self.height)]

    @property
    def keys(self) -> set[str]:
        """Returns the keys that the store holds for the file: the upload until it is processed, then the variants."""
        if self.status == ProcessingStatus.PROCESSING:
            return {source(self.id)}
        return {self.blob(variant) for variant in Variant}


class HiddenFile(msgspec.Struct):
    """A file that has just been hidden."""

    id: str
    status: ProcessingStatus


class ServedMedia(Media):
    """A file with the visibility of its post or clip; the other is None, for other files both."""

    post_visibility: str | None
    clip_visibility: str | None


class StoredBytes(msgspec.Struct):
    """The bytes of media that an account stores."""

    account_id: str
    bytes: int


class KindBytes(msgspec.Struct):
    """The files of one kind (`image/jpeg`, …) that an account stores, and their bytes."""

    kind: str
    files: int
    bytes: int


class Pictures(msgspec.Struct):
    """An account's pictures of one kind: the one that is shown, and a newer one that is not READY."""

    shown: Media | None = None
    newer: Media | None = None


def _scaled(length: int, side: int, longest: int) -> int:
    """Returns `length * side / longest` as libvips rounds it: half up."""
    return max(1, (2 * length * side + longest) // (2 * longest))


def new_token(media_id: str) -> str:
    """Returns a new token that opens a file: 172 random bits and the file's place."""
    return random_base62(32, media_id)


def source(media_id: str) -> str:
    """Returns the key of an upload, which is in the store until it is processed."""
    return f"uploads/{media_id.lower()}"


def every_key(media_id: str) -> list[str]:
    """Returns all keys that the store may hold for a file of any kind and state."""
    return [source(media_id), *(rendition(media_id, name) for name in RENDITIONS)]


def rendition(media_id: str, name: str) -> str:
    """Returns the key of a file that was made from an upload."""
    return f"media/{media_id.lower()}/{name}"
