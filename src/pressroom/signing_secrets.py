"""Secrets that sign, and are replaced while they are in use (docs/operations.md#secrets). Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec

BYTES: Final = 32
"""Random bytes of a new secret."""


class SecretVersion(msgspec.Struct, frozen=True):
    """One version of a secret. Times are in milliseconds.

    Attributes:
        name: The name of the secret.
        secret: Its text.
        signs_from: When it begins to sign.
        expires_at: When its signatures end to be valid; None while no version follows it.
    """

    name: str
    secret: str
    signs_from: int
    expires_at: int | None

    @property
    def age(self) -> tuple[int, bool, int]:
        """Returns what versions are ordered by, the newest last, also of two that were made at the same moment."""
        return self.signs_from, self.expires_at is None, self.expires_at or 0


class SigningSecret:
    """The versions of one secret: the newest one signs, and each verifies until it expires."""

    def __init__(self, versions: Sequence[SecretVersion]) -> None:
        self.renew(versions)

    def renew(self, versions: Sequence[SecretVersion]) -> None:
        """Takes the versions as the database has them now, one at least."""
        self._versions = sorted(versions, key=lambda version: version.age)

    def signing(self, now: int) -> str:
        """Returns the secret that signs at `now` (milliseconds)."""
        # A version that begins later is known already, so that no process meets a signature that it cannot verify.
        begun = [version for version in self._versions if version.signs_from <= now]
        return (begun or self._versions)[-1 if begun else 0].secret

    def verifying(self, now: int) -> list[str]:
        """Returns the secrets whose signatures are valid at `now` (milliseconds), the newest first."""
        return [
            version.secret
            for version in reversed(self._versions)
            if version.expires_at is None or version.expires_at > now
        ]
