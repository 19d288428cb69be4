"""Maintenance mode, and the names and lives of secrets (docs/operations.md#secrets)."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY, MINUTE, SECOND

STARTS: Final = 10 * SECOND
"""Milliseconds from a rotation until the new secret signs: every process knows it by then."""

CHALLENGES: Final = 10 * MINUTE
"""Milliseconds for which an earlier secret of challenges verifies: twice as long as a challenge lives."""

LONGEST_OVERLAP: Final = 365
"""Days for which an earlier secret can still verify."""

LONGEST_MESSAGE: Final = 500
"""Characters of the message of maintenance mode."""

DEFAULT_MESSAGE: Final = "This server is closed for maintenance. It will be back soon."


class SecretName(StrEnum):
    """The secrets that an installation makes for itself."""

    MEDIA = "media"
    UNSUBSCRIBING = "unsubscribing"
    PASSKEYS = "passkey challenges"
    BODY_HASHES = "body hashes"


ROTATED: Final = (SecretName.MEDIA, SecretName.UNSUBSCRIBING, SecretName.PASSKEYS)
"""The secrets that sign something. The other one only keeps hashes of bodies, which last a day, from being guessed."""


def overlap_of(name: SecretName, days: int) -> int:
    """Returns for how many milliseconds the version before verifies, when `days` are asked for."""
    return min(days * DAY, CHALLENGES) if name is SecretName.PASSKEYS else days * DAY


class Maintenance(msgspec.Struct, frozen=True):
    """Maintenance mode, while it is on. since in milliseconds."""

    message: str
    since: int
