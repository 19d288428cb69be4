"""Creating, joining and leaving hubs."""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.hubs import queries
from pressroom.domains.hubs.models import Hub, HubChoice, NewHub, words_of_hub
from pressroom.domains.hubs.queries import list_joined
from pressroom.errors import Conflict, NotFound
from pressroom.ids import BEYOND, new_id

OFFERED: Final = 100
"""Hubs that a form offers. Of more, each is offered by the form that its own page leads to."""


async def create_hub(tx: Tx, caller: Caller, new: NewHub) -> Hub:
    """Creates a hub with the caller as its first member and returns it. Raises Conflict when the slug is taken."""
    hub_id, account_id = new_id(tx.now), caller.account.id
    made = await queries.insert_hub(
        tx, hub_id=hub_id, account_id=account_id, slug=new.slug, name=new.name, description=new.description
    )
    if not made:
        raise Conflict(f"The slug {new.slug} is taken.")
    await queries.insert_words(tx, hub_id, words_of_hub(new.name, new.slug))
    await join_hub(tx, caller, hub_id)
    return await get_hub(tx, hub_id, account_id)


async def get_hub(tx: Tx, hub_id: str, reader: str = "") -> Hub:
    """Returns the hub with this id, as `reader` (an account's id, or empty) sees it. Raises NotFound."""
    return _found(await queries.find_hub(tx, hub_id, reader=reader))


async def get_hub_by_slug(tx: Tx, slug: str, reader: str = "") -> Hub:
    """Returns the hub with this slug, as `reader` sees it. Raises NotFound."""
    return _found(await queries.find_by_slug(tx, slug, reader=reader))


async def find_joined(tx: Tx, account_id: str, hub_id: str) -> Hub | None:
    """Returns the hub, if the account is a member of it."""
    hub = await queries.find_hub(tx, hub_id, reader=account_id)
    return hub if hub is not None and hub.is_member else None


async def list_choice(tx: Tx, account_id: str, wanted: str) -> HubChoice:
    """Returns the hubs that a form offers: the newest that the account is a member of.

    The hub with the id `wanted` is among them, if the account is a member of it; empty: none is wanted.
    """
    found = await list_joined(tx, account_id, BEYOND, OFFERED + 1)
    offered = found[:OFFERED]
    if wanted and all(hub.id != wanted for hub in offered):
        hub = await find_joined(tx, account_id, wanted)
        offered += [hub] if hub else []
    return HubChoice(offered, len(found) > OFFERED)


async def join_hub(tx: Tx, caller: Caller, hub_id: str) -> None:
    """Makes the caller a member, if they are not yet. Raises NotFound."""
    await get_hub(tx, hub_id)
    # Only the request that inserted the row counts: repeated, and twice at once, it counts once.
    if await queries.insert_membership(tx, account_id=caller.account.id, hub_id=hub_id):
        await queries.add_members(tx, hub_id, 1)


async def leave_hub(tx: Tx, caller: Caller, hub_id: str) -> None:
    """Ends the caller's membership, if there is one. Raises NotFound."""
    await get_hub(tx, hub_id)
    if await queries.delete_membership(tx, account_id=caller.account.id, hub_id=hub_id):
        await queries.add_members(tx, hub_id, -1)


async def leave_hubs(tx: Tx, account_id: str, batch: int) -> int:
    """Ends up to `batch` memberships of an account, in the order of the hubs' ids; returns how many."""
    hub_ids = await queries.list_memberships(tx, account_id, limit=batch)
    # In the order of their ids, since each locks its hub's row.
    for hub_id in hub_ids:
        if await queries.delete_membership(tx, account_id=account_id, hub_id=hub_id):
            await queries.add_members(tx, hub_id, -1)
    return len(hub_ids)


async def join_by_slug(tx: Tx, caller: Caller, slug: str) -> None:
    """Makes the caller a member of the hub with this slug. Raises NotFound."""
    await join_hub(tx, caller, (await get_hub_by_slug(tx, slug)).id)


async def leave_by_slug(tx: Tx, caller: Caller, slug: str) -> None:
    """Ends the caller's membership of the hub with this slug. Raises NotFound."""
    await leave_hub(tx, caller, (await get_hub_by_slug(tx, slug)).id)


def _found(hub: Hub | None) -> Hub:
    if hub is None:
        raise NotFound("There is no such hub.")
    return hub
