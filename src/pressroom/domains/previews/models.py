"""A link's card, and which link of a post bears one."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY, HOUR, MINUTE, SECOND

FRESH: Final = DAY
"""How long a card is good before its page is asked again."""

FAILED_FOR: Final = 10 * MINUTE
"""How long a page that could not be fetched is left alone."""

LEASE: Final = 60 * SECOND
"""How long others wait for whoever fetches a page: well over what a fetch and its picture may take."""

RETRIES: Final = (FAILED_FOR, HOUR, 6 * HOUR)


class CardStatus(StrEnum):
    """What is known of a page."""

    FETCHING = "FETCHING"
    READY = "READY"
    FAILED = "FAILED"


class Card(msgspec.Struct):
    """What a page says of itself. `image_token` names our own thumbnail."""

    url: str
    title: str | None
    description: str | None
    site_name: str | None
    image_token: str | None


class CardState(msgspec.Struct):
    """What is known of a page, and since when (milliseconds)."""

    status: CardStatus
    fetched_at: int
    leased_until: int

    def holds(self, now: int) -> bool:
        """Whether it need not be asked again at `now`."""
        if self.status == CardStatus.READY:
            return now - self.fetched_at < FRESH
        return self.status == CardStatus.FAILED and now - self.fetched_at < FAILED_FOR


def card_blob(image_token: str) -> str:
    """Where a card's thumbnail stands in the store."""
    return f"cards/{image_token}"
