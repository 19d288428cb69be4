"""When a call is tried again. Pure."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
QUOTA = "Daily content quota exceeded"


@dataclass(frozen=True)
class Failure:
    """How a try failed.

    Attributes:
        status: The HTTP status; None when the connection failed.
        label: The server's label.
        retry_after: Seconds to wait that the server named; None if it named none.
    """

    status: int | None = None
    label: str = ""
    retry_after: float | None = None


def pause_before_retry(failure: Failure, tries: int, left: float, chance: float) -> float | None:
    """Returns the seconds to wait before another try, or None when there is to be none.

    Args:
        failure: How the last try failed.
        tries: Tries so far, 1 or more.
        left: Seconds until the call's deadline.
        chance: A random number from 0 to 1, which spreads the clients of a server that comes back.
    """
    if not _may_pass_later(failure):
        return None
    pause = min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE) * (0.5 + chance / 2)
    if failure.retry_after is not None:
        # Sooner would count as another refused attempt, and extend the lock-out.
        pause = max(failure.retry_after, pause if failure.status != 429 else 0)
    return pause if pause < left else None


def _may_pass_later(failure: Failure) -> bool:
    if failure.status is None or failure.status == 408 or failure.status >= 500:
        return True
    # A quota ends at midnight: to wait for it is the program's decision.
    return failure.status == 429 and failure.label != QUOTA
