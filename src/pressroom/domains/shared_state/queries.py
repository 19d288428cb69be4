"""SQL of the state that all processes share."""

from pressroom.db import Tx, sql
from pressroom.domains.shared_state.models import Maintenance
from pressroom.signing_secrets import SecretVersion


@sql.all("SELECT name, secret, signs_from, expires_at FROM server_secrets ORDER BY name, signs_from")
async def list_secrets(tx: Tx) -> list[SecretVersion]:
    """Returns all versions of all secrets, the oldest of each name first."""
    ...


@sql.run(
    "INSERT INTO server_secrets (name, secret, signs_from, expires_at) VALUES (:name, :secret, :signs_from, NULL)"
    " ON CONFLICT (name) WHERE expires_at IS NULL DO NOTHING"
)
async def insert_secret(tx: Tx, *, name: str, secret: str, signs_from: int) -> int:
    """Inserts a version, unless there is one that does not expire. Returns 1 or 0."""
    ...


@sql.run("UPDATE server_secrets SET expires_at = :expires_at WHERE name = :name AND expires_at IS NULL")
async def end_secret(tx: Tx, *, name: str, expires_at: int) -> None:
    """Has the newest version of a secret expire."""
    ...


@sql.run(
    "DELETE FROM server_secrets WHERE (name, secret) IN"
    " (SELECT name, secret FROM server_secrets WHERE expires_at <= :now LIMIT :batch)"
)
async def purge_secrets(tx: Tx, batch: int) -> int:
    """Removes at most `batch` versions that have expired, and returns how many."""
    ...


@sql.one("SELECT message, since FROM maintenance")
async def find_maintenance(tx: Tx) -> Maintenance | None:
    """Returns maintenance mode, or None while it is off."""
    ...


@sql.run(
    "INSERT INTO maintenance (place, message, since) VALUES (1, :message, :now)"
    " ON CONFLICT (place) DO UPDATE SET message = excluded.message"
)
async def begin_maintenance(tx: Tx, message: str) -> None:
    """Turns maintenance mode on, or gives it another message."""
    ...


@sql.run("DELETE FROM maintenance")
async def end_maintenance(tx: Tx) -> int:
    """Turns maintenance mode off. Returns 0 when it was off."""
    ...
