"""Actions of links in mails and on the console. Each takes an open transaction first (docs/mail.md#links)."""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts import actions, queries
from pressroom.domains.accounts.models import Account, folded
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import OPERATOR, UNKNOWN, Kind, Source
from pressroom.domains.sign_in import credentials, hourly_attempts, sessions, two_factor
from pressroom.domains.sign_in.credentials import VERIFICATION_MAIL_JOB
from pressroom.domains.sign_in.queries import tokens
from pressroom.domains.sign_in.tokens import (
    Purpose,
    consume_token,
    find_form,
    find_token,
    hash_token,
    issue_token,
    remember_form,
)
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.jobs import queue

RESET_MAIL_JOB: Final = "reset mail"
"""The kind of job that mails a link to set a new password; its subject is an e-mail address, folded.

It is enqueued for every address that is asked for, so that a request does the same whether there is such an account.
"""


SPENT: Final = FieldError(
    "token", Code.NOT_ALLOWED, "This link was used already, or its time is over. Ask for another one."
)

VERIFIED_ALREADY: Final = FieldError("email", Code.NOT_ALLOWED, "Your e-mail address is confirmed already.")


async def request_reset(tx: Tx, email: str, client: str, per_address: int) -> None:
    """Has a link to set a new password mailed to the account of `email`, if there is one.

    Writes the same in either case. Raises TooManyAttempts.
    """
    await hourly_attempts.attempt_reset(tx, email, client, per_address)
    await queue.enqueue(tx, RESET_MAIL_JOB, folded(email))


async def request_verification(tx: Tx, account_id: str) -> None:
    """Has a link to verify the account's e-mail address mailed. Raises TooManyAttempts."""
    await hourly_attempts.attempt_verification(tx, account_id)
    await queue.enqueue(tx, VERIFICATION_MAIL_JOB, account_id, account_id=account_id)


async def request_verification_again(tx: Tx, account_id: str) -> None:
    """Does the same for an account that waits for it. Raises Unprocessable when its address is verified, and
    TooManyAttempts."""
    account = await actions.get_account(tx, account_id)
    if account.email_verified:
        raise Unprocessable([VERIFIED_ALREADY])
    await request_verification(tx, account_id)


async def check_link(tx: Tx, token: str, purpose: Purpose) -> str:
    """Returns the account, by its id, that the token of a link is for. It stays good. Raises Unprocessable."""
    account_id = await find_token(tx, token, purpose)
    if account_id is None:
        raise Unprocessable([SPENT])
    return account_id


async def reset_password(tx: Tx, token: str, password_hash: str, form_key: str = "", source: Source = UNKNOWN) -> None:
    """Sets the password of the account that a link is for, and ends its sessions and all its links.

    The holder of the link has read the mail, so the address is verified as well. Raises Unprocessable.
    """
    # Locked first: of two uses of one link, the second finds the token consumed.
    account_id = await _lock_account(tx, token, Purpose.RESET)
    await status.verify_email(tx, account_id, hash_token(token))
    await _consume(tx, token, Purpose.RESET)
    await credentials.set_password(tx, account_id, password_hash)
    await record(tx, account_id, Kind.PASSWORD_RESET, source)
    await remember_form(tx, account_id, token, form_key, Purpose.FORM)


async def find_reset_again(tx: Tx, token: str, form_key: str) -> queries.Credentials | None:
    """Returns the account whose password the form with this key has set, if any, to be verified against."""
    account_id = await find_form(tx, token, form_key, Purpose.FORM)
    return None if account_id is None else await queries.find_own_credentials(tx, account_id)


async def verify_email(tx: Tx, token: str, form_key: str = "", source: Source = UNKNOWN) -> None:
    """Marks the e-mail address that a link was sent to as verified. Raises Unprocessable."""
    account_id = await _lock_account(tx, token, Purpose.VERIFY)
    await status.verify_email(tx, account_id, hash_token(token))
    await _consume(tx, token, Purpose.VERIFY)
    await tokens.delete_tokens(tx, account_id, Purpose.VERIFY.value)
    await record(tx, account_id, Kind.EMAIL_CONFIRMED, source)
    await remember_form(tx, account_id, token, form_key, Purpose.FORM)


async def sign_in_by_link(tx: Tx, token: str, source: Source, form_key: str = "") -> tuple[Account, str]:
    """Begins a session of the account that a link signs in.

    Returns the account and the session's token. Raises Unprocessable, also once the account has two-factor sign-in.
    """
    account_id = await _lock_account(tx, token, Purpose.SIGN_IN)
    if (await two_factor.find_state(tx, account_id)).enabled_at is not None:  # since the link was made
        raise Unprocessable([SPENT])
    await _consume(tx, token, Purpose.SIGN_IN)
    await remember_form(tx, account_id, token, form_key, Purpose.SIGN_IN_FORM)
    await sessions.remember_address(tx, account_id, source.address)
    return await actions.get_account(tx, account_id), await sessions.begin_session(tx, account_id, source)


async def sign_in_again(tx: Tx, token: str, form_key: str, source: Source) -> str:
    """Begins another session for the form that used the link up within the last minute; returns its token.

    Its first answer may never have arrived. Raises Unprocessable, also once the account has two-factor sign-in.
    """
    account_id = await find_form(tx, token, form_key, Purpose.SIGN_IN_FORM)
    if account_id is not None:
        # Looked up again under the lock: the account's links may have been removed meanwhile.
        await queries.lock_wholly(tx, account_id)
        account_id = await find_form(tx, token, form_key, Purpose.SIGN_IN_FORM)
    if account_id is None or (await two_factor.find_state(tx, account_id)).enabled_at is not None:
        raise Unprocessable([SPENT])
    return await sessions.begin_session(tx, account_id, source)


async def issue_reset(tx: Tx, username: str, source: Source = OPERATOR) -> str:
    """Returns a token to set a new password, for an operator to hand over. Raises NotFound, also when suspended."""
    account = await actions.get_account_by_username(tx, username)
    await record(tx, account.id, Kind.RESET_LINK_MADE, source)
    return await issue_token(tx, account.id, Purpose.RESET)


async def find_unverified(tx: Tx, account_id: str) -> Account | None:
    """Returns the account if its e-mail address is still to be verified and it is not suspended."""
    try:
        account = await actions.get_account(tx, account_id)
    except NotFound:
        return None
    now = await status.find_status(tx, account_id)
    return None if account.email_verified or now is None or now.suspended_at is not None else account


async def _lock_account(tx: Tx, token: str, purpose: Purpose) -> str:
    """Locks the account of a token before the token, as the removal of all its tokens does. Returns its id."""
    account_id = await find_token(tx, token, purpose)
    if account_id is None:
        raise Unprocessable([SPENT])
    await queries.lock_wholly(tx, account_id)
    return account_id


async def _consume(tx: Tx, token: str, purpose: Purpose) -> None:
    if await consume_token(tx, token, purpose) is None:  # another request was quicker
        raise Unprocessable([SPENT])
