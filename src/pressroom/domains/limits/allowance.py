"""What one account may publish and store, as the operator set it (docs/limits.md)."""

import msgspec

from pressroom.settings import Settings


class Allowance(msgspec.Struct, frozen=True):
    """Posts, clips and bounces of a UTC day, by key and signed in, each counted apart; bytes of media in the store."""

    content_by_key: int
    content_signed_in: int
    storage: int

    def content(self, *, signed_in: bool) -> int:
        """The quota of a UTC day that applies to a caller."""
        return self.content_signed_in if signed_in else self.content_by_key


def allowance_of(settings: Settings) -> Allowance:
    """The allowance that the operator set."""
    return Allowance(settings.daily_content_quota, settings.session_content_per_day, settings.account_storage_bytes)
