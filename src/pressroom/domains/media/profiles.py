"""Reduces colour profiles (ICC.1:2022) to the tags that define the colours, since a profile may contain anything.

A profile is not copied but written again from the numbers of its matrix and curves. Everything else is dropped: names,
copyright, dates, devices, serial numbers, private tags.
"""

import struct
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

PROFILE_BYTES: Final = 1024 * 1024
"""Bytes of the longest profile that is accepted."""

TAGS: Final = 200
CURVE_POINTS: Final = 4_096
LARGEST: Final = 8 * 65_536
"""The largest number that is accepted in a matrix, in 1/65,536; colours need far less."""

_HEADER: Final = 128
_CLASSES: Final = (b"mntr", b"scnr", b"spac")
_D50: Final = (63_190, 65_536, 54_061)
_POINTS: Final = ("rXYZ", "gXYZ", "bXYZ")
_CURVES: Final = ("rTRC", "gTRC", "bTRC")
_PARAMETERS: Final = {0: 1, 1: 3, 2: 4, 3: 5, 4: 7}
"""The count of parameters of each type of parametric curve."""

_NAME: Final = b"RGB"
_WIDE_NAME: Final = b"\0R\0G\0B"
"""_NAME in UTF-16, as a literal because a confined child cannot load another codec."""


class _Unfit(Exception):
    """The profile is damaged, or is not made of a matrix and curves."""


def reduced(profile: bytes) -> bytes | None:
    """Returns an RGB profile that gives the same colours and contains nothing else.

    Returns None for a profile that is damaged, longer than PROFILE_BYTES, not for RGB, or that uses tables in several
    dimensions instead of a matrix and three curves.
    """
    try:
        return _written(profile, dict(_tags(profile)))
    except (_Unfit, struct.error):
        return None


def _tags(profile: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields name and data of each tag of a profile."""
    whole = _HEADER + 4 <= len(profile) <= PROFILE_BYTES and int.from_bytes(profile[:4], "big") == len(profile)
    if not whole or profile[36:40] != b"acsp" or profile[8] not in (2, 4):
        raise _Unfit
    if profile[12:16] not in _CLASSES or profile[16:20] != b"RGB " or profile[20:24] != b"XYZ ":
        raise _Unfit
    count = int.from_bytes(profile[_HEADER : _HEADER + 4], "big")
    if count > TAGS:
        raise _Unfit
    for place in range(count):
        name, offset, size = struct.unpack_from(">4sII", profile, _HEADER + 4 + 12 * place)
        if offset + size > len(profile):
            raise _Unfit
        yield name.decode("latin-1"), profile[offset : offset + size]


def _written(profile: bytes, tags: Mapping[str, bytes]) -> bytes:
    if any(name[:3] in ("A2B", "B2A", "D2B", "B2D") for name in tags) or not tags.keys() >= {*_POINTS, *_CURVES}:
        raise _Unfit
    curves = {name: _curve(tags[name]) for name in _CURVES}
    modern = profile[8] == 4 or any(curve.startswith(b"para") for curve in curves.values())
    kept = {
        "desc": _words(modern=modern, plain=b"desc" + bytes(4) + _described()),
        "cprt": _words(modern=modern, plain=b"text" + bytes(4) + _NAME + b"\0"),
        "wtpt": _point(tags["wtpt"]) if "wtpt" in tags else _numbers(b"XYZ ", _D50),
        **{name: _point(tags[name]) for name in _POINTS},
        **curves,
    }
    if "chad" in tags:
        kept["chad"] = _numbers(b"sf32", _read(tags["chad"], b"sf32", 9))
    header = struct.pack(
        ">I4sBBH4s4s4s6H4s4sII4sQI3i4s44x", 0, b"", 4 if modern else 2, 0x30 if modern else 0x10, 0,
        profile[12:16], b"RGB ", b"XYZ ", 2000, 1, 1, 0, 0, 0, b"acsp", b"", 0, 0, b"", 0, 0, *_D50, b"",
    )  # fmt: skip
    return _assembled(header, kept)


def _assembled(header: bytes, tags: Mapping[str, bytes]) -> bytes:
    """Returns a whole profile; tags with equal data share it."""
    table, content, places = b"", b"", dict[bytes, int]()
    start = len(header) + 4 + 12 * len(tags)
    for name, data in tags.items():
        if data not in places:
            places[data] = start + len(content)
            content += data + bytes(-len(data) % 4)
        table += struct.pack(">4sII", name.encode(), places[data], len(data))
    whole = header + struct.pack(">I", len(tags)) + table + content
    return struct.pack(">I", len(whole)) + whole[4:]


def _point(data: bytes) -> bytes:
    return _numbers(b"XYZ ", _read(data, b"XYZ ", 3))


def _read(data: bytes, kind: bytes, count: int) -> tuple[int, ...]:
    """Returns the first `count` numbers of a tag of this kind, in 1/65,536."""
    if data[:4] != kind:
        raise _Unfit
    numbers = struct.unpack_from(f">{count}i", data, 8)
    if any(abs(number) > LARGEST for number in numbers):
        raise _Unfit
    return numbers


def _numbers(kind: bytes, numbers: tuple[int, ...]) -> bytes:
    return kind + bytes(4) + struct.pack(f">{len(numbers)}i", *numbers)


def _curve(data: bytes) -> bytes:
    if data[:4] == b"para":
        (formula,) = struct.unpack_from(">H", data, 8)
        count = _PARAMETERS.get(formula)
        if count is None:
            raise _Unfit
        return b"para" + bytes(4) + struct.pack(f">HH{count}i", formula, 0, *struct.unpack_from(f">{count}i", data, 12))
    if data[:4] != b"curv":
        raise _Unfit
    (count,) = struct.unpack_from(">I", data, 8)
    if count > CURVE_POINTS:
        raise _Unfit
    points = struct.unpack_from(f">{count}H", data, 12)
    if any(later < earlier for earlier, later in pairwise(points)):
        raise _Unfit  # Not a curve: other data in its place.
    return b"curv" + bytes(4) + struct.pack(f">I{count}H", count, *points)


def _words(*, modern: bool, plain: bytes) -> bytes:
    """Returns a mandatory text tag in the form that the profile's version needs."""
    if not modern:
        return plain
    return b"mluc" + bytes(4) + struct.pack(">II4sII", 1, 12, b"enUS", len(_WIDE_NAME), 28) + _WIDE_NAME


def _described() -> bytes:
    text = _NAME + b"\0"
    return struct.pack(">I", len(text)) + text + bytes(4 + 4 + 2 + 1 + 67)
