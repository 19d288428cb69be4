"""Ids and secrets. Pure except for the operating system's random numbers."""

import secrets

from ulid import ULID

BEYOND = "~"
"""Sorts after every id: the `before` of a list's first page."""

LATEST = 2**48 - 1
"""The latest time (milliseconds) that an id can hold."""

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def new_id(now: int) -> str:
    """Returns a new id, a ULID: 26 characters that sort by `now` (milliseconds)."""
    return str(ULID.from_timestamp(now))


def time_of(identifier: str) -> int:
    """Returns the time (milliseconds) that an id was made with. Raises ValueError for what is no ULID."""
    return ULID.from_str(identifier).milliseconds


def id_before(identifier: str) -> str:
    """Returns the largest id that sorts before another. Raises ValueError for what is no ULID."""
    return str(ULID.from_int(max(int(ULID.from_str(identifier)) - 1, 0)))


def first_id(at: int) -> str:
    """Returns the smallest id that `at` (milliseconds) can have."""
    return _timestamp(at) + "0" * 16


def last_id(at: int) -> str:
    """Returns the largest id that `at` (milliseconds) can have."""
    return _timestamp(at) + "Z" * 16


def _timestamp(at: int) -> str:
    return str(ULID.from_timestamp(min(max(at, 0), LATEST)))[:10]


def random_base62(length: int) -> str:
    """Returns `length` unpredictable characters of 0-9A-Za-z."""
    return "".join(secrets.choice(BASE62) for _ in range(length))


def base62(number: int, width: int) -> str:
    """Returns a number in base 62, left-padded with `0` to `width` characters."""
    digits: list[str] = []
    while number:
        number, digit = divmod(number, 62)
        digits.append(BASE62[digit])
    return "".join(reversed(digits)).rjust(width, "0")
