"""Wire shapes of the privacy package."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.domains.accounts.schemas import AuthorOut
from pressroom.domains.privacy.models import FILTERS, Place, WordFilter, compared
from pressroom.errors import Code, FieldError
from pressroom.text import is_blank
from pressroom.web.json_bodies import Body
from pressroom.web.wire import NextCursor


class BlockedOut(msgspec.Struct):
    """Whether the caller blocks the account now."""

    blocked: bool


class MutedOut(msgspec.Struct):
    """Whether the caller mutes the account now."""

    muted: bool


class PeopleOut(msgspec.Struct, rename="camel"):
    """A page of accounts, newest account first."""

    accounts: list[AuthorOut]
    next_cursor: NextCursor


class FilterIn(Body):
    """A word or phrase to leave out."""

    text: Annotated[
        str,
        Meta(max_length=100, description="A word or phrase: case, accents and punctuation do not matter."),
    ]
    whole_word: Annotated[bool | None, Meta(description="false: also inside other words. Absent: true.")] = None
    places: (
        Annotated[
            list[Place],
            Meta(min_length=1, max_length=2, description="The lists that leave matching posts out. Absent: both."),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from _text_errors("text", self.text)

    def word_filter(self) -> WordFilter:
        """Returns the filter for the action."""
        return WordFilter(
            self.text,
            whole_word=self.whole_word is not False,
            timeline=self.places is None or Place.TIMELINE in self.places,
            notifications=self.places is None or Place.NOTIFICATIONS in self.places,
        )


class RemoveFilter(Body):
    """The word filter to remove."""

    text: Annotated[str, Meta(max_length=100)]


class SetFilters(Body):
    """All word filters of the account, instead of those before."""

    filters: Annotated[list[FilterIn], Meta(max_length=FILTERS, extra_json_schema={"uniqueItems": True})]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        seen: set[str] = set()
        for place, each in enumerate(self.filters or []):
            text = each.text if each else None
            if text is None:  # wrong by its type
                continue
            yield from _text_errors(f"filters[{place}].text", text)
            words = compared(text)
            if words in seen and not is_blank(words):
                yield FieldError(f"filters[{place}].text", Code.DUPLICATE, f"{text} is listed twice.")
            seen.add(words)

    @classmethod
    def example(cls) -> Self:
        return cls(filters=[FilterIn(text="election", whole_word=True, places=[Place.TIMELINE])])


def _text_errors(field: str, text: str | None) -> Iterator[FieldError]:
    if is_blank(text):
        yield FieldError(field, Code.REQUIRED, "A filter needs a word or phrase.")
    elif text is not None and is_blank(compared(text)):
        yield FieldError(field, Code.INVALID_FORMAT, "A filter needs more than punctuation.")


class FilterOut(msgspec.Struct, rename="camel"):
    """A word or phrase that is left out."""

    text: str
    whole_word: bool
    places: list[Place]


class FiltersOut(msgspec.Struct):
    """All word filters of the account, in its own order."""

    filters: list[FilterOut]


def filters_shape(filters: Sequence[WordFilter]) -> FiltersOut:
    """Returns the word filters of an account."""
    return FiltersOut([FilterOut(each.text, each.whole_word, each.places) for each in filters])
