"""Sign-up, sessions and profiles. Each action takes an open transaction first."""

from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import Account, AccountRecord, Caller, Profile, folded, words_of_account
from pressroom.domains.accounts.queries import status
from pressroom.domains.accounts.reserved_usernames import change_username, check_unreserved
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import OPERATOR, Kind, Source
from pressroom.errors import Conflict, NotFound
from pressroom.ids import new_id
from pressroom.jobs import queue

TAG_JOB: Final = "account tags"
"""The kind of job that updates the tag pages when an account is hidden or shown; its subject is the account's id."""

REQUESTS_JOB: Final = "follow requests"
"""The kind of job that accepts the open follow requests of an account that turned public."""


class NewAccount(msgspec.Struct):
    """The fields of an account to create."""

    username: str
    email: str
    password_hash: str
    display_name: str | None = None


async def create_account(tx: Tx, new: NewAccount, source: Source = OPERATOR) -> Account:
    """Creates an account and returns it. Raises Conflict when the user name or the e-mail address is taken."""
    account_id = new_id(tx.now)
    made = await queries.insert_account(
        tx,
        account_id=account_id,
        username=new.username,
        username_key=folded(new.username),
        email=new.email,
        email_key=folded(new.email),
        password_hash=new.password_hash,
        display_name=new.display_name or new.username,
    )
    account = await queries.find_account(tx, account_id) if made else None
    if account is None:
        await _refuse_taken(tx, new.username, new.email)
        raise Conflict("This account was made at the same moment by another request.")
    # After the insert, not before: see there.
    await check_unreserved(tx, account.username)
    await queries.insert_words(tx, account.id, words_of_account(account.username, account.display_name))
    await record(tx, account.id, Kind.SIGNED_UP, source)
    return account


async def check_not_taken(tx: Tx, username: str, email: str) -> None:
    """Raises Conflict when the user name or the e-mail address is taken, or the name reserved."""
    await _refuse_taken(tx, username, email)
    await check_unreserved(tx, username)


async def check_email_free(tx: Tx, email: str, but: str) -> None:
    """Raises Conflict when an account other than `but` has the e-mail address."""
    await _refuse_taken(tx, "", email, but=but)


async def edit_profile(tx: Tx, caller: Caller, profile: Profile) -> Account:
    """Changes the given fields and returns the account. Raises Conflict when the user name is taken or reserved.

    The previous name stays reserved. When an account turns private or public, jobs update what others see; tag
    pages hide the posts of a private account even before their job has run.
    """
    # Wholly, since a change of the name is a change of a key of the row: taken weakly first, two edits would wait for
    # each other.
    await queries.lock_wholly(tx, caller.account.id)
    account = await get_account(tx, caller.account.id)
    before = msgspec.structs.replace(account)
    for field, value in msgspec.structs.asdict(profile).items():
        if value is not msgspec.UNSET:
            setattr(account, field, value)
    await _refuse_taken(tx, account.username, None, but=account.id)
    await queries.update_account(tx, account, username_key=folded(account.username))
    if folded(account.username) != folded(before.username):
        await change_username(tx, before.username, account)
    if (account.username, account.display_name) != (before.username, before.display_name):
        await queries.delete_words(tx, account.id)
        await queries.insert_words(tx, account.id, words_of_account(account.username, account.display_name))
    await _record_edit(tx, before, account, caller.source)
    if account.is_private != before.is_private:
        await queue.enqueue_anew(tx, TAG_JOB, account.id, account_id=account.id)
        if before.is_private:
            await queue.enqueue(tx, REQUESTS_JOB, account.id, account_id=account.id)
    return account


async def get_account(tx: Tx, account_id: str) -> Account:
    """Returns the account with this id. Raises NotFound."""
    account = await queries.find_account(tx, account_id)
    if account is None:
        raise NotFound("There is no such account.")
    return account


async def get_account_by_username(tx: Tx, username: str) -> Account:
    """Returns the account with this user name, in any case. Raises NotFound, also when it is suspended."""
    account = await queries.find_by_username(tx, folded(username))
    if account is None:
        raise NotFound(f"There is no account {username}.")
    return account


async def get_record(tx: Tx, username: str) -> AccountRecord:
    """Returns the account with this user name as an operator sees it, suspended or not. Raises NotFound."""
    record = await status.find_record(tx, folded(username))
    if record is None:
        raise NotFound(f"There is no account {username}.")
    return record


async def _record_edit(tx: Tx, before: Account, account: Account, source: Source) -> None:
    """Records the changed fields of a profile; the user name by itself, with the one before."""
    if account.username != before.username:
        await record(
            tx, account.id, Kind.USERNAME_CHANGED, source, usernameBefore=before.username, username=account.username
        )
    shown = {"displayName": "display_name", "bio": "bio", "isPrivate": "is_private", "discoverable": "discoverable"}
    changed = [name for name, field in shown.items() if getattr(before, field) != getattr(account, field)]
    if changed:
        await record(tx, account.id, Kind.PROFILE_CHANGED, source, fields=" ".join(changed))


async def _refuse_taken(tx: Tx, username: str, email: str | None, but: str = "") -> None:
    taken = await queries.find_taken(
        tx, username_key=folded(username), email_key=folded(email) if email else "", but=but
    )
    if taken == "username":
        raise Conflict(f"The user name {username} is taken.")
    if taken == "email":
        raise Conflict("There is already an account with this e-mail address.")
