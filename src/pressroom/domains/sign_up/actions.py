"""Sign-up. Each action takes an open transaction first (docs/sign-in.md#invitations)."""

from typing import Final

from pressroom.clock import MINUTE
from pressroom.db import Tx
from pressroom.domains.accounts import actions, queries
from pressroom.domains.accounts.blocks import check_not_blocked
from pressroom.domains.accounts.models import Account, folded
from pressroom.domains.audit.models import Source
from pressroom.domains.sign_in import sessions
from pressroom.domains.sign_in.links import request_verification
from pressroom.domains.sign_up import invitations

JUST_MADE: Final = 5 * MINUTE
"""For how long the form that made an account, sent again, signs in to it."""


async def sign_up(
    tx: Tx, new: actions.NewAccount, source: Source, *, verify: bool, invite: str | None = None
) -> tuple[Account, str]:
    """Creates an account and a session; returns the account and the session's token.

    `verify` has a link mailed that verifies the account's address. The account uses up the invitation whose token is
    `invite`; raises Unprocessable when it does not hold.
    """
    await check_not_blocked(tx, new.email)
    # The account before the invitation, whose row names it; a refusal of either undoes both.
    account = await actions.create_account(tx, new, source)
    if invite is not None:
        await invitations.use(tx, invite, account.id)
    await sessions.remember_address(tx, account.id, source.address)
    if verify:
        await request_verification(tx, account.id)
    return account, await sessions.begin_session(tx, account.id, source)


async def precheck_sign_up(tx: Tx, username: str, email: str) -> None:
    """Raises Unprocessable when the e-mail address is blocked, and Conflict when it or the user name is taken."""
    await check_not_blocked(tx, email)
    await actions.check_not_taken(tx, username, email)


async def was_just_made(tx: Tx, username: str, email: str) -> bool:
    """Returns whether there is an account with these two that was made within the last minutes."""
    account = await queries.find_credentials(tx, folded(username))
    if account is None or folded(account.email) != folded(email):
        return False
    return account.created_at >= tx.now - JUST_MADE
