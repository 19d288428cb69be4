"""Endpoints and deliveries, and their states."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY, HOUR
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.models import ApiKey
from pressroom.ids import time_of

ENDPOINTS: Final = 5
"""Endpoints that one key can have."""

SHOWN: Final = 12
"""Characters of a signing secret that its record shows."""

CHOOSABLE: Final = tuple(kind for kind in EventType if kind is not EventType.WEBHOOK_TEST)
"""The kinds of event that an endpoint can choose."""

OVERLAP: Final = 24 * HOUR
"""How long receivers should accept the old secret after a rotation."""

REDELIVERED: Final = 1_000
"""Events that one redelivery looks at."""

RETENTION: Final = 30 * DAY
"""How long a delivery is kept after it ended, and an event after it happened."""

REMEMBERED: Final = 40
"""Removed endpoints of a key, the latest, whose deliveries are stored for the endpoints that continue them."""

LOGGED: Final = 20
"""Attempts of one delivery that are stored: the latest."""

BODIES: Final = 5
"""Of those, the latest whose response bodies are stored too."""


COUNTED: Final = 1_000
"""The largest exact count of an endpoint's pending deliveries."""

LONGEST_LABEL: Final = 60
"""Characters that an endpoint's label may have."""

LATEST: Final = 100
"""The number of an endpoint's latest deliveries in its figures."""


class EndpointStatus(StrEnum):
    """The states of an endpoint. Disabled is final: it is removed and added again. Paused lasts until it is resumed."""

    ENABLED = "enabled"
    PAUSED = "paused"
    DISABLED = "disabled"


class Speed(StrEnum):
    """How quickly an endpoint responded to the last request (docs/webhooks.md#slow-endpoints)."""

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


class CodeClass(StrEnum):
    """How the latest attempt of a delivery was answered. `NONE`: no complete answer came; `UNTRIED`: no attempt yet."""

    UNTRIED = ""
    NONE = "none"
    SUCCESS = "2xx"
    REDIRECT = "3xx"
    CLIENT_ERROR = "4xx"
    SERVER_ERROR = "5xx"


class AttemptStatus(StrEnum):
    """How one attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Webhook(msgspec.Struct):
    """An endpoint as its owner sees it, without its secret. Times are in milliseconds."""

    id: str
    key_id: str
    url: str
    label: str | None  # the owner's name for it
    events: str  # types, separated by spaces
    secret_prefix: str  # the first characters, to tell secrets apart
    previous_secret_expires_at: int | None  # deliveries bear two signatures until then
    created_at: int
    paused_at: int | None
    disabled_at: int | None
    disabled_reason: str | None
    consecutive_failures: int  # attempts that failed since the last success
    probe_at: int | None  # the next attempt while it fails
    origin_id: str  # the first endpoint of those that it continues; its envelopes can be redelivered
    closed_at: int | None  # its key ended: nothing is queued

    @property
    def status(self) -> EndpointStatus:
        """The endpoint's state."""
        if self.disabled_at is not None:
            return EndpointStatus.DISABLED
        return EndpointStatus.ENABLED if self.paused_at is None else EndpointStatus.PAUSED

    def takes(self, kind: str) -> bool:
        """Returns whether it chose events of this kind."""
        return chose(self.events, kind)


class ListedWebhook(Webhook):
    """An endpoint in the list of all endpoints of an account, with its key's label."""

    key_expires_at: int | None
    key_label: str

    def is_silent(self, now: int) -> bool:
        """Returns whether its key has ended at `now` (milliseconds), so that it gets nothing more."""
        return self.closed_at is not None or (self.key_expires_at is not None and self.key_expires_at <= now)


class Subscription(msgspec.Struct):
    """An endpoint as queueing needs it: its event types and due times, in milliseconds."""

    id: str
    key_id: str
    events: str
    key_expires_at: int | None
    probe_at: int | None
    next_due_at: int | None

    def hears_of(self, kind: str, key_id: str | None, now: int) -> bool:
        """Returns whether it gets an event of this kind. If `key_id` is given, only endpoints of that key do."""
        if not chose(self.events, kind):
            return False
        if key_id is not None:
            return key_id == self.key_id
        return self.key_expires_at is None or self.key_expires_at > now


def chose(events: str, kind: str) -> bool:
    """Returns whether this kind is among the chosen ones, which are separated by spaces."""
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
    """A removed endpoint that a new one continues: the first endpoint of its line, and its speed."""

    origin_id: str
    speed: Speed


class NewWebhook(msgspec.Struct):
    """The data of an endpoint to add. The address has been vetted."""

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


class AttemptRecord(Attempt, rename="camel", omit_defaults=True):
    """One attempt as it is stored: with its signatures, user agent and response headers.

    `signed_with` is the beginning of the secret. Older attempts have none of these.
    """

    signed_with: str | None = None
    signature: str | None = None
    standard_signature: str | None = None
    user_agent: str | None = None
    response_headers: dict[str, str] = {}


class Delivery(msgspec.Struct):
    """A delivery as the owner sees it; `attempts` is JSON. `due_at` has a meaning while it is pending.

    `paused`: its endpoint is, so nothing is sent before that is resumed.
    """

    id: str
    event: str
    event_id: str
    state: State
    redelivery: bool
    due_at: int
    probe_at: int | None
    paused: bool
    attempts: str


class DeliveryRecord(Delivery):
    """A delivery with all that was sent. `data` is the event's, as JSON; None once the event has been removed."""

    url: str
    data: str | None


class DeliveryFilter(msgspec.Struct, frozen=True):
    """A filter of deliveries; None: all. Times in milliseconds, of the events, both included."""

    state: State | None = None
    event: EventType | None = None
    code: CodeClass | None = None
    since: int | None = None
    until: int | None = None


class Resent(msgspec.Struct):
    """The result of sending a delivery once more; not `queued`: it waited to be sent already."""

    id: str
    queued: bool


class KindCount(msgspec.Struct):
    """How many events of one kind."""

    event: EventType
    count: int


class RedeliveryPreview(msgspec.Struct):
    """The result that a redelivery would have now. Times in milliseconds, None when there are no events.

    events: how many it would look at. more: there are further ones, which it would leave out. waiting: of the events,
    those that wait to be sent already.
    """

    events: int
    kinds: list[KindCount]
    oldest: int | None
    newest: int | None
    waiting: int
    more: bool


class Redelivery(msgspec.Struct):
    """The events to send again: those of `kinds` made from `since` to `until` (milliseconds, both included)."""

    since: int
    until: int
    kinds: list[EventType]


class Redelivered(msgspec.Struct):
    """How many events a redelivery queued, and how many were queued already."""

    queued: int
    skipped_duplicates: int


class EndpointFigures(msgspec.Struct):
    """The figures of an endpoint's pending and latest deliveries.

    Attributes:
        next_due_at: The time of the next attempt (milliseconds); None without one.
        waiting: The number of pending or held deliveries; `COUNTED` + 1 stands for more.
        oldest_waiting: The event of the oldest of these.
        latest: The number of its latest deliveries, at most `LATEST`; of them `delivered` and `failed` have ended.
    """

    id: str
    next_due_at: int | None
    waiting: int
    oldest_waiting: str | None
    latest: int
    delivered: int
    failed: int


class PastDelivery(msgspec.Struct):
    """A delivery by its event, and its state."""

    event_id: str
    event_type: str
    state: str


class EndpointReport(msgspec.Struct):
    """An endpoint, its key, its figures, the time of the first missed event (milliseconds) and its last test."""

    key: ApiKey
    webhook: Webhook
    figures: EndpointFigures
    missed_since: int | None
    last_test: Delivery | None


class ReplacedWebhook(msgspec.Struct):
    """A replacement endpoint, its secret, and the time of the first event that the replaced one missed."""

    webhook: Webhook
    secret: str
    missed_since: int | None


def missed_since(webhook: Webhook, oldest_waiting: str | None, before: Sequence[PastDelivery]) -> int | None:
    """Returns the time of the first event that an endpoint missed, in milliseconds; None when it missed none.

    Args:
        webhook: The endpoint. Nothing is queued for it from `disabled_at` on.
        oldest_waiting: The event of its oldest pending delivery.
        before: Its latest deliveries before that. The failed one, tests aside, has disabled it.
    """
    missed = [] if webhook.disabled_at is None else [webhook.disabled_at]
    if oldest_waiting is not None:
        missed.append(time_of(oldest_waiting))
    failed = [each for each in before if each.state == State.FAILED and each.event_type != EventType.WEBHOOK_TEST]
    missed += [time_of(each.event_id) for each in failed]
    return min(missed, default=None)
