"""The commands that create accounts, and development mode's first one."""

import secrets

import msgspec

from pressroom.clock import SystemClock
from pressroom.db import Database, Tx
from pressroom.domains.accounts import actions, queries
from pressroom.domains.audit.models import OPERATOR, Source
from pressroom.domains.sign_in.links import issue_reset
from pressroom.domains.sign_in.passwords import Passwords
from pressroom.domains.sign_in.tokens import Purpose, issue_token
from pressroom.domains.sign_up.actions import issue_token as issue_setup_token
from pressroom.domains.sign_up.actions import make_admin
from pressroom.domains.sign_up.schemas import SignUp
from pressroom.errors import Conflict
from pressroom.web.json_bodies import decode


class FirstAccount(msgspec.Struct):
    """Development mode's first account, and its password."""

    account_id: str
    username: str
    password: str


async def create(
    db: Database, username: str, email: str, password: str, *, is_admin: bool = False, source: Source = OPERATOR
) -> str:
    """Creates an account under the same rules as sign-up and returns its id. Raises Invalid or Conflict."""
    passwords = Passwords()
    try:
        return await _create(db, passwords, username, email, password, source, is_admin=is_admin)
    finally:
        passwords.close()


async def first_account(db: Database, passwords: Passwords) -> FirstAccount | None:
    """Creates an account, an admin's, in a database that has none and returns it; otherwise returns None."""
    if await db.read(queries.any_account):
        return None
    password = secrets.token_urlsafe(12)
    try:
        account_id = await _create(db, passwords, "editor", "editor@example.org", password, OPERATOR, is_admin=True)
    except Conflict:
        return None  # Another server, started at the same moment, was quicker.
    return FirstAccount(account_id, "editor", password)


async def sign_in_link(db: Database, account_id: str, base_url: str) -> str:
    """Returns a link that signs the account in once, within an hour."""
    return f"{base_url}/login/link/{await db.transact(issue_token, account_id, Purpose.SIGN_IN)}"


async def reset_link(db: Database, username: str, base_url: str, source: Source) -> str:
    """Returns a link by which the account sets a new password, once and within an hour. Raises NotFound."""
    return f"{base_url}/reset/{await db.transact(issue_reset, username, source)}"


async def setup_link(db: Database, base_url: str) -> str | None:
    """Returns a link to make the first account of an installation; None when there is an account."""
    token = await db.transact(issue_setup_token)
    return f"{base_url}/setup?token={token}" if token else None


async def _create(
    db: Database, passwords: Passwords, username: str, email: str, password: str, source: Source, *, is_admin: bool
) -> str:
    given = msgspec.json.encode({"username": username, "email": email, "password": password})
    wanted = decode(SignUp, given, [], SystemClock().now())
    password_hash = await passwords.hash(wanted.password)
    new = actions.NewAccount(wanted.username, wanted.email, password_hash)
    return await db.transact(_insert, new, source, is_admin=is_admin)


async def _insert(tx: Tx, new: actions.NewAccount, source: Source, *, is_admin: bool) -> str:
    account = await actions.create_account(tx, new, source)
    if is_admin:
        await make_admin(tx, account.id, source)
    return account.id
