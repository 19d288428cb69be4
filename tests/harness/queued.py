"""Accounts with endpoints, and events that wait for them: made by the packages' own actions, past any server."""

from collections.abc import Sequence
from typing import Final

from pressroom.clock import iso
from pressroom.db import Database, Query, Tx
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.events.actions import emit
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.posts.events import CreatedPost, PostCreatedData
from pressroom.domains.posts.models import PostType
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.webhooks.actions.endpoints import add_webhook
from pressroom.domains.webhooks.models import NewWebhook
from pressroom.ids import new_id

CONTENT: Final = "The harbour bridge opens again on Monday."
EVENTS_PER_TRANSACTION: Final = 200

ACCOUNTS: Final = Query(str, "SELECT id FROM accounts ORDER BY id")


async def fill(db: Database, shares: Sequence[Sequence[str]], events: int) -> list[str]:
    """Makes an account for each share of URLs, with an endpoint for each of these and so many events; their keys."""
    secrets: list[str] = []
    for number, urls in enumerate(shares):
        account_id, secret = await db.transact(_make_account, f"account{number}", urls)
        secrets.append(secret)
        for first in range(0, events, EVENTS_PER_TRANSACTION):
            await db.transact(_publish, account_id, min(EVENTS_PER_TRANSACTION, events - first))
    return secrets


async def publish_events(db: Database, events: int) -> None:
    """Has so many events happen to each account."""
    for account_id in await db.read(lambda tx: tx.all(ACCOUNTS)):
        await db.transact(_publish, account_id, events)


async def _make_account(tx: Tx, name: str, urls: Sequence[str]) -> tuple[str, str]:
    account = await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))
    key, secret = await create_key(tx, account.id, NewKey("bench", list(Scope)))
    for url in urls:
        await add_webhook(tx, account.id, key.id, NewWebhook(url, [EventType.POST_CREATED]))
    return account.id, secret


async def _publish(tx: Tx, account_id: str, count: int) -> None:
    for _ in range(count):
        post = CreatedPost(
            id=new_id(tx.now), author_id=account_id, content=CONTENT, type=PostType.POST,
            visibility=Visibility.PUBLIC, is_share=False, original_post_id=None, hub_id=None, created_at=iso(tx.now),
        )  # fmt: skip
        await emit(tx, PostCreatedData(post), account_id=account_id)
