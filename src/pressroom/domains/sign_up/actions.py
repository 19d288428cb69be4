"""Sign-up, and the first account of an installation: an admin's, made once with a token.

Each action takes an open transaction first (docs/sign-in.md#invitations, docs/operations.md#the-first-account).
"""

import secrets
from typing import Final

from pressroom.clock import MINUTE
from pressroom.db import Tx
from pressroom.domains.accounts import actions, queries
from pressroom.domains.accounts.actions import NewAccount
from pressroom.domains.accounts.blocks import check_network, check_not_blocked
from pressroom.domains.accounts.models import Account, folded
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import OPERATOR, Kind, Source
from pressroom.domains.sign_in import sessions
from pressroom.domains.sign_in.links import request_verification
from pressroom.domains.sign_in.tokens import LONGEST_ONE_TIME_TOKEN, hash_token
from pressroom.domains.sign_up import invitations
from pressroom.domains.sign_up import queries as stored
from pressroom.errors import Code, FieldError, NotFound, Unprocessable

JUST_MADE: Final = 5 * MINUTE
"""For how long the form that made an account, sent again, signs in to it."""

KEPT: Final = 20
"""Tokens that are good at once: one for each server that was started last."""

WRONG_TOKEN: Final = FieldError(
    "token", Code.NOT_ALLOWED, "This is not a token that this installation printed at its start."
)
SET_UP: Final = "This installation has an account already."


async def sign_up(
    tx: Tx, new: actions.NewAccount, source: Source, *, verify: bool, invite: str | None = None
) -> tuple[Account, str]:
    """Creates an account and a session; returns the account and the session's token.

    `verify` has a link mailed that verifies the account's address. The account uses up the invitation whose token is
    `invite`; raises Unprocessable when it does not hold.
    """
    await check_network(tx, source.address)
    await check_not_blocked(tx, new.email)
    # The account before the invitation, whose row names it; a refusal of either undoes both.
    account = await actions.create_account(tx, new, source)
    if invite is not None:
        await invitations.use(tx, invite, account.id)
    await sessions.remember_address(tx, account.id, source.address)
    if verify:
        await request_verification(tx, account.id)
    return account, await sessions.begin_session(tx, account.id, source)


async def precheck_sign_up(tx: Tx, username: str, email: str, client: str) -> None:
    """Raises Unprocessable when the e-mail address or the network of the `client` is blocked, and Conflict when one
    of address and user name is taken."""
    await check_network(tx, client)
    await check_not_blocked(tx, email)
    await actions.check_not_taken(tx, username, email)


async def was_just_made(tx: Tx, username: str, email: str) -> bool:
    """Returns whether there is an account with these two that was made within the last minutes."""
    account = await queries.find_credentials(tx, folded(username))
    if account is None or folded(account.email) != folded(email):
        return False
    return account.created_at >= tx.now - JUST_MADE


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
    account, session = await sign_up(tx, new, Source(address=client), verify=verify)
    await make_admin(tx, account.id, Source(address=client))
    return account, session


async def make_admin(tx: Tx, account_id: str, source: Source = OPERATOR) -> None:
    """Gives a new account the rights of an admin."""
    await status.set_admin(tx, account_id, is_admin=True)
    await record(tx, account_id, Kind.ADMIN_GIVEN, source)
