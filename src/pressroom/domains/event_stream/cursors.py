"""Cursors: places among the events of an account (docs/events.md#cursors). Pure."""

import base64
import binascii
import hashlib
import re
import struct
from typing import Final, NamedTuple, Self

from pressroom.errors import Code, FieldError, Invalid

_FORM: Final = re.compile(r"[0-9A-Za-z_-]{22}")
_PARTS: Final = struct.Struct(">q8s")
_UNMARKED: Final = bytes(8)


class Cursor(NamedTuple):
    """The place behind an event.

    Attributes:
        number: The event's number; 0: before the first.
        mark: A digest of the event's id; zeros when no event is known to have stood there.
    """

    number: int
    mark: bytes = _UNMARKED

    @classmethod
    def behind(cls, number: int, event_id: str | None) -> Self:
        """Returns the place behind an event, None when it has been removed."""
        return cls(number, _UNMARKED if event_id is None else _mark(event_id))

    def fits(self, event_id: str) -> bool:
        """Returns whether the event with the cursor's number is still the one that the cursor was made of."""
        return self.mark in (_UNMARKED, _mark(event_id))

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(_PARTS.pack(self.number, self.mark)).decode().rstrip("=")


def parse_cursor(text: str, field: str) -> Cursor:
    """Returns the cursor of a text. Raises Invalid, which names `field`."""
    if _FORM.fullmatch(text):
        try:
            cursor = Cursor(*_PARTS.unpack(base64.urlsafe_b64decode(f"{text}==")))
        except (binascii.Error, struct.error):
            cursor = Cursor(-1)
        # The last character holds bits that are not used: only one form of each cursor is taken.
        if cursor.number >= 0 and str(cursor) == text:
            return cursor
    message = "This is no cursor: use one that an answer gave, unchanged, or leave it out to begin now."
    raise Invalid([FieldError(field, Code.INVALID_FORMAT, message)])


def _mark(event_id: str) -> bytes:
    return hashlib.sha256(event_id.encode()).digest()[:8]
