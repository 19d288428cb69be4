"""People's text as pages show it. Pure."""

import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from pressroom.entities import Entity, EntityKind, count_signs, ends_surely, find_entities

ZERO_WIDTH_JOINER: Final = "\u200d"

IN_LIST: Final = 1_000
"""Characters of a text that a list of posts shows of it at the most."""

LINES_IN_LIST: Final = 16
LINKS_IN_LIST: Final = 50
"""Links among these; the text after them is left to the permalink."""

PART_LINKS: Final = 100
"""Links in one part of a long text."""

LINK_WEIGHT: Final = 20
"""About how many characters cost as much to render as one link."""

_REL: Final = 'rel="nofollow noopener ugc"'


class Shortened(NamedTuple):
    """The beginning of a text as a list shows it, and whether there is more."""

    html: Markup
    more: bool


def linked(text: str, most: int | None = None) -> Markup:
    """A text as HTML with its hashtags, mentions and URLs linked, the first `most` of them, and everything escaped.

    The text is shown character by character: URLs are shown as written and line breaks stay line breaks,
    which a style sheet is to show (`white-space: pre-line`). A URL whose host cannot be parsed is not linked.
    """
    return _markup(_pieces(text, islice(find_entities(text), most)))


def linked_parts(text: str) -> Iterator[Markup]:
    """Yields a whole text as `linked` does, a part at a time, so that a page can be rendered in slices."""
    pieces = _pieces(text, find_entities(text))
    while part := _markup(islice(pieces, 2 * PART_LINKS)):
        yield part


@lru_cache(512)  # The newest posts are on the pages of many readers, each rendered anew: a tenth of a page.
def shortened(text: str) -> Shortened:
    """The beginning of a text: as many characters, lines and links as a list shows, and then `…`.

    It ends after a word where it can. An entity that it cuts is not linked.
    """
    start = "\n".join(text[:IN_LIST].split("\n", LINES_IN_LIST)[:LINES_IN_LIST])
    if len(start) == len(text) and count_signs(text) <= LINKS_IN_LIST:
        return Shortened(linked(text), more=False)
    if len(start) == IN_LIST < len(text):
        end = max(start.rfind(" ", IN_LIST // 2), start.rfind("\n", IN_LIST // 2))
        start = start[: _character_end(text, IN_LIST) if end < 0 else end]
    found = list(islice(find_entities(start), LINKS_IN_LIST + 1))
    if len(found) > LINKS_IN_LIST:
        start = start[: found.pop().start]
    elif found and _is_cut(text, len(start)) and not ends_surely(found[-1], start):
        found.pop()
    more = len(start) < len(text)
    html = _markup(_pieces(start.rstrip() if more else start, found))
    return Shortened(html + "…" if more else html, more)


def weight(text: str) -> int:
    """Returns the approximate cost of rendering a text, in characters."""
    return len(text) + LINK_WEIGHT * count_signs(text)


def excerpt(text: str, longest: int) -> str:
    """A text on one line of at most `longest` code points, for titles and descriptions; not yet escaped.

    Runs of white space become one space. Longer text ends in `…`: after a word if that keeps at least half
    of what fits, else between two characters, never between a letter and its marks or within a joined emoji.
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    if longest < 1:
        return ""
    most = longest - 1
    end = line.rfind(" ", most // 2, most + 1)
    return line[: _character_end(line, most) if end < 1 else end].rstrip() + "…"


def _markup(pieces: Iterable[str]) -> Markup:
    return Markup("".join(pieces))  # noqa: S704  # `_pieces` escapes


def _pieces(text: str, found: Iterable[Entity]) -> Iterator[str]:
    """The HTML of what stands before each entity and of that entity, in turn, and of what stands after the last."""
    position = 0
    for entity in found:
        yield str(escape(text[position : entity.start]))
        yield _link(entity, text[entity.start : entity.end])
        position = entity.end
    yield str(escape(text[position:]))


def _link(entity: Entity, written: str) -> str:
    # Put together by hand: Markup.format takes ten times as long. Hashtags and mentions hold nothing to escape, and
    # quote() leaves nothing that has a meaning in HTML.
    match entity.kind:
        case EntityKind.HASHTAG:
            return f'<a href="/tag/{quote(entity.name, safe="")}">{written}</a>'
        case EntityKind.MENTION:
            return f'<a href="/@{entity.name}">{written}</a>'
        case EntityKind.URL:
            shown = escape(written)
            return f'<a href="{shown}" {_REL}>{shown}</a>' if _has_host(entity.name) else str(shown)


def _is_cut(text: str, end: int) -> bool:
    """Returns whether a word may go on behind `end`."""
    return end < len(text) and not text[end].isspace()


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _character_end(line: str, end: int) -> int:
    """Returns the last place up to `end` that splits no character from its marks; `end` if there is none."""
    place = end
    while place and _belong_together(line[place - 1], line[place]):
        place -= 1
    return place or end


def _belong_together(before: str, after: str) -> bool:
    return ZERO_WIDTH_JOINER in (before, after) or unicodedata.category(after).startswith("M")
