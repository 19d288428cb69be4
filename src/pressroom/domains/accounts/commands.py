"""The commands that create accounts, and development mode's first one."""

import secrets

import msgspec

from pressroom.clock import SystemClock
from pressroom.db import Database
from pressroom.domains.accounts import actions, queries
from pressroom.domains.accounts.passwords import Passwords
from pressroom.domains.accounts.schemas import SignUp
from pressroom.errors import Conflict
from pressroom.web.bodies import decode


class FirstAccount(msgspec.Struct):
    """Development mode's first account, and its password."""

    account_id: str
    username: str
    password: str


async def create(db: Database, username: str, email: str, password: str) -> str:
    """Creates an account under the same rules as sign-up and returns its id. Raises Invalid or Conflict."""
    passwords = Passwords()
    try:
        return await _create(db, passwords, username, email, password)
    finally:
        passwords.close()


async def first_account(db: Database, passwords: Passwords) -> FirstAccount | None:
    """Creates an account in a database that has none and returns it; otherwise returns None."""
    if await db.read(queries.any_account):
        return None
    password = secrets.token_urlsafe(12)
    try:
        account_id = await _create(db, passwords, "editor", "editor@example.org", password)
    except Conflict:
        return None  # Another server, started at the same moment, was quicker.
    return FirstAccount(account_id, "editor", password)


async def _create(db: Database, passwords: Passwords, username: str, email: str, password: str) -> str:
    given = msgspec.json.encode({"username": username, "email": email, "password": password})
    wanted = decode(SignUp, given, [], SystemClock().now())
    password_hash = await passwords.hash(wanted.password)
    new = actions.NewAccount(wanted.username, wanted.email, password_hash)
    return (await db.transact(actions.create_account, new)).id
