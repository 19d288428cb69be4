"""Text as people write it: its normal form, and the rules of names (docs/people.md#names). Pure, in linear time."""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from pressroom.errors import Code, FieldError

SHORT: Final = 64
"""Text of so few characters is normalised at once, whatever its content."""

CONTROLS: Final = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
INVISIBLE: Final = (
    rf"\s{CONTROLS}\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u202f\u205f-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
)
"""The contents of a class of characters in a regular expression: the members of INVISIBLE in the first plane."""

_CONTROL: Final = re.compile(f"[{CONTROLS}]")
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*")


def normalise(text: str) -> str:
    """Unicode normal form C, in which all text is measured, stored and returned. Takes time linear in its length."""
    if text.isascii():
        return text
    if len(text) > SHORT and _has_long_run(text):
        text = _in_canonical_order(text)
    return unicodedata.normalize("NFC", text)


def is_blank(text: str | None) -> bool:
    """Returns whether a text is absent, empty or white space alone."""
    return text is None or not text or text.isspace()


def is_invisible(text: str) -> bool:
    """Returns whether nothing of a text can be seen: it is empty, or of white space, joiners, fillers and the like."""
    return _INVISIBLE.fullmatch(text) is not None


def has_controls(text: str) -> bool:
    """Returns whether a text holds control characters, line breaks, or characters that set the direction of writing.

    In a name on a line of its own they would move or hide the following text.
    """
    return _CONTROL.search(text) is not None


def name_errors(field: str, name: str | None, what: str) -> Iterator[FieldError]:
    """Yields an error when a name shows nothing, or has characters that would move or hide the text beside it.

    Args:
        field: Where the name was given.
        name: The name; None when there is none. An empty one is left to the type of its field.
        what: Its name in the message, with the article: `A display name`.
    """
    if not name:
        return
    if is_invisible(name):
        yield FieldError(field, Code.TOO_SHORT, f"{what} must show something.")
    elif has_controls(name):
        message = f"{what} is one line, without control characters and marks of the direction of writing."
        yield FieldError(field, Code.INVALID_FORMAT, message)


def username_shape(username: str) -> str:
    """Returns a user name in lower case and without `_`, for comparison (docs/people.md#reserved-user-names)."""
    return username.lower().replace("_", "")


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the name of `known` that a misspelt one most likely stands for, in any case; None when none is near.

    Names longer than SHORT are not compared: that takes time that grows with the square of their length.
    """
    if len(name) > SHORT:
        return None
    folded = {each.lower(): each for each in known}
    return next((folded[close] for close in difflib.get_close_matches(name.lower(), folded, 1)), None)


def _has_long_run(text: str) -> bool:
    """Returns whether a letter has more marks than any script puts on one."""
    run = 0
    for character in text:
        run = run + 1 if _is_mark(character) else 0
        if run > SHORT:
            return True
    return False


def _in_canonical_order(text: str) -> str:
    """Decomposed, with the marks of each letter sorted.

    The library sorts them by insertion, in time that grows with the square of their number: 80,000 marks
    on one letter, which fit in a request, would take it twenty seconds.
    """
    decomposed = "".join(unicodedata.normalize("NFD", character) for character in text)
    runs = groupby(decomposed, key=lambda character: unicodedata.combining(character) != 0)
    return "".join("".join(sorted(run, key=unicodedata.combining)) if marks else "".join(run) for marks, run in runs)


def _is_mark(character: str) -> bool:
    return character > "\u02ff" and unicodedata.combining(unicodedata.normalize("NFD", character)[-1]) != 0
