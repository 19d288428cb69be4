"""What goes into the decoding of one file and what comes out of it: the shapes that both processes know.

Nothing here decodes. The server process holds these; only a child (`forkserver`) imports `images` and `videos`.
"""

from typing import Final

import msgspec

LARGE_SIDE: Final = 2_048
"""An image's main rendition fits in a square of this many pixels."""

THUMBNAIL_SIDE: Final = 640
VIDEO_LONG_SIDE: Final = 1_920
VIDEO_SHORT_SIDE: Final = 1_080
VIDEO_RATE: Final = 60
"""Frames a second, at most."""

LARGE: Final = "large.webp"
THUMBNAIL: Final = "thumbnail.webp"
POSTER: Final = "poster.webp"
VIDEO: Final = "video.mp4"

WEBP: Final = "image/webp"
MP4: Final = "video/mp4"


class DecodingLimits(msgspec.Struct, frozen=True):
    """How far the processing of one file may go. The first five are enforced by the system, not by the decoder."""

    wall_seconds: float = 300.0
    cpu_seconds: int = 600
    address_bytes: int = 1_500_000_000
    written_bytes: int = 256 * 1024 * 1024
    open_files: int = 64
    frame_pixels: int = 50_000_000
    frames: int = 1_000
    all_pixels: int = 300_000_000
    video_seconds: int = 600
    video_side: int = 8_192
    video_pixels: int = 75_000_000_000
    """Width by height by pictures: ten minutes of 1080p at 60 pictures a second."""

    at_once_pixels: int | None = None
    """Of the same: beyond, a video is not begun at all, and LongVideo is the answer."""


class Rendition(msgspec.Struct, frozen=True):
    """One file that was made. Width and height are in pixels as displayed, size in bytes."""

    name: str
    mime: str
    width: int
    height: int
    size: int


class Processed(msgspec.Struct, frozen=True, tag="processed"):
    """A file that was decoded, and what was made of it.

    width, height, size_bytes are those of the main file, `files[0]`. duration: seconds, None for images.
    placeholder: a picture about 16 pixels wide as a data URI of at most 400 bytes.
    """

    width: int
    height: int
    duration: float | None
    size_bytes: int
    files: list[Rendition]
    placeholder: str


class Refusal(msgspec.Struct, frozen=True, tag="refusal"):
    """A child's way to say Undecodable."""

    reason: str


class LongVideo(msgspec.Struct, frozen=True, tag="long"):
    """A child's way to say TakesLong."""


class Crash(msgspec.Struct, frozen=True, tag="crash"):
    """A child's last words when it failed in a way that is not the file's fault, or not known to be."""

    what: str


class DecodingTask(msgspec.Struct, frozen=True):
    """What a child is told. `kind` is the name of a FileKind."""

    source: str
    kind: str
    folder: str
    limits: DecodingLimits


class Undecodable(Exception):
    """The file cannot be used, now or later. `reason` is written for its owner."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def message(self) -> str:
        """The reason, under the name that Pressroom's own errors use."""
        return self.reason


class TakesLong(Exception):
    """The video takes longer than was asked for, and nothing of it was decoded: for those who have the time."""


class ChildDied(Exception):
    """The child ended without an answer: killed by a limit or a signal, or it crashed. May be tried again, once."""


class SandboxAway(ChildDied):
    """There was no child, or it got nothing to work with: the machine's fault and not the file's. Try again later."""


class Starved(SandboxAway):
    """There was a child and it got too little, time or space on the disk; most likely the machine's fault."""
