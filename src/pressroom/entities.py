"""Hashtags, mentions and URLs in text (docs/posts.md#hashtags-and-mentions). Pure.

Everything is counted in code points and takes time linear in the length of the text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec

from pressroom.text import normalise

LONGEST_HASHTAG: Final = 100
"""Characters that the name of a hashtag has at most, as it was written and without its sign."""

_ANY_SIGN: Final = re.compile(r"#|@|://")
_HASH_OR_AT: Final = re.compile(r"[#@]")
_USERNAME: Final = re.compile(r"[A-Za-z0-9_]{3,30}+(?![A-Za-z0-9_])")
# Without ASCII, IGNORECASE takes U+017F (long s) for an s.
_SCHEME: Final = re.compile(r"(?<![A-Za-z0-9_])https?://", re.ASCII | re.IGNORECASE)
_BRACKET_OR_END: Final = re.compile(r"[()\[\]{}<>\s\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_TRAILING: Final = ".,;:!?'\""
_EMOJI_MARKS: Final = "\ufe0f\u20e3"
"""Marks that make an emoji of the sign before them, so that it ends no word."""

LONGEST_IDENTITY: Final = 200
"""Code points of a hashtag's identity. It can be longer than its name, and is cut there so that it can be indexed."""

_WORD_CATEGORIES: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd"})


class EntityKind(StrEnum):
    """The kinds of entities in a text."""

    HASHTAG = "hashtag"
    MENTION = "mention"
    URL = "url"


class Entity(msgspec.Struct, frozen=True):
    """A hashtag, mention or URL at `[start, end)`, counted in code points with the sign (`#`, `@`) included.

    `name` is the identity of a hashtag, the user name of a mention as written, the address of a URL as written.
    """

    kind: EntityKind
    start: int
    end: int
    name: str


def entities(text: str) -> list[Entity]:
    """Returns the hashtags, mentions and URLs of a text in their order, as `find_entities` yields them."""
    return list(find_entities(text))


def find_entities(text: str) -> Iterator[Entity]:
    """Yields the hashtags, mentions and URLs of a text in their order; no two overlap.

    A word character is a letter, mark or decimal digit (Unicode categories L*, M*, Nd) or `_`.

    - URL: `http://` or `https://` in any case, not directly after an ASCII letter, digit or `_`; then a letter,
      digit or `[`; up to white space, a control character or an explicit bidi control (embedding, override,
      isolate). It ends before a closing bracket that it did not open, and before any number of `. , ; : ! ? ' "`
      at its end. Each of the pairs () [] {} <> is counted for itself, so pairs may cross; an opening bracket that
      is never closed belongs to the URL.
    - Hashtag: `#`, not directly after a word character, `&` or `/`; then 1 to 100 word characters, at least one
      of them a letter. More than 100 make none. A mark that ends an emoji does not count as a word before it.
    - Mention: `@`, not directly after the same; then 3 to 30 of A-Z a-z 0-9 _ and no further one of those.

    URLs come first: no character of a URL belongs to a hashtag or mention, so `#http://example.org` is a URL.
    """
    if not _ANY_SIGN.search(text):
        return
    position = 0
    for url in _urls(text):
        yield from _hashtags_and_mentions(text, position, url.start)
        yield url
        position = url.end
    yield from _hashtags_and_mentions(text, position, len(text))


def count_signs(text: str) -> int:
    """Returns how many hashtags, mentions and URLs a text can hold at most, without scanning it."""
    return text.count("#") + text.count("@") + text.count("://")


def ends_surely(entity: Entity, text: str) -> bool:
    """Returns whether an entity of `text` would be the same if more text followed."""
    return bool(text[entity.end :].strip(_TRAILING))


@lru_cache(maxsize=4_096)
def tag_identity(name: str) -> str:
    """Returns the identity of a hashtag from its name without the sign: NFKC and case-folded.

    The identity of an identity is itself. It can be longer than the name, and can hold what no name does: U+FDFA,
    one letter, becomes four words. It is cut after 200 code points.
    """
    folded = unicodedata.normalize("NFKC", normalise(name)).casefold()
    return unicodedata.normalize("NFKC", folded)[:LONGEST_IDENTITY]


def hashtags(found: Iterable[Entity]) -> list[str]:
    """Returns the identities of the hashtags among entities, each once, in the order of their first appearance."""
    return list(dict.fromkeys(entity.name for entity in found if entity.kind is EntityKind.HASHTAG))


def mentions(found: Iterable[Entity]) -> list[str]:
    """Returns the case-folded user names mentioned among entities, each once, in the order of first appearance."""
    return list(dict.fromkeys(entity.name.casefold() for entity in found if entity.kind is EntityKind.MENTION))


def _urls(text: str) -> Iterator[Entity]:
    position = 0
    while scheme := _SCHEME.search(text, position):
        start, position = scheme.span()
        if position < len(text) and _begins_host(text[position]):
            position = _url_end(text, position)
            yield Entity(EntityKind.URL, start, position, text[start:position])


def _begins_host(character: str) -> bool:
    return character == "[" or character.isalpha() or character.isdecimal()


def _url_end(text: str, host: int) -> int:
    """Returns the end of the URL whose host begins at `host`."""
    end = len(text)
    awaited = dict.fromkeys(_CLOSING.values(), 0)
    for match in _BRACKET_OR_END.finditer(text, host):
        character = match[0]
        if character in _CLOSING:
            awaited[_CLOSING[character]] += 1
        elif awaited.get(character):
            awaited[character] -= 1
        else:
            end = match.start()
            break
    return host + len(text[host:end].rstrip(_TRAILING))


def _hashtags_and_mentions(text: str, start: int, end: int) -> Iterator[Entity]:
    """Those of `[start, end)`, where no URL is."""
    for sign in _HASH_OR_AT.finditer(text, start, end):
        at = sign.start()
        if at and not _may_stand_before(text[at - 1]):
            continue
        entity = _hashtag(text, at, end) if sign[0] == "#" else _mention(text, at, end)
        if entity:
            yield entity


def _may_stand_before(character: str) -> bool:
    return character in _EMOJI_MARKS or not (character in "&/" or _is_word_character(character))


def _hashtag(text: str, at: int, end: int) -> Entity | None:
    stop = at + 1
    furthest = min(end, stop + LONGEST_HASHTAG + 1)
    while stop < furthest and _is_word_character(text[stop]):
        stop += 1
    name = text[at + 1 : stop]
    if len(name) > LONGEST_HASHTAG or not any(character.isalpha() for character in name):
        return None
    return Entity(EntityKind.HASHTAG, at, stop, tag_identity(name))


def _mention(text: str, at: int, end: int) -> Entity | None:
    name = _USERNAME.match(text, at + 1, end)
    return Entity(EntityKind.MENTION, at, name.end(), name[0]) if name else None


def _is_word_character(character: str) -> bool:
    return character == "_" or unicodedata.category(character) in _WORD_CATEGORIES
