"""Which page's card a text bears. Pure."""

from typing import Final

from pressroom.domains.previews.urls import normalised
from pressroom.outbound import UrlRefused
from pressroom.text import EntityKind, entities

LINK_LIMIT: Final = 2_048


def link_of(content: str | None, forced: str | None = None) -> str | None:
    """The page whose card is shown: the `forced` one, else the first http or https address of the text.

    In its one spelling, so that all posts with the same link share its card (docs/previews.md#which-link). Raises
    UrlRefused for a forced address that is none; a text's that is none bears no card.
    """
    if forced is not None:
        return normalised(forced)
    found = entities(content or "")
    first = next((entity.name for entity in found if entity.kind is EntityKind.URL), None)
    if first is None or len(first) > LINK_LIMIT:
        return None
    try:
        return normalised(first)
    except UrlRefused:
        return None
