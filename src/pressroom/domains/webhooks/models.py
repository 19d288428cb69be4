"""An endpoint, what it is sent, and their states."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY, HOUR
from pressroom.domains.events.models import EventType

ENDPOINTS: Final = 5
"""Endpoints that one key can have."""

SHOWN: Final = 12
"""Characters of a signing secret that its record shows."""

CHOOSABLE: Final = tuple(kind for kind in EventType if kind is not EventType.WEBHOOK_TEST)
"""The events that an endpoint can choose."""

OVERLAP: Final = 24 * HOUR
"""How long receivers go on accepting the secret before the last rotation."""

REDELIVERED: Final = 1_000
"""Events that one redelivery looks at."""

RETENTION: Final = 30 * DAY
"""How long a delivery is kept after it ended, and an event after it happened."""

REMEMBERED: Final = 40
"""Removed endpoints of a key that are kept so that those which continue them find their envelopes: the latest."""

LOGGED: Final = 20
"""Attempts of one delivery that are remembered: the latest."""

BODIES: Final = 5
"""Of those, the latest whose answers are remembered too."""


class Status(StrEnum):
    """The states of an endpoint. Disabled is final: it is removed and added again."""

    ENABLED = "enabled"
    DISABLED = "disabled"


class Speed(StrEnum):
    """How quickly an endpoint answered when it was last sent something (docs/webhooks.md#slow-endpoints)."""

    NEW = "new"
    QUICK = "quick"
    SLOW = "slow"


class State(StrEnum):
    """The states of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    HELD = "held"
    CANCELLED = "cancelled"


class AttemptStatus(StrEnum):
    """How one attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Webhook(msgspec.Struct):
    """An endpoint as its owner knows it: never with its secret. Times in milliseconds."""

    id: str
    key_id: str
    url: str
    events: str
    secret_prefix: str
    previous_secret_expires_at: int | None
    created_at: int
    disabled_at: int | None
    disabled_reason: str | None
    consecutive_failures: int
    probe_at: int | None
    origin_id: str

    @property
    def status(self) -> Status:
        """The endpoint's state."""
        return Status.ENABLED if self.disabled_at is None else Status.DISABLED

    def takes(self, kind: str) -> bool:
        """Whether it chose events of this kind."""
        return chose(self.events, kind)


class Listener(msgspec.Struct):
    """An endpoint of the account, as far as queueing is concerned. Times in milliseconds."""

    id: str
    key_id: str
    events: str
    key_expires_at: int | None
    probe_at: int | None
    next_due_at: int | None

    def hears_of(self, kind: str, key_id: str | None, now: int) -> bool:
        """Whether it is told of an event of this kind, which concerns the key `key_id` alone if that is given."""
        if not chose(self.events, kind):
            return False
        if key_id is not None:
            return key_id == self.key_id
        return self.key_expires_at is None or self.key_expires_at > now


def chose(events: str, kind: str) -> bool:
    """Whether events of this kind are among the chosen ones, which are separated by spaces."""
    return kind in events.split(" ")


class Endpoint(msgspec.Struct):
    """An endpoint as a worker needs it. `probe_at` is set while it fails (milliseconds)."""

    account_id: str
    id: str
    url: str
    consecutive_failures: int
    probe_at: int | None
    speed: Speed


class Predecessor(msgspec.Struct):
    """A removed endpoint that another one continues: the first of its line, and how quick it was."""

    origin_id: str
    speed: Speed


class NewWebhook(msgspec.Struct):
    """What an endpoint is made of. The address has been vetted."""

    url: str
    events: list[EventType]


class Attempt(msgspec.Struct, rename="camel"):
    """One attempt, as it is kept and as it is shown; `at` is ISO 8601."""

    number: int
    at: str
    status: AttemptStatus
    http_code: int | None
    error: str | None
    duration_ms: int
    response_body: str | None


class Delivery(msgspec.Struct):
    """A delivery as the owner sees it; `attempts` is JSON. `due_at` matters while it is pending."""

    id: str
    event: str
    event_id: str
    state: State
    redelivery: bool
    due_at: int
    probe_at: int | None
    attempts: str


class Redelivery(msgspec.Struct):
    """Which events to send again: those of `kinds` made from `since` to `until` (milliseconds, both included)."""

    since: int
    until: int
    kinds: list[EventType]


class Redelivered(msgspec.Struct):
    """What a redelivery came to."""

    queued: int
    skipped_duplicates: int
