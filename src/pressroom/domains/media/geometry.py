"""The orientation and size of a video: pure arithmetic on the values of its header."""

import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from pressroom.domains.media.decoding import VIDEO_LONG_SIDE, VIDEO_RATE, VIDEO_SHORT_SIDE

_MOST_STRETCHED: Final = 4


class Orientation(NamedTuple):
    """How to bring frames upright: FFmpeg filters (name, arguments), and whether width and height swap."""

    filters: tuple[tuple[str, str], ...]
    swaps: bool


UPRIGHT: Final = Orientation((), swaps=False)
_TURNED: Final = {
    # Whether sides swap, then the signs of (b, c) if they do, else of (a, d).
    (False, 1, 1): UPRIGHT,
    (False, -1, -1): Orientation((("hflip", ""), ("vflip", "")), swaps=False),
    (False, -1, 1): Orientation((("hflip", ""),), swaps=False),
    (False, 1, -1): Orientation((("vflip", ""),), swaps=False),
    (True, 1, -1): Orientation((("transpose", "clock"),), swaps=True),
    (True, -1, 1): Orientation((("transpose", "cclock"),), swaps=True),
    (True, 1, 1): Orientation((("transpose", "cclock_flip"),), swaps=True),
    (True, -1, -1): Orientation((("transpose", "clock_flip"),), swaps=True),
}


def orientation_of(matrix: bytes | None) -> Orientation:
    """Returns the quarter turn and reflection nearest to a display matrix.

    The matrix is nine 32-bit numbers, rows a b u, c d v, x y w. One without meaning (None, too short, all zeros)
    leaves the picture as it is.
    """
    if matrix is None or len(matrix) < 36:
        return UPRIGHT
    a, b, _, c, d, *_ = struct.unpack("=9i", matrix[:36])
    swaps = abs(b) + abs(c) > abs(a) + abs(d)
    first, second = (b, c) if swaps else (a, d)
    return _TURNED.get((swaps, _sign(first), _sign(second)), UPRIGHT)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def displayed(width: int, height: int, pixel: Fraction | None, orientation: Orientation) -> tuple[int, int]:
    """Returns width and height in square pixels, upright. An absurd aspect ratio of pixels counts as square."""
    if pixel and Fraction(1, _MOST_STRETCHED) <= pixel <= _MOST_STRETCHED:
        width = max(1, round(width * pixel))
    return (height, width) if orientation.swaps else (width, height)


def fitted(width: int, height: int) -> tuple[int, int]:
    """Returns the size to encode a video of this displayed size in: at most 1080p, even, not enlarged except to 2."""
    scale = min(
        Fraction(1), Fraction(VIDEO_LONG_SIDE, max(width, height)), Fraction(VIDEO_SHORT_SIDE, min(width, height))
    )
    return _even(width * scale), _even(height * scale)


def _even(length: Fraction) -> int:
    return max(2, int(length) // 2 * 2)


class VideoFacts(NamedTuple):
    """The properties that decide whether a video may stay as it was encoded."""

    container: str
    video_codec: str
    pixel_format: str
    profile: str
    width: int
    height: int
    pixel: Fraction | None
    orientation: Orientation
    rate: Fraction | None
    start_seconds: float
    audio_codec: str | None
    audio_profile: str | None
    audio_channels: int


_PROFILES: Final = ("baseline", "constrained baseline", "main", "high")


def plays_everywhere(facts: VideoFacts) -> bool:
    """Returns whether every browser plays the video as it is, so that its packets may be copied."""
    return (
        facts.container == "mov"
        and facts.video_codec == "h264"
        and facts.pixel_format == "yuv420p"
        and facts.profile.lower() in _PROFILES
        and fitted(facts.width, facts.height) == (facts.width, facts.height)
        and facts.pixel in {None, 0, 1}
        and facts.orientation == UPRIGHT
        and (facts.rate is None or facts.rate <= VIDEO_RATE)
        and abs(facts.start_seconds) <= 0.5
        and (facts.audio_codec is None or (facts.audio_codec == "aac" and facts.audio_profile == "LC"))
        and facts.audio_channels <= 2
    )


def ends_early(declared: float | None, ends: Sequence[float]) -> bool:
    """Returns whether every track ends well before the duration that the header declares (all in seconds)."""
    return declared is not None and max(ends, default=0.0) < 0.9 * declared - 0.5
