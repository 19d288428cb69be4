"""Replacing the password and the e-mail address of an account (docs/sign-in.md#sessions)."""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts import actions, queries
from pressroom.domains.accounts.blocks import check_not_blocked
from pressroom.domains.accounts.models import Account, Caller, folded
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind
from pressroom.domains.sign_in import hourly_attempts
from pressroom.domains.sign_in.queries import attempts, sessions, tokens
from pressroom.domains.sign_in.tokens import hash_token
from pressroom.jobs import queue

EMAIL_CHANGED_JOB: Final = "email changed mail"
"""The kind of job that mails an address that an account no longer has it; its subject is the address."""


async def change_password(tx: Tx, caller: Caller, token: str, password_hash: str) -> None:
    """Replaces the caller's password. Ends the other sessions and all links; that of `token` stays.

    A sign-in with the password before, which is under way, begins no session.
    """
    account_id = caller.account.id
    await queries.lock_wholly(tx, account_id)
    await status.set_password(tx, account_id, password_hash)
    await tokens.delete_tokens(tx, account_id)
    await sessions.end_others(tx, account_id, hash_token(token))
    await attempts.forget_failures(tx, account_id)
    await record(tx, account_id, Kind.PASSWORD_CHANGED, caller.source)


async def change_email(tx: Tx, caller: Caller, email: str, *, verify: bool) -> Account:
    """Replaces the caller's e-mail address and returns the account; the new address is not verified yet.

    With `verify`, the address before gets a mail, and a link to verify the new one is mailed there. Raises Conflict
    when another account has the address, Unprocessable when it is blocked, TooManyAttempts after too many mails.
    """
    await queries.lock_wholly(tx, caller.account.id)
    before = await actions.get_account(tx, caller.account.id)
    if before.email == email:
        return before
    await check_not_blocked(tx, email)
    await actions.check_email_free(tx, email, but=before.id)
    await status.set_email(tx, before.id, email, folded(email))
    if verify:
        await hourly_attempts.attempt_verification(tx, before.id)
        await queue.enqueue(tx, VERIFICATION_MAIL_JOB, before.id, account_id=before.id)
        await queue.enqueue(tx, EMAIL_CHANGED_JOB, before.email, account_id=before.id)
    await record(tx, before.id, Kind.EMAIL_CHANGED, caller.source)
    return await actions.get_account(tx, before.id)


async def set_password(tx: Tx, account_id: str, password_hash: str) -> None:
    """Replaces the password of an account, ends its sessions and links, and deletes its failed sign-ins."""
    await status.set_password(tx, account_id, password_hash)
    await tokens.delete_tokens(tx, account_id)
    await sessions.delete_sessions(tx, account_id)
    await attempts.forget_failures(tx, account_id)


VERIFICATION_MAIL_JOB: Final = "verification mail"
"""The kind of job that mails a link to verify an address; its subject is the account's id."""
