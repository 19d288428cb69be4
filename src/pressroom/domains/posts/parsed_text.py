"""The text of a post, scanned once for hashtags, mentions and the page it links to. Pure."""

import msgspec

from pressroom.domains.previews.urls import card_url
from pressroom.entities import EntityKind, entities, hashtags, mentions


class ParsedText(msgspec.Struct, frozen=True):
    """A text and what one scan found in it.

    `hashtags` are identities and `mentions` case-folded user names, each once and in the order of the text. `link` is
    the page whose card the text asks for (docs/previews.md#the-linked-page), in its one spelling.
    """

    text: str
    hashtags: list[str]
    mentions: list[str]
    link: str | None


def parse_text(text: str) -> ParsedText:
    """Scans a text for hashtags, mentions and its first link."""
    found = entities(text)
    first_url = next((entity.name for entity in found if entity.kind is EntityKind.URL), None)
    link = None if first_url is None else card_url(first_url)
    return ParsedText(text, hashtags(found), mentions(found), link)
