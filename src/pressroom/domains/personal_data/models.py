"""The copy of all that belongs to an account (docs/people.md#a-copy-of-everything)."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY

EXPORT_JOB: Final = "export"
"""The kind of job that makes a copy; its subject is the account's id."""

EXPORT_LIFE: Final = 7 * DAY
"""How long a copy can be fetched."""

EXPORT_PAUSE: Final = DAY
"""How long after one copy was asked for the next can be."""


class ExportState(StrEnum):
    """The states of a copy."""

    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


class Export(msgspec.Struct):
    """A copy. Times are in milliseconds; fields that only a ready one has are None before."""

    account_id: str
    state: ExportState
    requested_at: int
    finished_at: int | None
    expires_at: int | None
    size_bytes: int | None

    def is_ready(self, now: int) -> bool:
        """Returns whether it can be fetched."""
        return self.state == ExportState.READY and self.expires_at is not None and now < self.expires_at

    def next_at(self, now: int) -> int | None:
        """Returns from when on the next one can be asked for; None: now."""
        if self.state == ExportState.FAILED or now >= self.requested_at + EXPORT_PAUSE:
            return None
        return self.requested_at + EXPORT_PAUSE

    @property
    def key(self) -> str:
        """Returns the name of its file in the store."""
        return f"{folder_of(self.account_id)}/{self.requested_at}.zip"


def folder_of(account_id: str) -> str:
    """Returns the common start of the names of all copies of an account."""
    return f"exports/{account_id.lower()}"
