"""How much one account may publish and store (docs/limits.md#daily-content)."""

import msgspec

from pressroom.settings import Settings


class Allowance(msgspec.Struct, frozen=True):
    """Posts, clips and bounces per UTC day, counted apart by key and signed in; `storage`: bytes of stored media."""

    content_by_key: int
    content_signed_in: int
    storage: int

    def content(self, *, signed_in: bool) -> int:
        """Returns the quota of a UTC day for a caller by key or `signed_in`."""
        return self.content_signed_in if signed_in else self.content_by_key


def allowance_of(settings: Settings) -> Allowance:
    """Returns the allowance that the settings give."""
    return Allowance(settings.daily_content_quota, settings.session_content_per_day, settings.account_storage_bytes)
