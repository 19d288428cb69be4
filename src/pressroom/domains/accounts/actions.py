"""What people do with their accounts. Each takes an open transaction first."""

import hashlib
import secrets
from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import (
    KNOWN_ADDRESS_LIFE,
    KNOWN_ADDRESSES,
    RESERVATIONS,
    RESERVED,
    SESSION_LIFE,
    SESSION_RENEWAL,
    Account,
    AccountRecord,
    Caller,
    Profile,
    folded,
    network_of,
)
from pressroom.domains.accounts.queries import status, usernames
from pressroom.errors import Conflict, NotFound
from pressroom.ids import new_id
from pressroom.jobs import queue

TAG_JOB: Final = "account tags"
"""The kind of job that makes the tag pages follow what became of an account, whose id is its subject."""

REQUESTS_JOB: Final = "follow requests"
"""The kind of job that answers those who wait to follow an account that is no longer private."""


class NewAccount(msgspec.Struct):
    """What an account is made of."""

    username: str
    email: str
    password_hash: str
    display_name: str | None = None


def hash_token(token: str) -> str:
    """What the database keeps of a session's cookie."""
    return hashlib.sha256(token.encode()).hexdigest()


async def create_account(tx: Tx, new: NewAccount) -> Account:
    """Makes an account. Raises Conflict when the user name or the e-mail address is taken."""
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
    await _refuse_reserved(tx, account.username)
    return account


async def check_not_taken(tx: Tx, username: str, email: str) -> None:
    """Raises Conflict when the user name or the e-mail address is taken, or the name reserved."""
    await _refuse_taken(tx, username, email)
    await _refuse_reserved(tx, username)


async def sign_up(tx: Tx, new: NewAccount, client: str) -> tuple[Account, str]:
    """Makes an account and begins a session at the address `client`: the account and the cookie's value."""
    account = await create_account(tx, new)
    await remember_address(tx, account.id, client)
    return account, await begin_session(tx, account.id)


async def begin_session(tx: Tx, account_id: str) -> str:
    """Begins a session; the value of its cookie, of which only a hash is kept."""
    token = secrets.token_urlsafe(32)
    await queries.insert_session(
        tx, token_hash=hash_token(token), account_id=account_id, expires_at=tx.now + SESSION_LIFE
    )
    return token


async def end_session(tx: Tx, token: str) -> None:
    """Ends the session of this cookie."""
    await queries.delete_session(tx, hash_token(token))


async def renew_session(tx: Tx, token: str) -> None:
    """Prolongs the session of this cookie to 30 days from now."""
    await queries.renew_session(tx, token_hash=hash_token(token), expires_at=tx.now + SESSION_LIFE)


async def remember_address(tx: Tx, account_id: str, client: str) -> None:
    """Notes that the account was signed in to from the address `client`; the latest addresses are kept, as hashes."""
    await queries.remember_address(tx, account_id=account_id, address_hash=_hash_address(account_id, client))
    await queries.forget_addresses(tx, account_id=account_id, but=KNOWN_ADDRESSES)


async def find_known_address(tx: Tx, account_id: str, client: str) -> str | None:
    """The hash of the address `client`, if the account was signed in to from there within the last 90 days."""
    address_hash = _hash_address(account_id, client)
    since = tx.now - KNOWN_ADDRESS_LIFE
    known = await queries.is_known_address(tx, account_id=account_id, address_hash=address_hash, since=since)
    return address_hash if known else None


async def lock_for_edit(tx: Tx, account_id: str) -> None:
    """Keeps whoever else writes in the account's name waiting. To be taken before any other lock on the account."""
    await queries.lock_wholly(tx, account_id)


async def edit_profile(tx: Tx, caller: Caller, profile: Profile) -> Account:
    """Changes what was given. Raises Conflict when the user name is taken or reserved.

    The name before stays reserved. What others see of an account that turns private or public follows by jobs; readers
    of tag pages are shown nothing of a private account even before.
    """
    await queries.lock_wholly(tx, caller.account.id)
    account = await get_account(tx, caller.account.id)
    before = msgspec.structs.replace(account)
    for field, value in msgspec.structs.asdict(profile).items():
        if value is not msgspec.UNSET:
            setattr(account, field, value)
    await _refuse_taken(tx, account.username, None, but=account.id)
    await queries.update_account(tx, account, username_key=folded(account.username))
    if folded(account.username) != folded(before.username):
        await _change_username(tx, before.username, account)
    if account.is_private != before.is_private:
        await queue.enqueue(tx, TAG_JOB, account.id, account_id=account.id)
        if before.is_private:
            await queue.enqueue(tx, REQUESTS_JOB, account.id, account_id=account.id)
    return account


async def get_account(tx: Tx, account_id: str) -> Account:
    """The account with this id. Raises NotFound."""
    account = await queries.find_account(tx, account_id)
    if account is None:
        raise NotFound("There is no such account.")
    return account


async def get_account_by_username(tx: Tx, username: str) -> Account:
    """The account with this user name, whatever its case. Raises NotFound, also when it is suspended."""
    account = await queries.find_by_username(tx, folded(username))
    if account is None:
        raise NotFound(f"There is no account {username}.")
    return account


async def get_record(tx: Tx, username: str) -> AccountRecord:
    """The account with this user name, also when it is suspended, as an operator sees it. Raises NotFound."""
    record = await status.find_record(tx, folded(username))
    if record is None:
        raise NotFound(f"There is no account {username}.")
    return record


async def set_password(tx: Tx, account_id: str, password_hash: str) -> None:
    """Gives an account another password, ends its sessions and forgets its failed sign-ins."""
    await status.set_password(tx, account_id, password_hash)
    await status.delete_sessions(tx, account_id)
    await status.delete_attempts(tx, account_id)


def needs_renewal(renewed_at: int, now: int) -> bool:
    """Whether a session in use is due to be prolonged."""
    return now - renewed_at >= SESSION_RENEWAL


async def _change_username(tx: Tx, before: str, account: Account) -> None:
    """Keeps the name before for this account; the new one is in use now. Raises Conflict."""
    await _refuse_reserved(tx, account.username, but=account.id)
    await usernames.free_username(tx, folded(account.username))
    if await usernames.count_reserved(tx, account.id) >= RESERVATIONS:
        raise Conflict(f"{RESERVATIONS} earlier names are kept for this account for 90 days; take one of those back.")
    await usernames.reserve_username(tx, folded(before), account.id, until=tx.now + RESERVED)


async def _refuse_reserved(tx: Tx, username: str, but: str = "") -> None:
    """Raises Conflict for a name that is kept for an account other than `but`.

    To be asked once the name is written: whoever gave it up at the same moment has committed by then.
    """
    if await usernames.is_reserved(tx, folded(username), but=but):
        raise Conflict(f"The user name {username} is taken.")


async def _refuse_taken(tx: Tx, username: str, email: str | None, but: str = "") -> None:
    taken = await queries.find_taken(
        tx, username_key=folded(username), email_key=folded(email) if email else "", but=but
    )
    if taken == "username":
        raise Conflict(f"The user name {username} is taken.")
    if taken == "email":
        raise Conflict("There is already an account with this e-mail address.")


def _hash_address(account_id: str, client: str) -> str:
    return hashlib.sha256(f"{account_id} {network_of(client)}".encode()).hexdigest()
