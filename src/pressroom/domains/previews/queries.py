"""SQL of the previews package."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.previews.models import Card, CardState

FIND_CARDS: Final = Query(
    Card,
    "SELECT url, title, description, site_name, image_token FROM link_cards"
    f" WHERE url IN ({in_list('url')}) AND (title IS NOT NULL OR description IS NOT NULL OR image_token IS NOT NULL)",
)

FIND_STATE: Final = Query(CardState, "SELECT status, fetched_at, leased_until FROM link_cards WHERE url = :url")

FIND_BY_IMAGE: Final = Query(str, "SELECT url FROM link_cards WHERE image_token = :image_token")

# One fetch at a time over all processes: the process that gets a row back fetches, the others wait for the outcome.
CLAIM: Final = Query(
    str,
    "INSERT INTO link_cards (url, status, fetched_at, leased_until, lease_token)"
    " VALUES (:url, 'FETCHING', 0, :until, :token) ON CONFLICT (url) DO UPDATE SET leased_until = :until,"
    " lease_token = :token WHERE link_cards.leased_until <= :now AND NOT"
    " ((link_cards.status = 'READY' AND link_cards.fetched_at > :ready_since)"
    " OR (link_cards.status = 'FAILED' AND link_cards.fetched_at > :failed_since)) RETURNING url",
)

SAVE_CARD: Final = Command(
    "UPDATE link_cards SET status = 'READY', title = :title, description = :description, site_name = :site_name,"
    " image_token = :image_token, fetched_at = :now, leased_until = 0, lease_token = NULL"
    " WHERE url = :url AND lease_token = :token"
)


async def find_cards(tx: Tx, urls: Sequence[str]) -> list[Card]:
    """Returns the cards of these pages, at most BATCH."""
    return await tx.all(FIND_CARDS, **spread("url", urls))


async def find_state(tx: Tx, url: str) -> CardState | None:
    """Returns the state of a page's card; None when it was never wanted."""
    return await tx.one(FIND_STATE, url=url)


async def claim(tx: Tx, url: str, *, token: str, until: int, ready_since: int, failed_since: int) -> bool:
    """Claims a page until `until` (milliseconds). Returns False when it is claimed, or the state of its card holds."""
    claimed = await tx.one(
        CLAIM, url=url, token=token, until=until, ready_since=ready_since, failed_since=failed_since, now=tx.now
    )
    return claimed is not None


async def save_card(tx: Tx, card: Card, token: str) -> bool:
    """Saves a card. Returns False when the page has been claimed by another."""
    kept = await tx.run(
        SAVE_CARD,
        url=card.url,
        token=token,
        title=card.title,
        description=card.description,
        site_name=card.site_name,
        image_token=card.image_token,
        now=tx.now,
    )
    return bool(kept)


# An old card is shown until there is a new one.
@sql.run(
    "UPDATE link_cards SET status = 'FAILED', fetched_at = :now, leased_until = 0, lease_token = NULL"
    " WHERE url = :url AND lease_token = :token"
)
async def save_failure(tx: Tx, url: str, token: str) -> None:
    """Saves that a page could not be fetched."""
    ...


@sql.run("UPDATE link_cards SET leased_until = 0, lease_token = NULL WHERE url = :url AND lease_token = :token")
async def give_back(tx: Tx, url: str, token: str) -> None:
    """Ends the lease of a page, as if it had not been claimed."""
    ...


@sql.run(
    "DELETE FROM link_cards WHERE url IN (SELECT url FROM link_cards WHERE fetched_at <= :until"
    " AND leased_until <= :now AND title IS NULL AND description IS NULL AND image_token IS NULL"
    " ORDER BY fetched_at LIMIT :batch)"
)
async def purge_failures(tx: Tx, *, until: int, batch: int) -> int:
    """Removes pages without a card that were last tried up to `until` (milliseconds). Returns how many."""
    ...
