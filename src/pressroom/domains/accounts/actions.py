"""What people do with their accounts. Each takes an open transaction first."""

import hashlib
import ipaddress
import secrets

import msgspec

from pressroom.clock import MINUTE, seconds_until
from pressroom.db import Tx
from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import SESSION_LIFE, SESSION_RENEWAL, Account, Caller, Profile, folded
from pressroom.errors import Conflict, NotFound, TooManyAttempts
from pressroom.ids import new_id

SIGN_IN_WINDOW = 15 * MINUTE


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
    return account


async def sign_up(tx: Tx, new: NewAccount) -> tuple[Account, str]:
    """Makes an account and begins a session: the account and the cookie's value."""
    account = await create_account(tx, new)
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


async def attempt_sign_in(
    tx: Tx, login: str, client: str, per_account: int, per_address: int
) -> queries.Credentials | None:
    """Counts an attempt before the password is looked at; the account that `login` names.

    Raises TooManyAttempts once the account has failed `per_account` times, by whichever of its names, or the
    client's address `per_address` times, within 15 minutes. Counting first keeps a burst from slipping through.
    """
    credentials = await queries.find_credentials(tx, folded(login))
    named = _account_subject(credentials.id) if credentials else _unknown_subject(login)
    for subject, limit in ((named, per_account), (_address_subject(client), per_address)):
        attempts = await queries.count_attempt(tx, subject=subject, window_ends_at=tx.now + SIGN_IN_WINDOW)
        if attempts.failures > limit:
            seconds = seconds_until(attempts.window_ends_at, tx.now)
            raise TooManyAttempts(f"Too many failed sign-ins; try again in {seconds} s.", seconds)
    return credentials


async def forgive_sign_in(tx: Tx, login: str, client: str) -> None:
    """The password was never looked at: the attempt is taken back."""
    credentials = await queries.find_credentials(tx, folded(login))
    await queries.forgive_attempt(tx, _account_subject(credentials.id) if credentials else _unknown_subject(login))
    await queries.forgive_attempt(tx, _address_subject(client))


async def complete_sign_in(tx: Tx, client: str, account_id: str) -> str:
    """The password was right: the account's failures are forgotten and a session begins; its cookie's value."""
    await queries.forget_attempts(tx, _account_subject(account_id))
    await queries.forgive_attempt(tx, _address_subject(client))
    return await begin_session(tx, account_id)


async def edit_profile(tx: Tx, caller: Caller, profile: Profile) -> Account:
    """Changes what was given. Raises Conflict when the user name is taken."""
    await queries.lock_wholly(tx, caller.account.id)
    account = await get_account(tx, caller.account.id)
    for field, value in msgspec.structs.asdict(profile).items():
        if value is not msgspec.UNSET:
            setattr(account, field, value)
    await _refuse_taken(tx, account.username, None, but=account.id)
    await queries.update_account(tx, account, username_key=folded(account.username))
    return account


async def get_account(tx: Tx, account_id: str) -> Account:
    """The account with this id. Raises NotFound."""
    account = await queries.find_account(tx, account_id)
    if account is None:
        raise NotFound("There is no such account.")
    return account


async def get_account_by_username(tx: Tx, username: str) -> Account:
    """The account with this user name, whatever its case. Raises NotFound."""
    account = await queries.find_by_username(tx, folded(username))
    if account is None:
        raise NotFound(f"There is no account {username}.")
    return account


def needs_renewal(renewed_at: int, now: int) -> bool:
    """Whether a session in use is due to be prolonged."""
    return now - renewed_at >= SESSION_RENEWAL


async def _refuse_taken(tx: Tx, username: str, email: str | None, but: str = "") -> None:
    taken = await queries.find_taken(
        tx, username_key=folded(username), email_key=folded(email) if email else "", but=but
    )
    if taken == "username":
        raise Conflict(f"The user name {username} is taken.")
    if taken == "email":
        raise Conflict("There is already an account with this e-mail address.")


def _account_subject(account_id: str) -> str:
    return f"account:{account_id}"


def _unknown_subject(login: str) -> str:
    return "login:" + hashlib.sha256(folded(login).encode()).hexdigest()


def _address_subject(client: str) -> str:
    # Whoever has one IPv6 address has 2**64 of them.
    return f"address:{ipaddress.ip_network((client, 64), strict=False) if ':' in client else client}"
