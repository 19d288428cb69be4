"""Finds the caller of a request by its session cookie."""

from typing import Final

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.domains.accounts import actions, queries
from pressroom.domains.accounts.cookies import session_cookie
from pressroom.domains.accounts.models import Caller

LONGEST_TOKEN: Final = 100


class SessionGuard:
    """Finds the caller of a session, and prolongs the session while it is used."""

    def __init__(self, db: Database, clock: Clock, *, secure: bool) -> None:
        self._db = db
        self._clock = clock
        self._secure = secure

    async def identify(self, token: str, response_headers: list[tuple[bytes, bytes]]) -> Caller | None:
        """Returns the session's caller, or None when there is no such session or it has ended.

        Adds a cookie to `response_headers` when it prolongs the session.
        """
        if len(token) > LONGEST_TOKEN:
            return None
        session = await self._db.one(queries.FIND_SESSION, token_hash=actions.hash_token(token))
        now = self._clock.now()
        if session is None or session.expires_at <= now:
            return None
        if actions.needs_renewal(session.renewed_at, now):
            await self._db.transact(actions.renew_session, token)
            response_headers.append(session_cookie(token, secure=self._secure))
        return Caller(session, confirmed_at=session.confirmed_at, is_admin=session.is_admin)
