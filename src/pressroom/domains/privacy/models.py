"""Word filters, and the texts that they match (docs/privacy.md#word-filters). Pure."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from pressroom.words import fold

FILTERS: Final = 100
"""Filters of an account."""

_BETWEEN_WORDS: Final = re.compile(r"[\s!-/:-@\[-`{-~\u00a1\u00ab\u00b7\u00bb\u00bf\u200b\u2010-\u203a\u3001-\u301f]+")
"""White space and punctuation; symbols such as emoji are words."""


class Place(StrEnum):
    """A list that a filter applies to."""

    TIMELINE = "timeline"
    NOTIFICATIONS = "notifications"


def compared(text: str) -> str:
    """Returns the words of a text in the form that is compared, between single spaces."""
    return f" {_BETWEEN_WORDS.sub(' ', fold(text)).strip()} "


class WordFilter(msgspec.Struct, frozen=True):
    """A word or phrase whose posts are left out of some lists. `whole_word`: parts of other words do not match."""

    text: str
    whole_word: bool
    timeline: bool
    notifications: bool

    @property
    def places(self) -> list[Place]:
        """Returns the lists that it applies to."""
        return [place for place in Place if getattr(self, place.value)]

    @property
    def words(self) -> str:
        """Returns its words in the form that is compared."""
        return compared(self.text)


class OwnedFilter(WordFilter, frozen=True):
    """A word filter with its account."""

    account_id: str


class Matcher:
    """The filters of an account for one list."""

    def __init__(self, filters: Iterable[WordFilter], place: Place) -> None:
        wanted = [each for each in filters if place in each.places]
        self._parts = [each.words if each.whole_word else each.words[1:-1] for each in wanted]

    def hides(self, *texts: str | None) -> bool:
        """Returns whether a filter matches one of the texts."""
        if not self._parts:
            return False
        words = [compared(text) for text in texts if text]
        return any(part in each for each in words for part in self._parts)
