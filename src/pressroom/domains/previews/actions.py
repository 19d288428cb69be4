"""Link cards in transactions: finding them, wanting them, keeping what a fetch brought."""

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
    """The cards that there are of these pages, by address."""
    wanted = list(dict.fromkeys(urls))
    return {card.url: card for batch in batches(wanted) for card in await queries.find_cards(tx, batch)}


async def want_card(tx: Tx, url: str, account_id: str) -> None:
    """Has a page fetched on behalf of an account, now or again later, unless what is known of it is a good card."""
    known = await queries.find_known(tx, url)
    if known is None or known.status != CardStatus.READY or not known.holds(tx.now):
        due_at = known.fetched_at + FAILED_FOR if known is not None and known.status == CardStatus.FAILED else tx.now
        await queue.enqueue(tx, FETCH, url, account_id=account_id, due_at=due_at)


async def claim(tx: Tx, url: str, token: str) -> bool:
    """Whether the page is ours to fetch: not when somebody else does, or what is known of it holds."""
    return await queries.claim(
        tx,
        url,
        token=token,
        until=tx.now + LEASE,
        ready_since=tx.now - FRESH,
        failed_since=tx.now - FAILED_FOR,
    )


async def keep_card(tx: Tx, card: Card, token: str) -> str | None:
    """Writes down what a page says of itself, if it is still ours to do so; the picture that nobody needs any more."""
    before = await queries.find_cards(tx, [card.url])
    if not await queries.keep_card(tx, card, token):
        return card.image_token
    return before[0].image_token if before else None


async def keep_failure(tx: Tx, url: str, token: str) -> None:
    """Writes down that a page could not be fetched."""
    await queries.keep_failure(tx, url, token)


async def let_go(tx: Tx, url: str, token: str) -> None:
    """Leaves a page to others that was claimed and not asked after all."""
    await queries.let_go(tx, url, token)


async def purge_failures(tx: Tx, batch: int) -> int:
    """Forgets pages without a card a day after they were last tried; how many."""
    return await queries.purge_failures(tx, until=tx.now - DAY, batch=batch)
