"""Link cards and their states."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY, HOUR, MINUTE, SECOND

FRESH: Final = DAY
"""How long a card is fresh; then its page is fetched again."""

FAILED_FOR: Final = 10 * MINUTE
"""How long a page that could not be fetched is not tried again."""

LEASE: Final = 60 * SECOND
"""How long a page stays claimed: well over the time of a fetch and its image, so that nothing renews it."""

RETRIES: Final = (FAILED_FOR, HOUR, 6 * HOUR)


class CardStatus(StrEnum):
    """Whether a page has been fetched."""

    FETCHING = "FETCHING"
    READY = "READY"
    FAILED = "FAILED"


class Card(msgspec.Struct):
    """The card of a page. `image_token` names our own thumbnail."""

    url: str
    title: str | None
    description: str | None
    site_name: str | None
    image_token: str | None


class CardState(msgspec.Struct):
    """The state of a page's card, and since when it has it (milliseconds)."""

    status: CardStatus
    fetched_at: int
    leased_until: int

    def holds(self, now: int) -> bool:
        """Returns whether the page need not be fetched again at `now`."""
        if self.status == CardStatus.READY:
            return now - self.fetched_at < FRESH
        return self.status == CardStatus.FAILED and now - self.fetched_at < FAILED_FOR


def card_blob(image_token: str) -> str:
    """Returns the key of a card's thumbnail in the store."""
    return f"cards/{image_token}"
