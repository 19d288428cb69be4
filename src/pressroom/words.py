"""Words of a text for search, alike on both engines (docs/search.md#words). Pure, in linear time.

Case, diacritics and compatibility forms do not count. Scripts without spaces between words become overlapping pairs of
characters, so that a text is found by any two characters of it that follow each other.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Final

LONGEST: Final = 64
"""Characters of a word that count; longer words are compared by these."""

FOLDED: Final = 10_000
"""Characters of a folded text that count. It can be longer than the text: U+FDFA alone becomes four words."""

PIECE: Final = 500
"""Characters that are brought into compatibility form at once."""

_UNSPACED: Final = (
    "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3105-\u312f"  # kana, Bopomofo
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul: words have endings that no space separates
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u1780-\u17d3\u17d7\u17dc\u17dd\u1000-\u103f\u1050-\u109f"
)
"""Ranges of a regular expression's character class: Han, kana, Hangul, Thai, Lao, Khmer and Myanmar."""

# Those that spell a vowel or another consonant, as in scripts of India and in kana, stay.
_DIACRITICS: Final = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]+"
)
"""Marks that do not count: accents, points of Hebrew, vowel signs of Arabic."""

_PLAIN: Final = re.compile("[a-z0-9]+")


def fold(text: str) -> str:
    """Returns a text in normal form C without case, diacritics and compatibility forms, which do not count."""
    if text.isascii():
        return text[:FOLDED].lower()
    compatible = "".join(_compatible(text))[:FOLDED].casefold()
    return unicodedata.normalize("NFC", _DIACRITICS.sub("", unicodedata.normalize("NFD", compatible)))


def words_of(text: str) -> Iterator[str]:
    """Yields the words of a text in their order; of a run without spaces, its pairs of characters."""
    folded = fold(text)
    if folded.isascii():
        yield from (word[:LONGEST] for word in _PLAIN.findall(folded))
        return
    for spaced, unspaced in _RUNS.findall(folded):
        if spaced:
            yield spaced[:LONGEST]
        elif len(unspaced) == 1:
            yield unspaced
        else:
            yield from (unspaced[place : place + 2] for place in range(len(unspaced) - 1))


def beginnings_of(name: str) -> list[str]:
    """Returns the words by whose beginning a name is found, each once; of a run without spaces, each of its ends."""
    found: dict[str, None] = {}
    for spaced, unspaced in _RUNS.findall(fold(name)):
        if spaced:
            found[spaced[:LONGEST]] = None
        for place in range(len(unspaced)):
            found[unspaced[place : place + LONGEST]] = None
    return list(found)


def runs_of(text: str) -> list[str]:
    """Returns the words of a text; a run without spaces counts as one. A name that begins with it is found."""
    return [(spaced or unspaced)[:LONGEST] for spaced, unspaced in _RUNS.findall(fold(text))]


def _compatible(text: str) -> Iterator[str]:
    """Yields a text in pieces, in compatibility form, until they are enough: it can become 18 times as long."""
    length = 0
    for start in range(0, len(text), PIECE):
        piece = unicodedata.normalize("NFKC", text[start : start + PIECE])
        yield piece
        length += len(piece)
        if length >= FOLDED:
            return


def _is_mark(number: int) -> bool:
    return unicodedata.category(chr(number))[0] == "M"


def _as_ranges(numbers: Iterator[int]) -> Iterator[str]:
    """Yields the ranges of a character class for sorted code points."""
    for _, run in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        group = [number for _, number in run]
        yield f"{chr(group[0])}-{chr(group[-1])}"


_MARKS: Final = "".join(_as_ranges(number for number in range(0x300, 0x20000) if _is_mark(number)))
_RUNS: Final = re.compile(f"((?:(?![{_UNSPACED}])[^\\W_]|(?![{_UNSPACED}])[{_MARKS}])+)|([{_UNSPACED}]+)")
"""Matches a word of letters, marks and digits, or a run of a script without spaces."""
