"""Secrets and maintenance mode. Each action takes an open transaction first (docs/operations.md#secrets)."""

import secrets
from collections.abc import Collection

import msgspec

from pressroom.db import Tx
from pressroom.domains.audit import actions as audit
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.shared_state import queries
from pressroom.domains.shared_state.models import STARTS, Maintenance, SecretName, overlap_of
from pressroom.errors import Conflict
from pressroom.signing_secrets import BYTES, SecretVersion


class SharedState(msgspec.Struct, frozen=True):
    """The state of all processes: every version of every secret, and maintenance mode while it is on."""

    secrets: list[SecretVersion]
    maintenance: Maintenance | None


async def read_state(tx: Tx) -> SharedState:
    """Returns the state that all processes share."""
    return SharedState(await queries.list_secrets(tx), await queries.find_maintenance(tx))


async def make_secrets(tx: Tx, names: Collection[SecretName]) -> list[SecretVersion]:
    """Makes the missing secrets, and returns all versions of all."""
    for name in names:
        await queries.insert_secret(tx, name=name.value, secret=secrets.token_urlsafe(BYTES), signs_from=tx.now)
    return await queries.list_secrets(tx)


async def rotate_secrets(tx: Tx, names: Collection[SecretName], days: int, reason: str | None, source: Source) -> None:
    """Replaces secrets; the versions before verify for `days` more. All in one transaction, so that none is lost.

    Raises Conflict when another rotation has just replaced one of them.
    """
    signs_from = tx.now + STARTS
    for name in names:
        await queries.end_secret(tx, name=name.value, expires_at=signs_from + overlap_of(name, days))
        fresh = secrets.token_urlsafe(BYTES)
        if not await queries.insert_secret(tx, name=name.value, secret=fresh, signs_from=signs_from):
            raise Conflict(f"The secret {name} was replaced at the same moment by another command.")
        await audit.record(tx, "", Kind.SERVER_SECRET_ROTATED, source, secret=name.value, days=days, reason=reason)


async def set_maintenance(tx: Tx, message: str | None, source: Source) -> bool:
    """Turns maintenance mode on with a message, or off (None). Returns whether it was on before."""
    was_on = await queries.find_maintenance(tx) is not None
    if message is not None:
        await queries.begin_maintenance(tx, message)
        await audit.record(tx, "", Kind.MAINTENANCE_ON, source, reason=message)
    elif await queries.end_maintenance(tx):
        await audit.record(tx, "", Kind.MAINTENANCE_OFF, source)
    return was_on
