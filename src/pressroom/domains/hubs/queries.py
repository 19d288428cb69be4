"""SQL of the hubs package."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Command, Tx, sql
from pressroom.db.params import batches, in_rows, spread
from pressroom.domains.hubs.models import Hub

HUB_COLUMNS: Final = (
    "h.id, h.name, h.slug, h.description, h.members, h.created_at,"
    " EXISTS (SELECT 1 FROM memberships m WHERE m.account_id = :reader AND m.hub_id = h.id) AS is_member"
)


@sql.run(
    "INSERT INTO hubs (id, account_id, slug, name, description, members, created_at)"
    " VALUES (:hub_id, :account_id, :slug, :name, :description, 0, :now) ON CONFLICT (slug) DO NOTHING"
)
async def insert_hub(tx: Tx, *, hub_id: str, account_id: str, slug: str, name: str, description: str | None) -> bool:
    """Inserts a hub. Returns False when its slug is taken."""
    ...


INSERT_WORDS: Final = Command(
    "INSERT INTO hub_words (hub_id, word)"
    f" SELECT :hub_id, column1 FROM (VALUES {in_rows('word')}) AS words WHERE column1 <> '' ON CONFLICT DO NOTHING"
)


async def insert_words(tx: Tx, hub_id: str, words: Sequence[str]) -> None:
    """Has a hub be found by the beginnings of these words."""
    for batch in batches(words):
        await tx.later(INSERT_WORDS, hub_id=hub_id, **spread("word", batch))


@sql.one(f"SELECT {HUB_COLUMNS} FROM hubs h WHERE h.id = :hub_id")
async def find_hub(tx: Tx, hub_id: str, *, reader: str) -> Hub | None:
    """Returns the hub with this id, as `reader` (an account's id, or empty) sees it."""
    ...


@sql.one(f"SELECT {HUB_COLUMNS} FROM hubs h WHERE h.slug = :slug")
async def find_by_slug(tx: Tx, slug: str, *, reader: str) -> Hub | None:
    """Returns the hub with this slug, as `reader` sees it."""
    ...


@sql.all(
    f"SELECT {HUB_COLUMNS} FROM memberships j JOIN hubs h ON h.id = j.hub_id"
    " WHERE j.account_id = :reader AND j.hub_id < :before ORDER BY j.hub_id DESC LIMIT :limit"
)
async def list_joined(tx: Tx, reader: str, before: str, limit: int) -> list[Hub]:
    """Returns hubs that the reader is a member of, newest hub first, before `before`."""
    ...


@sql.run(
    "INSERT INTO memberships (account_id, hub_id, created_at) VALUES (:account_id, :hub_id, :now)"
    " ON CONFLICT DO NOTHING"
)
async def insert_membership(tx: Tx, *, account_id: str, hub_id: str) -> bool:
    """Inserts a membership. Returns False when there is one already."""
    ...


@sql.run("DELETE FROM memberships WHERE account_id = :account_id AND hub_id = :hub_id")
async def delete_membership(tx: Tx, *, account_id: str, hub_id: str) -> bool:
    """Deletes a membership. Returns whether there was one."""
    ...


@sql.run("UPDATE hubs SET members = members + :count WHERE id = :hub_id")
async def add_members(tx: Tx, hub_id: str, count: int) -> None:
    """Adds to the hub's count of members."""
    ...


@sql.all("SELECT hub_id FROM memberships WHERE account_id = :account_id ORDER BY hub_id LIMIT :limit")
async def list_memberships(tx: Tx, account_id: str, *, limit: int) -> list[str]:
    """Returns the ids of hubs that the account is a member of, oldest hub first."""
    ...
