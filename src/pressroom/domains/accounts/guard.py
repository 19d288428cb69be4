"""Finds the caller of a request by its session cookie."""

from typing import Final

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.domains.accounts import actions, queries
from pressroom.domains.accounts.cookies import session_cookie
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.sessions import SessionUse
from pressroom.domains.audit.models import Source

LONGEST_TOKEN: Final = 100


class SessionGuard:
    """Finds the caller of a session, and prolongs the session while it is used."""

    def __init__(self, db: Database, clock: Clock, use: SessionUse, *, secure: bool) -> None:
        self._db = db
        self._clock = clock
        self._use = use
        self._secure = secure

    async def identify(self, token: str, source: Source, response_headers: list[tuple[bytes, bytes]]) -> Caller | None:
        """Returns the session's caller, or None when there is no such session or it has ended.

        Adds a cookie to `response_headers` when it prolongs the session.
        """
        if len(token) > LONGEST_TOKEN:
            return None
        token_hash = actions.hash_token(token)
        session = await self._db.one(queries.FIND_SESSION, token_hash=token_hash)
        now = self._clock.now()
        if session is None or session.expires_at <= now:
            return None
        self._use.note(token_hash, session.seen_at, source.address, now)
        if actions.needs_renewal(session.renewed_at, now):
            await self._db.transact(actions.renew_session, token)
            response_headers.append(session_cookie(token, secure=self._secure))
        return Caller(session, confirmed_at=session.confirmed_at, is_admin=session.is_admin, source=source)
