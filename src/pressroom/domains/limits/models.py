"""Rates, limits of single accounts, verdicts, and the rows that windows are saved in."""

from functools import lru_cache
from typing import Final

import msgspec

from pressroom.clock import SECOND
from pressroom.errors import Limit

MINUTE_LIMIT: Final = "minute"
DAY_LIMIT: Final = "day"
POSTS_LIMIT: Final = "posts"


class Rates(msgspec.Struct, frozen=True):
    """The limits of every key, or of every account that is signed in. `what` is the noun for the counted requests.

    `per_day` 0 means no daily limit; `abuse_window` is in milliseconds, and 0 means that refusals are never abuse.
    `minute_limit` is the name of `per_minute` for programs.
    """

    per_minute: int = 60
    per_day: int = 10_000
    posts_per_minute: int = 10
    abuse_refusals: int = 600
    abuse_window: int = 600 * SECOND
    what: str = "requests"
    minute_limit: Limit = Limit.REQUESTS_PER_MINUTE

    def name(self, limit: str) -> Limit:
        """Returns the limit's name for programs (docs/limits.md#names)."""
        match limit:
            case "minute":
                return self.minute_limit
            case "day":
                return Limit.REQUESTS_PER_DAY
            case _:
                return Limit.POSTS_PER_MINUTE

    def sentence(self, limit: str) -> str:
        """Returns the limit's name in an error message: `60 requests per minute`."""
        match limit:
            case "minute":
                return f"{self.per_minute:,} {self.what} per minute"
            case "day":
                return f"{self.per_day:,} {self.what} per 24 hours"
            case _:
                return f"{self.posts_per_minute:,} posts per minute"

    @property
    def counts_keys(self) -> bool:
        """Returns whether these are the limits of a key."""
        return self.minute_limit is Limit.REQUESTS_PER_MINUTE


class Allowance(msgspec.Struct, frozen=True):
    """Posts, clips and bounces per UTC day, counted apart by key and signed in; `storage`: bytes of stored media."""

    content_by_key: int
    content_signed_in: int
    storage: int

    def content(self, *, signed_in: bool) -> int:
        """Returns the quota of a UTC day for a caller by key or `signed_in`."""
        return self.content_signed_in if signed_in else self.content_by_key


class OwnLimits(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Limits of one account; None: as the settings say (docs/limits.md#limits-of-one-account).

    `ends_at` (milliseconds) is when those of the settings hold again; None: they have no end.
    """

    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    posts_per_minute: int | None = None
    content_per_day: int | None = None
    session_writes_per_minute: int | None = None
    session_content_per_day: int | None = None
    storage_bytes: int | None = None
    ends_at: int | None = None

    def rates(self, usual: Rates) -> Rates:
        """Returns the rates of the account's keys, or of the account signed in, where `usual` are those of others."""
        return _own_rates(self, usual)

    def allowance(self, usual: Allowance) -> Allowance:
        """Returns the account's allowance, where `usual` is that of others."""
        return Allowance(
            _either(self.content_per_day, usual.content_by_key),
            _either(self.session_content_per_day, usual.content_signed_in),
            _either(self.storage_bytes, usual.storage),
        )


NO_LIMITS: Final = OwnLimits()
_DECODER: Final = msgspec.json.Decoder(OwnLimits)


def own_limits(stored: str | None, now: int) -> OwnLimits:
    """Returns the limits that an account's row holds and that are in force at `now` (milliseconds)."""
    if stored is None:
        return NO_LIMITS
    found = _DECODER.decode(stored)
    return NO_LIMITS if found.ends_at is not None and found.ends_at <= now else found


@lru_cache(maxsize=1_024)
def _own_rates(own: OwnLimits, usual: Rates) -> Rates:
    if not usual.counts_keys:
        return msgspec.structs.replace(usual, per_minute=_either(own.session_writes_per_minute, usual.per_minute))
    return msgspec.structs.replace(
        usual,
        per_minute=_either(own.requests_per_minute, usual.per_minute),
        per_day=_either(own.requests_per_day, usual.per_day),
        posts_per_minute=_either(own.posts_per_minute, usual.posts_per_minute),
    )


def _either(own: int | None, usual: int) -> int:
    return usual if own is None else own


class Verdict(msgspec.Struct):
    """The windows' decision about one attempt. Times are in milliseconds."""

    now: int
    remaining: int  # requests left in the minute
    reset_at: int  # when the oldest counted attempt leaves the minute
    day_remaining: int  # requests left in the day
    day_frees_at: int  # when the day admits more than now
    posts_remaining: int = 0  # posts left; 0 for a request that is no post
    posts_frees_at: int = 0  # when that window admits more than now
    refused_by: str | None = None  # the limit; None: admitted
    free_at: int = 0  # when a request is admitted if none is sent before
    abused: bool = False  # the refusals amount to abuse (docs/limits.md#abuse)

    def move(self, by: int) -> None:
        """Adds `by` milliseconds to all times."""
        self.now += by
        self.reset_at += by
        self.day_frees_at += by
        self.posts_frees_at += by
        self.free_at += by


class Left(msgspec.Struct, frozen=True):
    """The rest of one limit (docs/keys.md#usage).

    `resets_at` (milliseconds) is when the oldest counted request leaves the window; None while none is counted.
    """

    limit: int
    remaining: int
    resets_at: int | None


class KeyWrite(msgspec.Struct):
    """A row that a key wrote: when (milliseconds), and whether by `POST /api/posts`."""

    at: int
    is_post: bool


class Holder(msgspec.Struct):
    """The process that counts in its memory, and whether it stopped cleanly."""

    holder: str
    clean: bool


class SavedState(msgspec.Struct):
    """The saved windows of a key: JSON text, and when it was written (milliseconds)."""

    state: str
    updated_at: int
