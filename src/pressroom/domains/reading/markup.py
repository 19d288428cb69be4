"""What people wrote, as a page shows it. Pure."""

import unicodedata
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from pressroom.text import Entity, EntityKind, entities

ZERO_WIDTH_JOINER: Final = "\u200d"

_TAG_LINK: Final = Markup('<a href="/tag/{}">{}</a>')
_PROFILE_LINK: Final = Markup('<a href="/@{}">{}</a>')
_URL_LINK: Final = Markup('<a href="{}" rel="nofollow noopener ugc">{}</a>')


def linked(text: str) -> Markup:
    """A text as HTML with its hashtags, mentions and URLs linked, and everything escaped.

    What is read is the text, character by character: URLs are shown as written and line breaks stay line breaks,
    which a style sheet is to show (`white-space: pre-line`). A URL whose host cannot be parsed is not linked.
    """
    return Markup("").join(_parts(text))


def excerpt(text: str, longest: int) -> str:
    """A text on one line of at most `longest` code points, for titles and descriptions; not yet escaped.

    Runs of white space become one space. What is too long ends in `…`: after a word if that keeps at least half
    of what fits, else between two characters, never between a letter and its marks or within a joined emoji.
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    if longest < 1:
        return ""
    room = longest - 1
    end = line.rfind(" ", room // 2, room + 1)
    return line[: _character_end(line, room) if end < 1 else end].rstrip() + "…"


def _parts(text: str) -> Iterator[Markup]:
    position = 0
    for entity in entities(text):
        yield escape(text[position : entity.start])
        yield _link(entity, text[entity.start : entity.end])
        position = entity.end
    yield escape(text[position:])


def _link(entity: Entity, written: str) -> Markup:
    match entity.kind:
        case EntityKind.HASHTAG:
            return _TAG_LINK.format(quote(entity.name, safe=""), written)
        case EntityKind.MENTION:
            return _PROFILE_LINK.format(entity.name, written)
        case EntityKind.URL:
            return _URL_LINK.format(entity.name, written) if _has_host(entity.name) else escape(written)


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _character_end(line: str, end: int) -> int:
    """The last place up to `end` at which no character is cut from what belongs to it; `end` if there is none."""
    place = end
    while place and _belong_together(line[place - 1], line[place]):
        place -= 1
    return place or end


def _belong_together(before: str, after: str) -> bool:
    return ZERO_WIDTH_JOINER in (before, after) or unicodedata.category(after).startswith("M")
