"""The commands that create, find, list and revoke keys."""

import re
from typing import Final

import msgspec
from rich.markup import escape
from rich.table import Table

from pressroom.clock import SystemClock
from pressroom.db import Database, Tx
from pressroom.domains.accounts.actions import get_account_by_username, get_record
from pressroom.domains.accounts.queries import find_account
from pressroom.domains.audit.models import OPERATOR, Source
from pressroom.domains.keys import actions, queries
from pressroom.domains.keys.models import ApiKey, NewKey, RevokedBy, Scope, check_reason
from pressroom.domains.keys.schemas import ApiKeyList, ApiKeyOut, CreateKey, key_shape
from pressroom.domains.keys.secret import hash_secret, is_well_formed
from pressroom.errors import NotFound
from pressroom.web.json_bodies import decode

_IN_TEXT: Final = re.compile(r"svc_live_[0-9A-Za-z]{38}(?![0-9A-Za-z])")


class FoundKey(msgspec.Struct, rename="camel"):
    """A key that was found somewhere, and its owner; `username` and `email` are null once the account is deleted."""

    key: ApiKeyOut
    account_id: str
    username: str | None
    email: str | None


async def create(
    db: Database,
    username: str,
    label: str,
    scopes: list[str],
    expiry: str | None,
    networks: list[str],
    source: Source = OPERATOR,
) -> str:
    """Creates a key under the same rules as the API and returns it. Raises Invalid, NotFound or Conflict."""
    given = {"label": label, "scopes": scopes, "expiry": expiry, "ipAllowlist": networks}
    now = SystemClock().now()
    wanted = decode(CreateKey, msgspec.json.encode(given), [], now)
    account = await db.read(get_account_by_username, username)
    _, secret = await db.transact(actions.create_key, account.id, wanted.new_key(), source)
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


async def find(db: Database, text: str) -> FoundKey:
    """Returns the key of this installation that a text holds, such as a line of a log. Raises NotFound."""
    return await db.read(_find, text)


async def _find(tx: Tx, text: str) -> FoundKey:
    key = await _find_key(tx, text)
    account = await find_account(tx, key.account_id)
    shown = key_shape(key, SystemClock().now())
    return FoundKey(shown, key.account_id, account and account.username, account and account.email)


async def _find_key(tx: Tx, text: str) -> ApiKey:
    secrets = [secret for secret in _IN_TEXT.findall(text) if is_well_formed(secret)]
    if not secrets:
        raise NotFound("There is no API key in this text: none has the form and the checksum of one.")
    for secret in secrets:
        if (key := await queries.find_key_by_secret(tx, hash_secret(secret))) is not None:
            return key
    raise NotFound("The text holds an API key, but not one of this installation.")


def found_lines(found: FoundKey) -> str:
    """Returns the message about a key that was found."""
    key = found.key
    owner = f"{found.username} <{found.email}>" if found.username else f"a deleted account ({found.account_id})"
    return (
        f"{key.key_prefix}… ({_label(key)}) is a key of {owner}, {key.status}, with {' '.join(key.scopes)}.\n"
        f"Last used: {key.last_used_at or 'never'}. Revoke it: pressroom key revoke {key.id} --reason 'It leaked'"
    )


async def revoke_by_secret(db: Database, text: str, reason: str, source: Source) -> ApiKeyOut:
    """Revokes the key that a text holds. Raises Invalid or NotFound."""
    return await revoke(db, (await db.read(_find_key, text)).id, reason, source)


async def revoke(db: Database, key_id: str, reason: str, source: Source) -> ApiKeyOut:
    """Revokes a key for an operator, as the API does for its owner; returns the key. Raises Invalid or NotFound."""
    check_reason(reason)
    key = await db.transact(actions.revoke_key, key_id, RevokedBy.ADMIN, reason, source)
    return key_shape(key, SystemClock().now())


def revoked_line(found: ApiKeyOut) -> str:
    """Returns the message about a revoked key."""
    return f"{found.key_prefix}… ({_label(found)}) was revoked at {found.revoked_at}."


def _label(key: ApiKeyOut) -> str:
    """Returns a label for a console: earlier versions took characters that control a terminal."""
    return key.label if key.label.isprintable() else ascii(key.label)[1:-1]
