"""Link cards in transactions: finding them, having them fetched, saving the result."""

from collections.abc import Iterable
from typing import Final

from pressroom.clock import DAY
from pressroom.db import Tx
from pressroom.db.params import batches
from pressroom.domains.previews import queries
from pressroom.domains.previews.models import FAILED_FOR, FRESH, LEASE, Card, CardStatus
from pressroom.jobs import queue

FETCH: Final = "preview"
"""The kind of job that fetches a card; its subject is the address."""


async def find_cards(tx: Tx, urls: Iterable[str]) -> dict[str, Card]:
    """Returns the cards of these pages by URL; pages without a card are left out."""
    wanted = list(dict.fromkeys(urls))
    return {card.url: card for batch in batches(wanted) for card in await queries.find_cards(tx, batch)}


async def want_card(tx: Tx, url: str, account_id: str) -> None:
    """Has a page fetched on behalf of an account, now or again later, unless there is a fresh card of it."""
    state = await queries.find_state(tx, url)
    if state is None or state.status != CardStatus.READY or not state.holds(tx.now):
        due_at = state.fetched_at + FAILED_FOR if state is not None and state.status == CardStatus.FAILED else tx.now
        await queue.enqueue(tx, FETCH, url, account_id=account_id, due_at=due_at)


async def claim(tx: Tx, url: str, token: str) -> bool:
    """Claims the fetch of a page. Returns False when it is claimed already, or the state of its card still holds."""
    return await queries.claim(
        tx,
        url,
        token=token,
        until=tx.now + LEASE,
        ready_since=tx.now - FRESH,
        failed_since=tx.now - FAILED_FOR,
    )


async def save_card(tx: Tx, card: Card, token: str) -> str | None:
    """Saves a card, if the page is still claimed with `token`. Returns the token of an image that is used no more."""
    before = await queries.find_cards(tx, [card.url])
    if not await queries.save_card(tx, card, token):
        return card.image_token
    return before[0].image_token if before else None


async def purge_failures(tx: Tx, batch: int) -> int:
    """Removes pages without a card a day after they were last tried. Returns how many."""
    return await queries.purge_failures(tx, until=tx.now - DAY, batch=batch)
