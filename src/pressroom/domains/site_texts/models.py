"""The texts and their form as HTML. Pure."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

LONGEST: Final = 20_000
"""Characters of a text. A form of so many, each four bytes long, still fits into a request."""

LONGEST_ANNOUNCEMENT: Final = 1_000
"""Characters of an announcement: it stands on every page."""

_LOWEST_HEADING: Final = 6

# CommonMark without HTML and pictures: a page may load nothing from other hosts.
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).disable("image")


class TextName(StrEnum):
    """The name of a text."""

    ABOUT = "about"
    RULES = "rules"
    TERMS = "terms"
    PRIVACY = "privacy"
    ANNOUNCEMENT = "announcement"


class SiteText(msgspec.Struct):
    """A text that was published.

    Attributes:
        name: Its name.
        source: Its Markdown.
        html: The same as HTML, made when it was published.
        updated_at: The time of its publication, in milliseconds.
        ends_at: When an announcement is no longer shown, in milliseconds; None: it is shown until it is withdrawn.
    """

    name: TextName
    source: str
    html: str
    updated_at: int
    ends_at: int | None = None

    def __html__(self) -> str:
        """Returns the text for a template: its HTML was made from Markdown without HTML, by `rendered`."""
        return self.html


def announcement_at(text: SiteText | None, now: int) -> SiteText | None:
    """Returns the announcement unless it has ended at `now` (milliseconds)."""
    return None if text is None or (text.ends_at is not None and text.ends_at <= now) else text


def rendered(source: str) -> str:
    """Returns Markdown as HTML whose headings stand below that of the page. Takes up to 0.2 s for a hostile text."""
    tokens = _MARKDOWN.parse(source)
    for token in _headings(tokens):
        token.tag = f"h{min(_LOWEST_HEADING, int(token.tag[1:]) + 1)}"
    return _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})


def _headings(tokens: list[Token]) -> Iterator[Token]:
    return (token for token in tokens if token.type in {"heading_open", "heading_close"})
