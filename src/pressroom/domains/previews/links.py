"""Which link of a post has its card shown. Pure."""

from typing import Final

from pressroom.domains.previews.urls import normalised
from pressroom.outbound import UrlRefused

LINK_LIMIT: Final = 2_048


def card_url(link: str) -> str | None:
    """Returns the page whose card a text with this first link shows (docs/previews.md#which-link).

    In its one spelling, so that all posts with the same link share its card. None for an address that has no card.
    """
    if len(link) > LINK_LIMIT:
        return None
    try:
        return normalised(link)
    except UrlRefused:
        return None
