"""Checks the key of a request before its route runs (docs/keys.md#order-of-checks)."""

from collections.abc import Sequence
from typing import Final

from pressroom.clock import MINUTE, Clock
from pressroom.db import Database
from pressroom.domains.accounts.models import Caller, SourceKey
from pressroom.domains.keys import queries
from pressroom.domains.keys.models import Bearer
from pressroom.domains.keys.secret import hash_secret, is_well_formed
from pressroom.errors import ExpiredKey, InvalidKey, MissingScope, RevokedKey
from pressroom.jobs.write_behind import WriteBehind

_INVALID: Final = "This is not a valid API key. Send the header Authorization: Bearer svc_live_…"


class KeyGuard:
    """Finds the key of a request. Reads the database every time, so that a revoked key is refused at once."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def identify(self, authorization: str) -> Bearer:
        """Returns the key of an Authorization header, with its account, be it active or not. Raises InvalidKey."""
        scheme, _, secret = authorization.partition(" ")
        secret = secret.strip(" ")
        # The checksum tells a mistyped key without asking the database.
        if scheme.lower() != "bearer" or not is_well_formed(secret):
            raise InvalidKey(_INVALID)
        bearer = await self._db.one(queries.FIND_BEARER, secret_hash=hash_secret(secret))
        if bearer is None:
            raise InvalidKey(_INVALID)
        return bearer

    def check_active(self, bearer: Bearer) -> None:
        """Raises RevokedKey or ExpiredKey unless the key is active."""
        if bearer.revoked_at is not None:
            raise RevokedKey("This key was revoked. Create another one, signed in: POST /api/auth/api-keys.")
        if bearer.expires_at is not None and bearer.expires_at <= self._clock.now():
            raise ExpiredKey("This key has expired. Create another one, signed in: POST /api/auth/api-keys.")


def caller_of(bearer: Bearer) -> Caller:
    """Returns the caller of a request with this key."""
    return Caller(bearer, SourceKey(bearer.key_id, bearer.label, bearer.key_prefix), scopes=bearer.scopes)


def check_scopes(bearer: Bearer, scopes: Sequence[str]) -> None:
    """Raises MissingScope, which names the first that is missing, unless the key has all `scopes`."""
    for scope in scopes:
        if scope not in bearer.scopes.split(" "):
            raise MissingScope(scope)


class LastUsed:
    """When each key was last used, to the minute; saved write-behind."""

    def __init__(self, db: Database) -> None:
        self._times = WriteBehind[int](lambda used: db.transact(queries.touch_keys, used))

    def note(self, bearer: Bearer, now: int) -> None:
        """Records that the key was used at `now` (milliseconds)."""
        minute = now // MINUTE * MINUTE
        if bearer.last_used_at is None or bearer.last_used_at < minute:
            self._times.add(bearer.key_id, minute)

    async def flush(self) -> None:
        """Saves the recorded uses."""
        await self._times.flush()
