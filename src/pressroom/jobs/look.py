"""What a worker's look for work came to, and what follows from it. Pure."""

from typing import Final

import msgspec

from pressroom.clock import SECOND

POLL_SECONDS: Final = 1.0
"""How often a worker looks for work that no signal announced."""


class Look(msgspec.Struct, frozen=True):
    """What one look for work came to.

    began: whether it began any work. unsaved: whether results are left that could not be saved. pause: seconds until
    the next look, unless work ends or is queued before; None: POLL_SECONDS.
    """

    began: bool
    unsaved: bool = False
    pause: float | None = None


def is_settled(look: Look, *, was_idle: bool, is_idle: bool) -> bool:
    """Returns whether nothing is left to do after a look, before and after which work was under way or not (`idle`).

    Work that was under way before the look may have ended during it and left something due that the look missed.
    """
    return was_idle and is_idle and not look.began and not look.unsaved


def pause_until(due_at: int | None, now: int) -> float | None:
    """Returns the seconds from `now` until `due_at` (milliseconds), POLL_SECONDS at most; None: nothing is due."""
    return None if due_at is None else max(0.0, min(POLL_SECONDS, (due_at - now) / SECOND))
