"""Accounts with endpoints, and deliveries that wait for them: made by the package's own actions."""

from pathlib import Path
from typing import Final

from pressroom.clock import SystemClock, iso
from pressroom.db import Tx
from pressroom.db.migrate import migrate
from pressroom.db.sqlite import open_sqlite
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.events.actions import emit
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.posts.events import CreatedPost, PostCreatedData
from pressroom.domains.posts.models import PostType
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.webhooks.actions.endpoints import add_webhook
from pressroom.domains.webhooks.actions.queueing import fan_out
from pressroom.domains.webhooks.models import NewWebhook
from pressroom.ids import new_id

CONTENT: Final = "The harbour bridge opens again on Monday."
ENDPOINTS: Final = 200
ENDPOINTS_PER_ACCOUNT: Final = 5
EVENTS_PER_TRANSACTION: Final = 200


async def queue(file: Path, port: int, deliveries: int) -> str:
    """Makes a database in `file` with `deliveries` that wait for 200 endpoints on `port`; a key of one account."""
    accounts = ENDPOINTS // ENDPOINTS_PER_ACCOUNT
    urls = [f"http://127.0.0.1:{port}/{number}" for number in range(ENDPOINTS)]
    shares = [urls[number::accounts] for number in range(accounts)]
    return (await _fill(file, shares, deliveries // ENDPOINTS))[0]


async def listeners(file: Path, urls: list[str]) -> list[str]:
    """Makes a database in `file` with an account, a key and an endpoint for each of `urls`; the keys."""
    return await _fill(file, [[url] for url in urls], 0)


async def _fill(file: Path, shares: list[list[str]], events: int) -> list[str]:
    db = open_sqlite(file, SystemClock(), [fan_out])
    try:
        await migrate(db)
        secrets: list[str] = []
        for number, urls in enumerate(shares):
            account_id, secret = await db.transact(_make_account, f"account{number}", urls)
            secrets.append(secret)
            for first in range(0, events, EVENTS_PER_TRANSACTION):
                await db.transact(_publish, account_id, min(EVENTS_PER_TRANSACTION, events - first))
        return secrets
    finally:
        await db.close()


async def _make_account(tx: Tx, name: str, urls: list[str]) -> tuple[str, str]:
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
