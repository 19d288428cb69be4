"""The event apikey.revoked: its data and an example."""

from typing import ClassVar, Self

import msgspec

from pressroom.domains.events.models import EventData, EventType
from pressroom.domains.keys.models import RevokedBy


class Revocation(msgspec.Struct, rename="camel"):
    """The key that was revoked, and by whom."""

    id: str
    label: str
    key_prefix: str
    revoked_at: str
    revoked_by: str
    reason: str | None


class RevocationData(EventData, rename="camel"):
    """`data` of apikey.revoked."""

    event: ClassVar = EventType.APIKEY_REVOKED
    sent_when: ClassVar = (
        "The key of this endpoint was revoked: by its owner (`self`), by the operator (`admin`), or by the service, "
        "because requests went on after many refusals (`auto`). It is the last event that the key's endpoints get."
    )

    api_key: Revocation

    @classmethod
    def example(cls) -> Self:
        return cls(
            Revocation(
                id="01KVCVX25JSSB86WQ50AY87SX4",
                label="Night desk",
                key_prefix="svc_live_EXAMPL",
                revoked_at="2026-11-20T16:08:12.345Z",
                revoked_by=RevokedBy.ADMIN,
                reason="The key was found in a public repository.",
            )
        )
