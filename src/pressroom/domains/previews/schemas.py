"""The previews room's wire shapes."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pressroom.domains.previews.models import Card
from pressroom.web.wire import EXAMPLE_BASE, Url


class LinkPreviewOut(msgspec.Struct, rename="camel"):
    """The card of a page that a post links to."""

    url: Url
    title: str | None
    description: str | None
    image: Annotated[Url | None, Meta(description="Our own stored thumbnail, a WebP image.")]
    site_name: str | None


def card_shape(card: Card, base_url: str) -> LinkPreviewOut:
    """The card as clients see it."""
    image = None if card.image_token is None else f"{base_url}/cards/{card.image_token}"
    return LinkPreviewOut(card.url, card.title, card.description, image, card.site_name)


CARD_EXAMPLE = LinkPreviewOut(
    url="https://example.org/letterpress",
    title="How a forme is locked up",
    description="Furniture, quoins and a steady hand.",
    image=f"{EXAMPLE_BASE}/cards/0d1f6a5e3b0c4c599d550f6f7f3a2b11",
    site_name="Example",
)
