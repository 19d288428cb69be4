"""A sign-in that is under way while its account's password is changed begins nothing."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pressroom.db import Query, Tx
from pressroom.domains.audit.models import Source
from pressroom.domains.sign_in import attempts
from pressroom.domains.sign_in.credentials import set_password
from pressroom.domains.sign_in.tokens import Purpose, issue_token
from pressroom.errors import WrongCredentials
from tests.api.actors import rows
from tests.harness.databases import connect_to
from tests.harness.local import LocalServer

CLIENT = "198.51.100.7"
LIMITS = attempts.SignInLimits(10, 10, 10, 10)
SESSIONS = Query(str, "SELECT token_hash FROM sessions WHERE account_id = :account_id")
TOKENS = Query(str, "SELECT token_hash FROM one_time_tokens WHERE account_id = :account_id")
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
ON_POSTGRES = pytest.mark.parametrize("server", ["postgres"], indirect=True)

Act = Callable[..., Coroutine[Any, Any, str | None]]


async def complete(tx: Tx, account_id: str, attempt: attempts.SignInAttempt) -> str | None:
    return await attempts.complete_sign_in(tx, Source(CLIENT), account_id, attempt)


@pytest.mark.parametrize("act", [complete, attempts.await_code])
def test_a_password_changed_after_it_was_verified_begins_nothing(server: LocalServer, act: Act) -> None:
    account, transact = server.account(), server.runtime.db.transact
    attempt = server.run(transact(attempts.attempt_sign_in, account.username, CLIENT, LIMITS))
    server.run(transact(set_password, account.id, "another hash"))

    with pytest.raises(WrongCredentials):
        server.run(transact(act, account.id, attempt))

    assert rows(server, SESSIONS, account_id=account.id) == []
    assert rows(server, TOKENS, account_id=account.id) == []


@ON_POSTGRES
def test_a_sign_in_with_a_code_and_a_reset_wait_for_each_other_in_one_order(server: LocalServer) -> None:
    account, db = server.account(), server.runtime.db
    token = server.run(db.transact(issue_token, account.id, Purpose.SIGN_IN_CODE))
    attempt = server.run(db.transact(attempts.attempt_confirmation, account.id, CLIENT, LIMITS))

    async def race() -> None:
        """Locks the account as a reset elsewhere does until the sign-in waits for it, then removes its tokens."""
        other = await connect_to(server.settings)
        watch = await connect_to(server.settings)
        try:
            transaction = other.transaction()
            await transaction.start()
            await other.execute("SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE", account.id)
            signing_in = asyncio.create_task(asyncio.to_thread(server.run, pending()))
            deadline = time.monotonic() + 60
            while not await watch.fetchval(WAITING):
                assert time.monotonic() < deadline
            await other.execute("SELECT 1 FROM one_time_tokens WHERE account_id = $1 FOR UPDATE NOWAIT", account.id)
            await other.execute("DELETE FROM one_time_tokens WHERE account_id = $1", account.id)
            await transaction.commit()
            with pytest.raises(WrongCredentials):
                await signing_in
        finally:
            await other.close()
            await watch.close()

    async def pending() -> str | None:
        return await db.transact(attempts.complete_pending, Source(CLIENT), token, attempt)

    asyncio.run(race())
    assert rows(server, SESSIONS, account_id=account.id) == []
