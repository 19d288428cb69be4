"""The rates that hold, and what one request heard of them."""

from typing import Final

import msgspec

from pressroom.clock import SECOND

MINUTE_LIMIT: Final = "minute"
DAY_LIMIT: Final = "day"
POSTS_LIMIT: Final = "posts"


class Rates(msgspec.Struct, frozen=True):
    """The limits of every key, or of every account signed in. Counts are requests, or `what` else is counted.

    `per_day` 0 limits nothing; `abuse_window` is in milliseconds, 0 for no such thing as abuse.
    """

    per_minute: int = 60
    per_day: int = 10_000
    posts_per_minute: int = 10
    abuse_refusals: int = 600
    abuse_window: int = 600 * SECOND
    what: str = "requests"

    def sentence(self, limit: str) -> str:
        """The limit's name in an answer: `60 requests per minute`."""
        match limit:
            case "minute":
                return f"{self.per_minute:,} {self.what} per minute"
            case "day":
                return f"{self.per_day:,} {self.what} per 24 hours"
            case _:
                return f"{self.posts_per_minute:,} posts per minute"


class Verdict(msgspec.Struct):
    """What the windows say to one attempt. Times are in milliseconds.

    `refused_by` is None when the attempt is admitted; `free_at` is when one request will pass if none is
    sent before; `reset_at` is when the oldest of the last attempts leaves the minute; `abused` says that
    the refusals have become abuse.
    """

    now: int
    remaining: int
    reset_at: int
    refused_by: str | None = None
    free_at: int = 0
    abused: bool = False


class KeyWrite(msgspec.Struct):
    """Something that a key wrote, as its row tells: when (milliseconds), and whether `POST /api/posts` did it."""

    at: int
    is_post: bool


class Holder(msgspec.Struct):
    """The process that kept the windows in its memory, and whether it stopped in order."""

    holder: str
    clean: bool


class SavedState(msgspec.Struct):
    """A key's windows as their row holds them: JSON text, and when it was written (milliseconds)."""

    state: str
    updated_at: int
