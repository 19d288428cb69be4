"""The first account of an installation, an admin's: made once, with a token that a server printed at its start.

Each function takes an open transaction first (docs/operations.md#the-first-account).
"""

import secrets
from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts import queries
from pressroom.domains.accounts.actions import NewAccount
from pressroom.domains.accounts.models import Account
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import OPERATOR, Kind, Source
from pressroom.domains.sign_in.tokens import LONGEST_ONE_TIME_TOKEN, hash_token
from pressroom.domains.sign_up import actions
from pressroom.domains.sign_up import queries as stored
from pressroom.errors import Code, FieldError, NotFound, Unprocessable

KEPT: Final = 20
"""Tokens that are good at once: one for each server that was started last."""

WRONG_TOKEN: Final = FieldError(
    "token", Code.NOT_ALLOWED, "This is not a token that this installation printed at its start."
)

SET_UP: Final = "This installation has an account already."


async def issue_token(tx: Tx) -> str | None:
    """Makes a token and returns it; returns None when there is an account."""
    if await queries.any_account(tx):
        return None
    token = secrets.token_urlsafe(32)
    await stored.insert_setup_token(tx, hash_token(token), KEPT)
    return token


async def check_open(tx: Tx) -> None:
    """Raises NotFound once there is an account."""
    if await queries.any_account(tx):
        raise NotFound(SET_UP)


async def check_token(tx: Tx, token: str) -> None:
    """Raises NotFound once there is an account, Unprocessable for a token that is none."""
    holds = len(token) <= LONGEST_ONE_TIME_TOKEN and await stored.has_setup_token(tx, hash_token(token))
    await check_open(tx)  # after the token, which goes as the account comes
    if not holds:
        raise Unprocessable([WRONG_TOKEN])


async def set_up(tx: Tx, token: str, new: NewAccount, client: str, *, verify: bool) -> tuple[Account, str]:
    """Makes the first account, an admin's, from the address `client`; returns it and the token of its session.

    `verify` has a link mailed that verifies its address. Raises what `check_token` raises. Of two at once one gets
    NotFound.
    """
    await check_token(tx, token)
    # This is also the lock: of two at once, the second removes nothing and finds the account.
    removed = await stored.delete_setup_tokens(tx)
    await check_open(tx)
    if not removed:
        raise Unprocessable([WRONG_TOKEN])
    account, session = await actions.sign_up(tx, new, Source(address=client), verify=verify)
    await make_admin(tx, account.id, Source(address=client))
    return account, session


async def make_admin(tx: Tx, account_id: str, source: Source = OPERATOR) -> None:
    """Gives a new account the rights of an admin."""
    await status.set_admin(tx, account_id, is_admin=True)
    await record(tx, account_id, Kind.ADMIN_GIVEN, source)
