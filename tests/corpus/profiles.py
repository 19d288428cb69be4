"""Colour profiles made by hand, with whatever somebody may put into one."""

import struct
from collections.abc import Mapping
from typing import Final

PLACE: Final = "52.520008, 13.404954"
"""Where somebody lives."""

P3: Final = {
    "rXYZ": (0.51512, 0.2412, -0.00105),
    "gXYZ": (0.29198, 0.69225, 0.04189),
    "bXYZ": (0.1571, 0.06657, 0.78407),
}
SRGB: Final = {
    "rXYZ": (0.43607, 0.22249, 0.01392),
    "gXYZ": (0.38515, 0.71687, 0.09708),
    "bXYZ": (0.14307, 0.06061, 0.7141),
}


def xyz(*numbers: float) -> bytes:
    """A tag of type XYZ."""
    return b"XYZ " + bytes(4) + struct.pack(">3i", *(round(number * 65_536) for number in numbers))


def text(words: str) -> bytes:
    """A tag of type text."""
    return b"text" + bytes(4) + words.encode() + b"\0"


def unicode(words: str) -> bytes:
    """A tag of type multi-localized Unicode."""
    data = words.encode("utf-16-be")
    return b"mluc" + bytes(4) + struct.pack(">II4sII", 1, 12, b"deDE", len(data), 28) + data


def gamma(power: float = 2.2) -> bytes:
    """A curve that is one number."""
    return b"curv" + bytes(4) + struct.pack(">IH", 1, round(power * 256))


def table(count: int = 256) -> bytes:
    """A curve of many points."""
    points = [round(65_535 * (place / (count - 1)) ** 2.2) for place in range(count)]
    return b"curv" + bytes(4) + struct.pack(f">I{count}H", count, *points)


def srgb_curve() -> bytes:
    """The curve of sRGB as a formula."""
    numbers = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    return b"para" + bytes(4) + struct.pack(">HH5i", 3, 0, *(round(number * 65_536) for number in numbers))


def profile(
    colours: Mapping[str, tuple[float, ...]] = P3,
    curve: bytes = b"",
    *,
    version: int = 4,
    more: Mapping[str, bytes] | None = None,
    **header: bytes,
) -> bytes:
    """A profile of a matrix and curves, which says where it was made in every place that takes a word."""
    tags = {
        "desc": unicode(f"Made at {PLACE}") if version == 4 else text(PLACE),
        "cprt": unicode(PLACE) if version == 4 else text(PLACE),
        "wtpt": xyz(0.9642, 1, 0.8249),
        **{name: xyz(*numbers) for name, numbers in colours.items()},
        **dict.fromkeys(("rTRC", "gTRC", "bTRC"), (curve or srgb_curve()) + PLACE.encode()),
        "dmnd": unicode(PLACE),
        "dmdd": text(PLACE),
        "GPS ": PLACE.encode(),
        "priv": PLACE.encode("utf-16-le"),
        "meta": b"dict" + PLACE.encode(),
        **(more or {}),
    }
    head = bytearray(128)
    head[4:8] = b"52.5"
    head[8] = version
    head[12:24] = b"mntrRGB XYZ "
    head[24:36] = struct.pack(">6H", 2026, 11, 22, 2, 13, 7)
    head[36:40] = b"acsp"
    head[48:56] = b"13.40495"
    head[68:80] = struct.pack(">3i", 63_190, 65_536, 54_061)
    head[80:84] = b"4954"
    head[84:128] = PLACE.encode().ljust(44)
    for name, value in header.items():
        start = {"kind": 12, "space": 16, "connection": 20, "magic": 36}[name]
        head[start : start + 4] = value
    entries, content = b"", b""
    for name, data in tags.items():
        entries += struct.pack(">4sII", name.encode(), 132 + 12 * len(tags) + len(content), len(data))
        content += data + bytes(-len(data) % 4)
    # What no tag names may lie behind them all the same.
    whole = bytes(head) + struct.pack(">I", len(tags)) + entries + content + PLACE.encode()
    return struct.pack(">I", len(whole)) + whole[4:]
