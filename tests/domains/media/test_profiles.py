"""Colour profiles: the same colours, and nothing else that was in them."""

import io
import struct
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from pressroom.domains.media.profiles import CURVE_POINTS, PROFILE_BYTES, TAGS, reduced
from tests.corpus import profiles
from tests.corpus.pictures import srgb_profile
from tests.corpus.profiles import PLACE, SRGB, gamma, profile, srgb_curve, table, xyz

GOOD = {
    "Display P3": profile,
    "Display P3, older": lambda: profile(version=2, curve=gamma(2.2)),
    "of many points": lambda: profile(curve=table(1_024)),
    "a formula in an older version": lambda: profile(version=2),
    "sRGB": lambda: profile(SRGB),
    "what Pillow makes": srgb_profile,
    "a straight line": lambda: profile(curve=b"curv" + bytes(8)),
    "adapted": lambda: profile(more={"chad": b"sf32" + bytes(4) + struct.pack(">9i", *(65_536, 0, 0, 0) * 2, 65_536)}),
    "of a scanner": lambda: profile(kind=b"scnr"),
}


def colours(data: bytes) -> bytes:
    """What colours come to in sRGB by a profile: all corners of the cube and some between."""
    picture = Image.new("RGB", (6, 36))
    steps = range(0, 256, 51)
    picture.putdata([(r, g, b) for r in steps for g in steps for b in steps])
    shown = ImageCms.profileToProfile(
        picture, ImageCms.ImageCmsProfile(io.BytesIO(data)), ImageCms.createProfile("sRGB")
    )
    assert shown is not None
    return shown.tobytes()


@pytest.mark.parametrize("make", GOOD.values(), ids=list(GOOD))
def test_colours_stay_and_all_else_goes(make: Callable[[], bytes]) -> None:
    given_ = make()
    kept = reduced(given_)

    assert kept is not None
    assert colours(kept) == colours(given_)
    assert reduced(kept) == kept
    assert len(kept) <= len(given_)
    for words in (PLACE, PLACE[:4], "2026", "Made at"):
        for encoding in ("utf-8", "utf-16-be", "utf-16-le"):
            assert words.encode(encoding) not in kept
    assert kept[24:36] == struct.pack(">6H", 2000, 1, 1, 0, 0, 0), "not even when it was made"


def test_wide_pictures_keep_their_gamut() -> None:
    wide = reduced(profile())
    assert wide is not None
    assert xyz(*profiles.P3["rXYZ"]) in wide


BAD = {
    "empty": b"",
    "no profile": b"<script>alert(1)</script>" * 40,
    "cut off": profile()[:-1],
    "longer than it says": profile() + b"x",
    "too long": profile(more={"huge": bytes(PROFILE_BYTES)}),
    "of ink": profile(space=b"CMYK"),
    "of grey": profile(space=b"GRAY"),
    "to Lab": profile(connection=b"Lab "),
    "a link": profile(kind=b"link"),
    "not signed": profile(magic=b"acs?"),
    "of version 5": profile(version=5),
    "without curves": profile(more={"rTRC": b""}),
    "a curve of words": profile(curve=b"curv" + bytes(4) + struct.pack(">I", 10) + PLACE.encode()),
    "a curve of too many points": profile(curve=table(CURVE_POINTS + 1)),
    "a curve that is cut off": profile(more={"gTRC": table(300)[:100]}),
    "an unknown formula": profile(curve=b"para" + bytes(4) + struct.pack(">HH7i", 9, 0, *[65_536] * 7)),
    "another type": profile(more={"bXYZ": PLACE.encode()}),
    "words for a colour": profile(more={"bXYZ": b"XYZ " + bytes(4) + PLACE.encode()}),
    "tables": profile(more={"A2B0": b"mft2" + bytes(100)}),
    "too many tags": profile(more={f"{place:04}": b"" for place in range(TAGS)}),
}


@pytest.mark.parametrize("data", BAD.values(), ids=list(BAD))
def test_unknown_matrix_and_curves_are_none(data: bytes) -> None:
    assert reduced(data) is None


def test_a_tag_may_lie_anywhere_but_not_outside() -> None:
    data = bytearray(profile())
    struct.pack_into(">I", data, 132 + 12 * 2 + 4, 2**32 - 1)
    assert reduced(bytes(data)) is None


@given(st.data())
@settings(max_examples=400, derandomize=True, deadline=None)
def test_no_damage_makes_more_than_a_profile(data: st.DataObject) -> None:
    given_ = bytearray(profile(curve=data.draw(st.sampled_from([srgb_curve(), gamma(), table(16)]))))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(given_) - 1))
        given_[place] = data.draw(st.integers(0, 255))

    kept = reduced(bytes(given_))

    assert kept is None or (reduced(kept) == kept and PLACE[2:].encode() not in kept)
