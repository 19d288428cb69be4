"""The arithmetic of videos."""

import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.domains.media.geometry import (
    UPRIGHT,
    VideoFacts,
    displayed,
    ends_early,
    fitted,
    orientation_of,
    plays_everywhere,
)

ONE = 0x10000
GOOD = VideoFacts("mov", "h264", "yuv420p", "High", 1280, 720, None, UPRIGHT, Fraction(30), 0.0, "aac", "LC", 2)


def matrix(a: int, b: int, c: int, d: int) -> bytes:
    """A display matrix as FFmpeg hands it over."""
    return struct.pack("=9i", a, b, 0, c, d, 0, 0, 0, 0x40000000)


@pytest.mark.parametrize(
    ("numbers", "filters", "swaps"),
    [
        ((ONE, 0, 0, ONE), [], False),
        ((0, ONE, -ONE, 0), [("transpose", "clock")], True),
        ((-ONE, 0, 0, -ONE), [("hflip", ""), ("vflip", "")], False),
        ((0, -ONE, ONE, 0), [("transpose", "cclock")], True),
        ((-ONE, 0, 0, ONE), [("hflip", "")], False),
        ((ONE, 0, 0, -ONE), [("vflip", "")], False),
        ((0, ONE, ONE, 0), [("transpose", "cclock_flip")], True),
        ((0, -ONE, -ONE, 0), [("transpose", "clock_flip")], True),
        ((46000, 47000, -47000, 46000), [("transpose", "clock")], True),
        ((0, 0, 0, 0), [], False),
        ((ONE, 0, 0, 0), [], False),
    ],
)
def test_a_matrix_is_the_nearest_quarter_turn(
    numbers: tuple[int, int, int, int], filters: list[tuple[str, str]], swaps: bool
) -> None:
    orientation = orientation_of(matrix(*numbers))
    assert (list(orientation.filters), orientation.swaps) == (filters, swaps)


def test_no_matrix_is_no_turn() -> None:
    assert orientation_of(None) == orientation_of(b"short") == UPRIGHT


@given(width=st.integers(1, 20_000), height=st.integers(1, 20_000))
def test_every_size_fits_and_is_even(width: int, height: int) -> None:
    wide, high = fitted(width, height)
    assert wide % 2 == high % 2 == 0
    assert 2 <= max(wide, high) <= 1920
    assert 2 <= min(wide, high) <= 1080
    assert wide <= max(2, width)
    assert high <= max(2, height)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((1280, 720), (1280, 720)),
        ((3840, 2160), (1920, 1080)),
        ((1080, 1920), (1080, 1920)),
        ((2160, 3840), (1080, 1920)),
        ((1920, 1920), (1080, 1080)),
        ((321, 181), (320, 180)),
        ((1, 1), (2, 2)),
    ],
)
def test_sizes(size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert fitted(*size) == expected


def test_pixels_that_are_not_square_are_made_square() -> None:
    assert displayed(720, 576, Fraction(16, 15), UPRIGHT) == (768, 576)
    assert displayed(720, 576, Fraction(100), UPRIGHT) == (720, 576)
    assert displayed(720, 576, None, orientation_of(matrix(0, ONE, -ONE, 0))) == (576, 720)


def test_browser_formats_may_stay() -> None:
    assert plays_everywhere(GOOD)
    assert plays_everywhere(GOOD._replace(start_seconds=0.5))
    assert plays_everywhere(GOOD._replace(audio_codec=None, audio_profile=None, audio_channels=0))


@pytest.mark.parametrize(
    "change",
    [
        {"container": "matroska"},
        {"video_codec": "hevc"},
        {"pixel_format": "yuv444p"},
        {"profile": "High 10"},
        {"width": 1281},
        {"width": 3840, "height": 2160},
        {"pixel": Fraction(4, 3)},
        {"orientation": orientation_of(matrix(-ONE, 0, 0, -ONE))},
        {"rate": Fraction(120)},
        {"start_seconds": 0.6},
        {"audio_codec": "mp3"},
        {"audio_profile": "HE-AAC"},
        {"audio_channels": 6},
    ],
)
def test_anything_else_is_encoded_anew(change: dict[str, object]) -> None:
    assert not plays_everywhere(GOOD._replace(**change))


def test_a_file_that_ends_well_before_its_time_is_cut() -> None:
    assert ends_early(10.0, [4.0, 5.0])
    assert not ends_early(10.0, [9.7, 3.0])
    assert not ends_early(0.4, [])
    assert not ends_early(None, [1.0])
