"""An account with an endpoint in a database of a test's own, made by the package's own actions."""

from pressroom.db import Database
from pressroom.db.migrate import migrate
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.webhooks.actions.endpoints import add_webhook
from pressroom.domains.webhooks.models import NewWebhook


async def make_endpoint(db: Database, *events: EventType) -> tuple[str, str, str]:
    """Brings the schema up to date; returns the ids of an account, its key and the key's endpoint for `events`."""
    await migrate(db)
    account = await db.transact(create_account, NewAccount("alice", "alice@example.org", "hash", "Alice"))
    key, _ = await db.transact(create_key, account.id, NewKey("key", [Scope.POSTS_WRITE]))
    webhook, _ = await db.transact(add_webhook, account.id, key.id, NewWebhook("https://hooks.example.org/", [*events]))
    return account.id, key.id, webhook.id
