"""The messages between the server process and a child that decodes one file, and the errors they become.

Nothing here decodes. The server process imports this module; only a child (`forkserver`) imports `images` and
`videos`.
"""

from typing import Final

import msgspec

LARGE_SIDE: Final = 2_048
"""Side in pixels of the square that an image's main rendition fits in."""

MEDIUM_SIDE: Final = 1_280
"""Side of the rendition for windows that the thumbnail is too small for, and of the posters of videos."""

THUMBNAIL_SIDE: Final = 640
VIDEO_LONG_SIDE: Final = 1_920
VIDEO_SHORT_SIDE: Final = 1_080
VIDEO_RATE: Final = 60
"""Frames a second, at most."""

LARGE: Final = "large.webp"
MEDIUM: Final = "medium.webp"
THUMBNAIL: Final = "thumbnail.webp"
POSTER: Final = "poster.webp"
VIDEO: Final = "video.mp4"

WEBP: Final = "image/webp"
MP4: Final = "video/mp4"


class DecodingLimits(msgspec.Struct, frozen=True):
    """Limits on decoding one file. The kernel enforces the first five, the decoder the rest."""

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
    """Width by height by pictures of a whole video: ten minutes of 1080p at 60 pictures a second."""

    at_once_pixels: int | None = None
    """The same for a short video: a child answers LongVideo to a larger one and decodes nothing of it."""


class Rendition(msgspec.Struct, frozen=True):
    """One file that was made. width and height in pixels as displayed, size in bytes."""

    name: str
    mime: str
    width: int
    height: int
    size: int


class Processed(msgspec.Struct, frozen=True, tag="processed"):
    """The result of decoding a file.

    width, height and size_bytes are those of the main file, `files[0]`. duration is in seconds, None for images.
    placeholder is a data URI of at most 400 bytes: a picture of about 16 pixels.
    """

    width: int
    height: int
    duration: float | None
    size_bytes: int
    files: list[Rendition]
    placeholder: str


class Refusal(msgspec.Struct, frozen=True, tag="refusal"):
    """A child's answer for Undecodable."""

    reason: str


class LongVideo(msgspec.Struct, frozen=True, tag="long"):
    """A child's answer for TakesLong."""


class Crash(msgspec.Struct, frozen=True, tag="crash"):
    """A child's answer when it failed and the file is not known to be the cause."""

    what: str


class DecodingTask(msgspec.Struct, frozen=True):
    """A file for a child to decode. source and folder are absolute paths; kind is the name of a FileKind.

    box: of an image its middle as a still of this form, at most so many pixels wide and high; None: the whole image.
    """

    source: str
    kind: str
    folder: str
    limits: DecodingLimits
    box: tuple[int, int] | None = None


class Undecodable(Exception):
    """The file can never be decoded. `reason` is written for its owner."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def message(self) -> str:
        """The reason, by the name that PressroomError uses."""
        return self.reason


class TakesLong(Exception):
    """The video is longer than a short one. Nothing of it was decoded; process it as a long video."""


class ChildDied(Exception):
    """The child ended without an answer: a limit or a signal killed it, or it crashed. Trying once more may help."""


class SandboxAway(ChildDied):
    """No child could be made. The machine is the cause, not the file; try again later."""


class Starved(SandboxAway):
    """The child got too little CPU time or disk space. Most likely the machine is the cause."""
