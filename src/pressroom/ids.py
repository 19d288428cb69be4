"""Identifiers and secrets. Pure but for the operating system's randomness."""

import secrets

from ulid import ULID

BEYOND = "~"
"""Sorts after every identifier: where a list that runs backwards begins."""

LATEST = 2**48 - 1
"""The last millisecond that an identifier can bear."""

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def new_id(now: int) -> str:
    """An opaque identifier of 26 characters that sorts by its time (a ULID). `now` is in milliseconds."""
    return str(ULID.from_timestamp(now))


def time_of(identifier: str) -> int:
    """The time, in milliseconds, that an identifier was made with."""
    return ULID.from_str(identifier).milliseconds


def first_id(at: int) -> str:
    """The first of all identifiers made at `at` (milliseconds)."""
    return _timestamp(at) + "0" * 16


def last_id(at: int) -> str:
    """The last of all identifiers made at `at` (milliseconds)."""
    return _timestamp(at) + "Z" * 16


def _timestamp(at: int) -> str:
    return str(ULID.from_timestamp(min(max(at, 0), LATEST)))[:10]


def random_base62(length: int) -> str:
    """`length` characters of 0-9A-Za-z, unpredictable."""
    return "".join(secrets.choice(BASE62) for _ in range(length))


def base62(number: int, width: int) -> str:
    """A number in base 62, left-padded with `0` to `width` characters."""
    digits: list[str] = []
    while number:
        number, digit = divmod(number, 62)
        digits.append(BASE62[digit])
    return "".join(reversed(digits)).rjust(width, "0")
