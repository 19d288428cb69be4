"""A search, parsed from its text (docs/search.md#operators), and the indexed words of a post."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from pressroom.clock import DAY, SECOND
from pressroom.entities import EntityKind, entities, hashtags
from pressroom.words import words_of

SPAN_BITS: Final = 15
"""The posts whose numbers differ in their last bits alone are a span: one word of the index finds them all."""

OCCURRENCES: Final = 255
"""Times that a word of one post is indexed: a tsvector of PostgreSQL holds no more places of a word."""

ANYWHERE: Final = 1_000_000
"""Words between the phrases of a NEAR of FTS5: more than a post has."""

FILLER: Final = ":"
"""Stands in the index for further occurrences of a word, so that words beside them are not taken for neighbours."""

_PART: Final = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
_OPERATOR: Final = re.compile(r"(from|has|since|until):(.+)", re.IGNORECASE)
_NAME: Final = re.compile(r"@?([A-Za-z0-9_]{3,30})")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_IN_WORDS: Final = re.compile(r"[\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f\s]")

KINDS_OF_PARTS: Final = frozenset({"media", "link", "poll"})
"""What `has:` takes."""

Phrase = tuple[str, ...]
"""Words of the index that follow each other; of a hashtag and the like, a single one."""


class Search(msgspec.Struct, frozen=True):
    """A search for posts: all of its conditions hold.

    `wanted` and `unwanted` are phrases; `authors` and `not_authors` folded user names. `since` and `until` are the
    first and the last millisecond.
    """

    wanted: tuple[Phrase, ...] = ()
    unwanted: tuple[Phrase, ...] = ()
    authors: tuple[str, ...] = ()
    not_authors: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None

    @property
    def words(self) -> int:
        """Returns how many words it has; of a run without spaces, pairs of characters."""
        return sum(map(len, (*self.wanted, *self.unwanted)))

    @property
    def is_empty(self) -> bool:
        """Returns whether there is no condition."""
        return self == Search()


class _Parts(msgspec.Struct):
    """The conditions that were found so far."""

    wanted: dict[Phrase, None] = msgspec.field(default_factory=dict[Phrase, None])
    unwanted: dict[Phrase, None] = msgspec.field(default_factory=dict[Phrase, None])
    authors: dict[str, None] = msgspec.field(default_factory=dict[str, None])
    not_authors: dict[str, None] = msgspec.field(default_factory=dict[str, None])
    since: int | None = None
    until: int | None = None


def parse_search(text: str) -> Search:
    """Parses the text of a search. No text is an error: all but operators are words."""
    parts = _Parts()
    for minus, quoted, plain in _PART.findall(text):
        if plain and _take_operator(parts, plain, without=bool(minus)):
            continue
        if phrase := tuple(words_of(plain or quoted)):
            (parts.unwanted if minus else parts.wanted)[phrase] = None
    return Search(
        tuple(parts.wanted),
        tuple(parts.unwanted),
        tuple(parts.authors),
        tuple(parts.not_authors),
        parts.since,
        parts.until,
    )


def _take_operator(parts: _Parts, text: str, *, without: bool) -> bool:
    """Adds the condition of an operator. Returns False when the text is no operator."""
    phrases = parts.unwanted if without else parts.wanted
    if tag := _tag_of(text):
        phrases[tag_word(tag),] = None
        return True
    operator = _OPERATOR.fullmatch(text)
    if operator is None:
        return False
    name, value = operator[1].lower(), operator[2]
    if name == "from" and (named := _NAME.fullmatch(value)):
        (parts.not_authors if without else parts.authors)[named[1].casefold()] = None
    elif name == "has" and value.lower() in KINDS_OF_PARTS:
        phrases[part_word(value.lower()),] = None
    elif name in {"since", "until"} and not without and (day := _day_of(value)) is not None:
        if name == "since":
            parts.since = day if parts.since is None else max(parts.since, day)
        else:
            parts.until = day + DAY - 1 if parts.until is None else min(parts.until, day + DAY - 1)
    else:
        # An unknown operator, or one with a wrong value, is searched as words: somebody may look for "12:30".
        return False
    return True


def _tag_of(text: str) -> str | None:
    """Returns the identity of the hashtag that a text is, and nothing else."""
    if not text.startswith("#"):
        return None
    found = next(iter(entities(text)), None)
    is_tag = found is not None and found.kind is EntityKind.HASHTAG and found.end == len(text)
    return found.name if found is not None and is_tag else None


def _day_of(text: str) -> int | None:
    """Returns the first millisecond of a day in UTC, `2026-11-20`; None for other texts."""
    if not _DAY.fullmatch(text):
        return None
    try:
        return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND
    except ValueError:
        return None


def tag_word(identity: str) -> str:
    """Returns the word of the index that stands for a hashtag. Its sign is in no word of a text."""
    return f"#{_NOT_IN_WORDS.sub('_', identity)}"


def author_word(account_id: str) -> str:
    """Returns the word of the index that stands for an author."""
    return f"@{account_id.lower()}"


def part_word(kind: str) -> str:
    """Returns the word of the index that stands for a part of a post: `media`, `link` or `poll`."""
    return f":{kind}"


def span_word(span: int) -> str:
    """Returns the word of the index that stands for a span of posts."""
    return f"~{span}"


def words_of_post(
    content: str, *, number: int, account_id: str, has_media: bool, has_poll: bool, has_link: bool
) -> list[str]:
    """Returns the words by which a post with this number is found, in the order of its text."""
    found = entities(content)
    link = has_link or any(entity.kind is EntityKind.URL for entity in found)
    parts = [kind for kind, has in (("media", has_media), ("poll", has_poll), ("link", link)) if has]
    return [
        *_each_often_enough(list(words_of(content))),
        *map(tag_word, hashtags(found)),
        *map(part_word, parts),
        author_word(account_id),
        span_word(number >> SPAN_BITS),
    ]


def _each_often_enough(words: list[str]) -> list[str]:
    """Returns words with fillers in place of those that come too often."""
    if len(words) <= OCCURRENCES:
        return words
    counts = Counter[str]()
    for place, word in enumerate(words):
        counts[word] += 1
        if counts[word] > OCCURRENCES:
            words[place] = FILLER
    return words


def fts5_query(wanted: Sequence[Phrase], unwanted: Sequence[Phrase], span: int) -> str:
    """Returns a query of FTS5 for the posts of a span that have all wanted phrases and no unwanted one."""
    both = " AND ".join(_in_span(phrase, span) for phrase in [*wanted, (span_word(span),)])
    return f"({both}) NOT ({' OR '.join(_in_span(phrase, span) for phrase in unwanted)})" if unwanted else both


def tsquery(wanted: Sequence[Phrase], unwanted: Sequence[Phrase]) -> str:
    """Returns phrases as a tsquery of PostgreSQL; empty without any."""
    return " & ".join([*map(_in_order, wanted), *(f"!({_in_order(phrase)})" for phrase in unwanted)])


def tsvector(words: Sequence[str]) -> str:
    """Returns words, in the order of their text, as a tsvector of PostgreSQL."""
    return " ".join(f"'{word}':{place}" for place, word in enumerate(words, 1) if word != FILLER)


def _in_span(phrase: Phrase, span: int) -> str:
    words = " ".join(phrase)
    if len(phrase) == 1:
        return f'"{words}"'
    # FTS5 looks for the next post with a phrase on its own, in all spans. NEAR makes the span's word a part of it.
    return f'NEAR("{span_word(span)}" "{words}", {ANYWHERE})'


def _in_order(phrase: Phrase) -> str:
    words = "' <-> '".join(phrase)
    return f"('{words}')"
