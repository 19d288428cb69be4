"""Adding to the audit log and reading it. Each action takes an open transaction first.

An act and its entry are written in one transaction, so that neither is there without the other.
"""

import msgspec

from pressroom.db import Tx
from pressroom.domains.audit import queries
from pressroom.domains.audit.models import LONGEST_VALUE, RETENTION, UNKNOWN, Actor, Kind, Source, counted_as
from pressroom.ids import new_id


async def record(tx: Tx, account_id: str, kind: Kind, source: Source = UNKNOWN, **detail: str | int | None) -> None:
    """Adds an entry to the log of an account.

    Args:
        tx: The transaction of the act itself.
        account_id: The account that it is about; empty for acts of admins that are about none.
        kind: The kind of act.
        source: Who did it, and from where.
        detail: Facts about its object, such as `label`: names in camel case, short values, never a secret. None is left
            out.
    """
    shortened = {
        name: value[:LONGEST_VALUE] if isinstance(value, str) else value
        for name, value in detail.items()
        if value is not None
    }
    await queries.insert_entry(
        tx,
        account_id=account_id,
        entry_id=new_id(tx.now, account_id),
        kind=kind.value,
        actor=source.actor.value,
        admin_id=source.admin_id,
        operator=source.operator,
        address=source.address,
        detail=msgspec.json.encode(shortened).decode(),
    )


async def count(tx: Tx, account_id: str, kind: Kind, network: str) -> None:
    """Counts an act of a stranger on an account, from the network address `network`."""
    # Acts from one address within one hour are one entry: otherwise a flood of them would fill the owner's log.
    await queries.count_entry(
        tx,
        account_id=account_id,
        entry_id=new_id(tx.now, account_id),
        kind=kind.value,
        actor=Actor.SELF.value,
        address=network,
        counted_as=counted_as(kind, network, tx.now),
    )


async def purge_entries(tx: Tx, batch: int, *, kept: int = RETENTION) -> int:
    """Removes at most `batch` entries that are older than `kept` milliseconds; returns their number."""
    return await queries.purge_entries(tx, until=tx.now - kept, batch=batch)


async def erase_entries(tx: Tx, account_id: str, batch: int) -> int:
    """Erases at most `batch` entries of a deleted account; returns their number.

    Acts of admins and of the operator stay, without the labels that the account gave to its keys.
    """
    erased = await queries.delete_entries(tx, account_id, batch)
    for entry in await queries.list_labelled(tx, account_id, batch - erased):
        detail = msgspec.json.decode(entry.detail, type=dict[str, str | int])
        del detail["label"]
        await queries.set_detail(tx, account_id, entry.id, msgspec.json.encode(detail).decode())
        erased += 1
    return erased
