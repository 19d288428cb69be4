"""Ids and secrets. Pure except for the operating system's random numbers."""

import re
import secrets
import threading
from typing import Final

from ulid import ULID

BEYOND = "~"
"""Sorts after every id: the `before` of a list's first page."""

LATEST = 2**48 - 1
"""The latest time (milliseconds) that an id can hold."""

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


_BASE32: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS32: Final = [first + second for first in _BASE32 for second in _BASE32]
_PAIRS62: Final = [first + second for first in BASE62 for second in BASE62]
"""Two digits at once, by their value."""

_ULID: Final = re.compile(f"[0-7][{_BASE32}]{{25}}")
_PYTHONS_BASE32: Final = str.maketrans(_BASE32, "0123456789abcdefghijklmnopqrstuv")
"""From the digits of a ULID to those that `int` reads."""

RANDOM_BITS: Final = 65
"""Of a ULID's 80; the other 15 are its place."""

PLACE: Final = 3
"""Characters at the end of an id or secret that hold its place (docs/architecture.md#places)."""

KEPT: Final = 16
"""Milliseconds behind the latest one in which ids still count up."""


class _Ids:
    """The latest id of this process: the next one of the same millisecond is one larger, so that ids sort as made.

    Transactions overlap, so the latest ones of some milliseconds before are kept too.
    """

    def __init__(self) -> None:
        self._time = -1
        self._stamp = ""
        self._random = 0
        self._before: dict[int, int] = {}
        self._lock = threading.Lock()

    def next(self, now: int, place: str) -> str:
        with self._lock:
            return self._next(now) + place

    def _next(self, now: int) -> str:
        if now == self._time and self._random < 2**RANDOM_BITS - 1:
            self._random += 1
        else:
            before = self._before
            before[self._time] = self._random
            # A transaction of an earlier millisecond goes on counting where that one stood: drawn anew, its id could
            # sort before one that is known already.
            self._random = before.pop(now, -1) + 1 if now != self._time else 0
            if not 0 < self._random < 2**RANDOM_BITS:
                # A new millisecond begins at random, so that ids of two processes do not meet and cannot be guessed.
                self._random = secrets.randbits(RANDOM_BITS)
            if len(before) > KEPT:
                del before[next(iter(before))]
            if now != self._time:
                self._stamp, self._time = _timestamp(now), now
        pairs, high, low = _PAIRS32, self._random >> 25, self._random & 0x1FFFFFF
        return (
            f"{self._stamp}{pairs[high >> 30]}{pairs[high >> 20 & 1023]}{pairs[high >> 10 & 1023]}{pairs[high & 1023]}"
            f"{pairs[low >> 15]}{pairs[low >> 5 & 1023]}{_BASE32[low & 31]}"
        )


_ids: Final = _Ids()


def new_id(now: int, beside: str = "") -> str:
    """Returns a new id, a ULID: 26 characters that sort by `now` (milliseconds).

    `beside` is an id whose place it takes, as that of its account or post; without one it draws its own.
    """
    return _ids.next(now, place_of(beside) or _new_place())


def place_of(identifier: str) -> str:
    """Returns the place of an id or of a secret: three characters of Crockford's base32, 15 bits."""
    return identifier[-PLACE:]


def _new_place() -> str:
    drawn = secrets.randbits(15)
    return f"{_PAIRS32[drawn >> 5]}{_BASE32[drawn & 31]}"


def new_token(beside: str) -> str:
    """Returns a secret of 240 random bits for a cookie or a link, with the place of the id `beside`: 43 characters."""
    return secrets.token_urlsafe(30) + place_of(beside)


def time_of(identifier: str) -> int:
    """Returns the time (milliseconds) that an id was made with. Raises ValueError for a text that is no ULID."""
    if not _ULID.fullmatch(identifier):
        raise ValueError("not a ULID")
    return int(identifier[:10].translate(_PYTHONS_BASE32), 32)


def id_before(identifier: str) -> str:
    """Returns the largest id that sorts before another. Raises ValueError for a text that is no ULID."""
    return str(ULID.from_int(max(int(ULID.from_str(identifier)) - 1, 0)))


def first_id(at: int) -> str:
    """Returns the smallest id that `at` (milliseconds) can have."""
    return _timestamp(at) + "0" * 16


def last_id(at: int) -> str:
    """Returns the largest id that `at` (milliseconds) can have."""
    return _timestamp(at) + "Z" * 16


def _timestamp(at: int) -> str:
    at, pairs = min(max(at, 0), LATEST), _PAIRS32
    high, low = at >> 20, at & 0xFFFFF
    return f"{pairs[high >> 20]}{pairs[high >> 10 & 1023]}{pairs[high & 1023]}{pairs[low >> 10]}{pairs[low & 1023]}"


def random_base62(length: int, beside: str = "") -> str:
    """Returns `length` characters of 0-9A-Za-z: unpredictable but for the last three with `beside`, its place."""
    place = place_of(beside)
    return "".join(secrets.choice(BASE62) for _ in range(length - len(place))) + place


def base62_of_32_bits(number: int) -> str:
    """Returns a number below 2^32 in base 62, left-padded with `0` to six characters."""
    high, low = divmod(number, 3_844)
    return f"{_PAIRS62[high // 3_844]}{_PAIRS62[high % 3_844]}{_PAIRS62[low]}"
