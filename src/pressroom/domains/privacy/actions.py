"""Blocking, muting and filtering. Each action takes an open transaction first."""

from collections import defaultdict
from collections.abc import Sequence

from pressroom.db import Tx
from pressroom.domains.accounts.actions import get_account_by_username
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.queries import lock_account
from pressroom.domains.accounts.queries.status import lock_status
from pressroom.domains.follows import queries as relations
from pressroom.domains.follows.actions import end_relations
from pressroom.domains.privacy import queries
from pressroom.domains.privacy.models import FILTERS, Matcher, Place, WordFilter
from pressroom.errors import Code, FieldError, Unprocessable


async def block(tx: Tx, caller: Caller, username: str) -> bool:
    """Blocks `username`, ends the follows between the two and their requests, and returns True. Repeating changes
    nothing.

    Raises NotFound for an unknown account, Unprocessable for the caller's own (docs/privacy.md#blocks).
    """
    other = await _get_other(tx, caller, username, "block")
    # This locks both accounts, so a follow that is made at the same time ends, or finds the block.
    await end_relations(tx, caller.account, other)
    await relations.insert_block(tx, account_id=caller.account.id, other_id=other.id)
    return True


async def unblock(tx: Tx, caller: Caller, username: str) -> bool:
    """Takes a block back and returns False. Repeating changes nothing. Raises NotFound for an unknown account."""
    other = await get_account_by_username(tx, username)
    await lock_status(tx, caller.account.id, other.id)
    await relations.delete_block(tx, account_id=caller.account.id, other_id=other.id)
    return False


async def mute(tx: Tx, caller: Caller, username: str) -> bool:
    """Mutes `username` and returns True. Repeating changes nothing.

    Raises NotFound for an unknown account, Unprocessable for the caller's own (docs/privacy.md#mutes).
    """
    other = await _get_other(tx, caller, username, "mute")
    await relations.insert_mute(tx, account_id=caller.account.id, muted_id=other.id)
    return True


async def unmute(tx: Tx, caller: Caller, username: str) -> bool:
    """Takes a mute back and returns False. Repeating changes nothing. Raises NotFound for an unknown account."""
    other = await get_account_by_username(tx, username)
    await relations.delete_mute(tx, account_id=caller.account.id, muted_id=other.id)
    return False


async def set_filters(tx: Tx, caller: Caller, filters: Sequence[WordFilter]) -> list[WordFilter]:
    """Makes these the caller's word filters, at most FILTERS, and returns them."""
    # Of two calls at once the second one replaces all filters of the first.
    await lock_account(tx, caller.account.id)
    await queries.delete_filters(tx, caller.account.id)
    for position, each in enumerate(filters):
        await queries.insert_filter(
            tx,
            account_id=caller.account.id,
            position=position,
            text=each.text,
            whole_word=each.whole_word,
            timeline=each.timeline,
            notifications=each.notifications,
        )
    return list(filters)


async def add_filter(tx: Tx, caller: Caller, new: WordFilter) -> list[WordFilter]:
    """Adds a word filter, in the place of one with the same words, and returns all.

    Raises Unprocessable when the account has FILTERS already.
    """
    # Before the filters are counted: two requests at once could both add the last one.
    await lock_account(tx, caller.account.id)
    kept = [each for each in await queries.list_filters(tx, caller.account.id) if each.words != new.words]
    if len(kept) >= FILTERS:
        message = f"An account has at most {FILTERS} filters. Remove one first."
        raise Unprocessable([FieldError("text", Code.TOO_MANY, message)])
    return await set_filters(tx, caller, [*kept, new])


async def remove_filter(tx: Tx, caller: Caller, text: str) -> list[WordFilter]:
    """Removes the word filter with this text, if there is one, and returns the others."""
    await lock_account(tx, caller.account.id)
    kept = [each for each in await queries.list_filters(tx, caller.account.id) if each.text != text]
    return await set_filters(tx, caller, kept)


async def list_filtering(tx: Tx, account_ids: Sequence[str], text: str | None) -> set[str]:
    """Returns those of at most BATCH accounts that filter notifications of this text."""
    if not account_ids or not text:
        return set()
    filters: defaultdict[str, list[WordFilter]] = defaultdict(list)
    for each in await queries.list_for_notifications(tx, account_ids):
        filters[each.account_id].append(each)
    return {account_id for account_id, own in filters.items() if Matcher(own, Place.NOTIFICATIONS).hides(text)}


async def _get_other(tx: Tx, caller: Caller, username: str, verb: str) -> Account:
    other = await get_account_by_username(tx, username)
    if other.id == caller.account.id:
        raise Unprocessable([FieldError("username", Code.NOT_ALLOWED, f"Nobody can {verb} their own account.")])
    return other
