"""The commands that create, list and revoke keys."""

import msgspec
from rich.markup import escape
from rich.table import Table

from pressroom.clock import SystemClock
from pressroom.db import Database
from pressroom.domains.accounts.actions import get_account_by_username, get_record
from pressroom.domains.audit.models import OPERATOR
from pressroom.domains.keys import actions, queries
from pressroom.domains.keys.models import NewKey, RevokedBy, Scope, check_reason
from pressroom.domains.keys.schemas import ApiKeyList, ApiKeyOut, CreateKey, key_shape
from pressroom.web.json_bodies import decode


async def create(
    db: Database, username: str, label: str, scopes: list[str], expiry: str | None, networks: list[str]
) -> str:
    """Creates a key under the same rules as the API and returns it. Raises Invalid, NotFound or Conflict."""
    given = {"label": label, "scopes": scopes, "expiry": expiry, "ipAllowlist": networks}
    now = SystemClock().now()
    wanted = decode(CreateKey, msgspec.json.encode(given), [], now)
    account = await db.read(get_account_by_username, username)
    _, secret = await db.transact(actions.create_key, account.id, wanted.new_key(), OPERATOR)
    return secret


async def first_key(db: Database, account_id: str) -> str:
    """Creates a key with every scope for development mode's account and returns it."""
    _, secret = await db.transact(actions.create_key, account_id, NewKey("First key", list(Scope)), OPERATOR)
    return secret


async def list_keys(db: Database, username: str) -> ApiKeyList:
    """Returns the account's keys, newest first. Raises NotFound."""
    account = await db.read(get_record, username)
    now = SystemClock().now()
    return ApiKeyList([key_shape(key, now) for key in await db.read(queries.list_keys, account.id, "~", 1000)], None)


def table(found: ApiKeyList) -> Table:
    """Returns the keys as a table for people to read."""
    shown = Table("id", "prefix", "label", "status", "scopes", "created", "expires", "last used", box=None)
    for key in found.api_keys:
        times = [at or "never" for at in (key.created_at, key.expires_at, key.last_used_at)]
        shown.add_row(key.id, key.key_prefix, escape(_label(key)), key.status, " ".join(key.scopes), *times)
    return shown


async def revoke(db: Database, key_id: str, reason: str) -> ApiKeyOut:
    """Revokes a key for an operator, as the API does for its owner; returns the key. Raises Invalid or NotFound."""
    check_reason(reason)
    key = await db.transact(actions.revoke_key, key_id, RevokedBy.ADMIN, reason, OPERATOR)
    return key_shape(key, SystemClock().now())


def revoked_line(found: ApiKeyOut) -> str:
    """Returns the message about a revoked key."""
    return f"{found.key_prefix}… ({_label(found)}) was revoked at {found.revoked_at}."


def _label(key: ApiKeyOut) -> str:
    """Returns a label for a console: earlier versions took characters that control a terminal."""
    return key.label if key.label.isprintable() else ascii(key.label)[1:-1]
