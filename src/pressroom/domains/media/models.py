"""A file of a post or a clip, and its states."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.domains.media.kinds import FileKind
from pressroom.ids import random_base62

FILES_BY_KEY: Final = 4
FILE_BYTES_BY_KEY: Final = 8 * 1024 * 1024
FILES_SIGNED_IN: Final = 10
FILE_BYTES_SIGNED_IN: Final = 50 * 1024 * 1024
ALT_TEXT_LIMIT: Final = 1_500


class ProcessingStatus(StrEnum):
    """The states of a file."""

    PROCESSING = "PROCESSING"
    READY = "READY"
    FAILED = "FAILED"


TRANSITIONS: Final = {
    ProcessingStatus.PROCESSING: frozenset({ProcessingStatus.READY, ProcessingStatus.FAILED}),
    ProcessingStatus.READY: frozenset[ProcessingStatus](),
    ProcessingStatus.FAILED: frozenset[ProcessingStatus](),
}
"""Where each state may lead: what has ended stays as it is."""


def leading_to(state: ProcessingStatus) -> str:
    """The states from which a file may come to `state`, as SQL lists them."""
    return ", ".join(f"'{before}'" for before, after in TRANSITIONS.items() if state in after)


if TRANSITIONS.keys() != set(ProcessingStatus):
    raise ValueError("Every state of a file needs its line in TRANSITIONS.")


class Variant(StrEnum):
    """What is served of a file."""

    MAIN = "main"
    THUMBNAIL = "thumbnail"
    POSTER = "poster"


class MediaEntryType(StrEnum):
    """What a client has to show."""

    IMAGE = "image"
    GIF = "gif"
    VIDEO = "video"


class NewMedia(msgspec.Struct):
    """A file that has been taken in and stands in the store under its source's name, but belongs to nothing yet."""

    id: str
    kind: FileKind
    alt_text: str | None
    size: int


class Media(msgspec.Struct):
    """A file as it is kept. `duration` in seconds, times in milliseconds; sizes are those of what is served."""

    id: str
    account_id: str
    owner_id: str
    position: int
    token: str
    kind: str
    alt_text: str | None
    status: ProcessingStatus
    reason: str | None
    width: int | None
    height: int | None
    duration: float | None
    size_bytes: int | None
    placeholder: str | None
    created_at: int
    hidden_at: int | None

    @property
    def type(self) -> MediaEntryType:
        """What a client has to show; known from the start."""
        if self.kind.startswith("video/"):
            return MediaEntryType.VIDEO
        return MediaEntryType.GIF if self.kind == "image/gif" else MediaEntryType.IMAGE

    @property
    def mime_type(self) -> str:
        """The type of what is served, whatever was uploaded."""
        return "video/mp4" if self.type is MediaEntryType.VIDEO else "image/webp"

    def content_type(self, variant: Variant) -> str:
        """The type of one variant."""
        return self.mime_type if variant is Variant.MAIN else "image/webp"

    def blob(self, variant: Variant) -> str:
        """Where a variant stands in the store."""
        is_video = self.type is MediaEntryType.VIDEO
        name = {
            Variant.MAIN: "video.mp4" if is_video else "large.webp",
            Variant.THUMBNAIL: "thumbnail.webp",
            Variant.POSTER: "poster.webp" if is_video else "large.webp",
        }[variant]
        return rendition(self.id, name)

    @property
    def keys(self) -> set[str]:
        """What the store holds of it: the upload until it is processed, then what was made of it."""
        if self.status == ProcessingStatus.PROCESSING:
            return {source(self.id)}
        return {self.blob(variant) for variant in Variant}


class ServedMedia(Media):
    """A file, and who may see the post or the clip that it belongs to; the other of the two is None."""

    post_visibility: str | None
    clip_visibility: str | None


def new_token() -> str:
    """What opens a file and cannot be guessed: 190 bits."""
    return random_base62(32)


def source(media_id: str) -> str:
    """Where the upload itself stands in the store until it has been processed."""
    return f"uploads/{media_id.lower()}"


def rendition(media_id: str, name: str) -> str:
    """Where a file made of it stands in the store."""
    return f"media/{media_id.lower()}/{name}"
