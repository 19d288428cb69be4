"""Finds the caller of a request by its session cookie."""

from typing import Final

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.domains.accounts.models import Caller
from pressroom.domains.audit.models import Source
from pressroom.domains.sign_in import sessions, tokens
from pressroom.domains.sign_in.cookies import session_cookie
from pressroom.domains.sign_in.queries.sessions import FIND_SESSION
from pressroom.domains.sign_in.sessions import SessionUse

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
        token_hash = tokens.hash_token(token)
        session = await self._db.one(FIND_SESSION, token_hash=token_hash)
        now = self._clock.now()
        if session is None or session.expires_at <= now:
            return None
        self._use.note(token_hash, session.seen_at, source.address, now)
        if sessions.needs_renewal(session.renewed_at, now):
            await self._db.transact(sessions.renew_session, token)
            response_headers.append(session_cookie(token, secure=self._secure))
        return Caller(
            session,
            confirmed_at=session.confirmed_at,
            is_admin=session.is_admin,
            is_moderator=session.is_moderator,
            source=source,
        )
