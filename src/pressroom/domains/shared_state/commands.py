"""The operator's commands on secrets and maintenance mode. Each returns the command's output."""

from collections.abc import Collection

import msgspec
from rich.table import Table

from pressroom.clock import SystemClock, iso, iso_or_none
from pressroom.db import Database
from pressroom.domains.audit.models import Source
from pressroom.domains.shared_state import actions
from pressroom.domains.shared_state.models import LONGEST_MESSAGE, SecretName
from pressroom.errors import Code, FieldError, Invalid
from pressroom.signing_secrets import SecretVersion


class ListedSecret(msgspec.Struct, rename="camel"):
    """A version of a secret, without the secret itself."""

    name: str
    signs_from: str
    signs_now: bool
    expires_at: str | None


class SecretList(msgspec.Struct):
    """All versions of all secrets that an installation makes for itself."""

    secrets: list[ListedSecret]


async def list_secrets(db: Database) -> SecretList:
    """Returns all versions of all secrets, without the secrets themselves."""
    versions, now = (await db.read(actions.read_state)).secrets, SystemClock().now()
    return SecretList([_listed(version, versions, now) for version in versions])


def secret_table(found: SecretList) -> Table:
    """Returns the versions as a table for people to read."""
    shown = Table("secret", "signs from", "state", "verifies until", box=None)
    for each in found.secrets:
        state = "signs" if each.signs_now else "verifies" if each.expires_at else "will sign"
        shown.add_row(each.name, each.signs_from, state, each.expires_at or "")
    return shown


async def rotate(db: Database, names: Collection[SecretName], days: int, reason: str | None, source: Source) -> None:
    """Replaces secrets; the versions before verify for `days` more. Raises Conflict."""
    await db.transact(actions.rotate_secrets, names, days, reason, source)


async def set_maintenance(db: Database, message: str | None, source: Source) -> str:
    """Turns maintenance mode on with a message, or off (None); returns a line about it. Raises Invalid."""
    if message is not None and not 1 <= len(message.strip()) <= LONGEST_MESSAGE:
        fault = f"Give a message of 1 to {LONGEST_MESSAGE} characters."
        raise Invalid([FieldError("message", Code.TOO_LONG if message.strip() else Code.TOO_SHORT, fault)])
    was_on = await db.transact(actions.set_maintenance, message and message.strip(), source)
    if message is not None:
        return "Maintenance mode is on: within a second or two every process answers 503."
    return "Maintenance mode is off." if was_on else "Maintenance mode was off already."


def _listed(version: SecretVersion, versions: list[SecretVersion], now: int) -> ListedSecret:
    begun = [each for each in versions if each.name == version.name and each.signs_from <= now]
    signs_now = bool(begun) and max(begun, key=lambda each: each.age) == version
    return ListedSecret(version.name, iso(version.signs_from), signs_now, iso_or_none(version.expires_at))
