"""Wire shapes of the previews package."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pressroom.domains.previews.models import Card
from pressroom.web.wire import Url


class LinkPreviewOut(msgspec.Struct, rename="camel"):
    """The card of a page that a post links to."""

    url: Url
    title: str | None
    description: str | None
    image: Annotated[Url | None, Meta(description="Our own stored thumbnail, a WebP image.")]
    site_name: str | None


def card_shape(card: Card, base_url: str) -> LinkPreviewOut:
    """Returns the card as clients see it."""
    image = None if card.image_token is None else f"{base_url}/cards/{card.image_token}"
    return LinkPreviewOut(card.url, card.title, card.description, image, card.site_name)
