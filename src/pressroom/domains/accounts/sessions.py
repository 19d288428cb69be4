"""An owner's actions on sessions, password and e-mail address of the account (docs/sign-in.md#sessions).

Each action takes an open transaction first.
"""

from typing import Final

import msgspec

from pressroom.clock import MINUTE
from pressroom.db import Database, Tx
from pressroom.domains.accounts import actions, hourly_attempts, queries
from pressroom.domains.accounts.agents import name_of_agent
from pressroom.domains.accounts.blocks import check_not_blocked
from pressroom.domains.accounts.links import VERIFICATION_MAIL_JOB
from pressroom.domains.accounts.models import Account, Caller, Session, folded
from pressroom.domains.accounts.queries import sessions, status, tokens
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.errors import NotFound
from pressroom.jobs import queue
from pressroom.jobs.write_behind import WriteBehind

EMAIL_CHANGED_JOB: Final = "email changed mail"
"""The kind of job that tells an address that an account does not have it any more; its subject is the address."""

MOST_SEEN: Final = 100_000
"""Sessions whose last use waits to be written; of more, the last use is not noted."""


class Seen(msgspec.Struct, frozen=True):
    """When (milliseconds, to the minute) and from where a session was used."""

    at: int
    address: str


class SessionUse:
    """When and from where each session was last used, to the minute; saved write-behind."""

    def __init__(self, db: Database) -> None:
        self._seen = WriteBehind[Seen](lambda seen: db.transact(_touch_all, seen), most=MOST_SEEN)

    def note(self, token_hash: str, seen_at: int, address: str, now: int) -> None:
        """Records a use at `now`; `seen_at` is the last one that is written down (both in milliseconds)."""
        minute = now // MINUTE * MINUTE
        if seen_at < minute:
            self._seen.add(token_hash, Seen(minute, address))

    async def flush(self) -> None:
        """Saves the recorded uses."""
        await self._seen.flush()


async def list_sessions(tx: Tx, account_id: str, before: str, limit: int) -> list[Session]:
    """Returns at most `limit` sessions of the account with ids before `before`, latest first."""
    return await sessions.list_sessions(tx, account_id, before=before, limit=limit)


async def end_session(tx: Tx, account_id: str, session_id: str, source: Source) -> None:
    """Ends a session of the account: from the next request on it is refused. Raises NotFound."""
    agent = await sessions.end_session(tx, account_id, session_id)
    if agent is None:
        raise NotFound("There is no such session.")
    await record(tx, account_id, Kind.SIGNED_OUT, source, browser=name_of_agent(agent), sessionId=session_id)


async def end_other_sessions(tx: Tx, account_id: str, token: str, source: Source) -> int:
    """Ends all sessions of the account but that of `token`; returns how many."""
    ended = await sessions.end_others(tx, account_id, actions.hash_token(token))
    if ended:
        await record(tx, account_id, Kind.OTHERS_SIGNED_OUT, source, count=ended)
    return ended


async def change_password(tx: Tx, caller: Caller, token: str, password_hash: str) -> None:
    """Replaces the caller's password. Ends the other sessions and all links; that of `token` goes on.

    A sign-in with the password before, which is under way, begins no session.
    """
    account_id = caller.account.id
    await queries.lock_wholly(tx, account_id)
    await status.set_password(tx, account_id, password_hash)
    await tokens.delete_tokens(tx, account_id)
    await sessions.end_others(tx, account_id, actions.hash_token(token))
    await status.forget_failures(tx, account_id)
    await record(tx, account_id, Kind.PASSWORD_CHANGED, caller.source)


async def change_email(tx: Tx, caller: Caller, email: str, *, verify: bool) -> Account:
    """Replaces the caller's e-mail address and returns the account; the new address is not verified yet.

    With `verify`, the address before is told by mail, and a link to verify the new one is mailed there. Raises Conflict
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


async def _touch_all(tx: Tx, seen: dict[str, Seen]) -> None:
    for token_hash in sorted(seen):
        use = seen[token_hash]
        await sessions.touch_session(tx, token_hash, seen_at=use.at, address=use.address)
