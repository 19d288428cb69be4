"""API keys: their scopes, status and expiries. The form of the key itself is in `secret`."""

import ipaddress
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.domains.accounts.models import Account
from pressroom.errors import Code, FieldError, Invalid
from pressroom.text import is_invisible

LONGEST_REASON: Final = 200
"""The most characters that the reason of a revocation may have."""

LONGEST_NOTE: Final = 500
"""The most characters that the note on a key may have."""

ACTIVE_KEYS: Final = 5

RECENT_REFUSALS: Final = 50
"""Refusals that are listed for each key: the last ones."""

HOURS_SHOWN: Final = 24
DAYS_SHOWN: Final = 30
USAGE_KEPT: Final = 31 * DAY
"""For how long (milliseconds) usage and refusals are kept: so long that the oldest day shown is whole."""


class Scope(StrEnum):
    """The rights of a key."""

    POSTS_WRITE = "posts:write"
    POSTS_DELETE = "posts:delete"
    MEDIA_WRITE = "media:write"
    BOUNCES_WRITE = "bounces:write"
    COMMENTS_WRITE = "comments:write"
    CLIPS_WRITE = "clips:write"
    DRAFTS_WRITE = "drafts:write"
    EVENTS_READ = "events:read"


SOON: Final = 7 * DAY
"""From when on before its expiry (milliseconds) a key is flagged, and its owner notified."""


def warn_at(expires_at: int | None, now: int) -> int | None:
    """Returns when the owner of a new key is notified of its expiry; None: never, also when it expires within SOON."""
    return None if expires_at is None or expires_at - SOON <= now else expires_at - SOON


class KeyStatus(StrEnum):
    """The status of a key. Revoked and expired are final."""

    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"


class RevokedBy(StrEnum):
    """The actor that revoked a key: its owner, an operator, or the service for abuse (docs/limits.md#abuse)."""

    SELF = "self"
    ADMIN = "admin"
    AUTO = "auto"


EXPIRIES: Final = {"never": None, "30d": 30 * DAY, "90d": 90 * DAY, "1y": 365 * DAY}
"""The named expiries, in milliseconds from creation."""


class ApiKey(msgspec.Struct):
    """A key as its row holds it, without its secret. Times are in milliseconds."""

    id: str
    account_id: str
    key_prefix: str  # the first characters of the key, to tell keys apart
    label: str
    scopes: str  # separated by spaces
    ip_allowlist: str  # networks, separated by spaces; empty: any address
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    revoked_at: int | None
    revoked_by: str | None  # a value of `RevokedBy`
    reason: str | None  # why it was revoked, in words
    note: str | None  # the owner's own words about it

    def status(self, now: int) -> KeyStatus:
        """Returns the key's status at `now` (milliseconds)."""
        if self.revoked_at is not None:
            return KeyStatus.REVOKED
        if self.expires_at is not None and self.expires_at <= now:
            return KeyStatus.EXPIRED
        return KeyStatus.ACTIVE

    def expires_soon(self, now: int) -> bool:
        """Returns whether the key is active at `now` (milliseconds), and ends within a week."""
        left = None if self.expires_at is None else self.expires_at - now
        return left is not None and left <= SOON and self.status(now) is KeyStatus.ACTIVE


class Bearer(Account):
    """The account of a request and the key that it came with, read by one query. Times are in milliseconds."""

    key_id: str
    key_prefix: str
    label: str
    scopes: str
    ip_allowlist: str
    expires_at: int | None
    last_used_at: int | None
    revoked_at: int | None


class NewKey(msgspec.Struct):
    """The fields of a key to create.

    expires_at: the end of its life, in milliseconds. life: its length in milliseconds instead. Neither: it never ends.
    """

    label: str
    scopes: list[Scope]
    expires_at: int | None = None
    ip_allowlist: list[str] = msgspec.field(default_factory=list[str])
    life: int | None = None

    def end_of(self, created_at: int) -> int | None:
        """Returns when the key expires if it is created then (milliseconds); None: never."""
        # By the clock that its creation shows: another reading would leave a few milliseconds too few or too many.
        return self.expires_at if self.life is None else created_at + self.life


class Counts(msgspec.Struct):
    """Responses to a key in some time: admitted and answered, 429, other 4xx, 5xx (docs/keys.md#usage)."""

    accepted: int = 0
    limited: int = 0
    refused: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.accepted + self.limited + self.refused + self.failed


class UsageRow(Counts):
    """The counts of one hour or day, numbered since 1970."""

    number: int = 0


class Period(Counts):
    """The counts of one hour or day, which begins at `starts_at` (milliseconds)."""

    starts_at: int = 0


class Refusal(msgspec.Struct, frozen=True):
    """A response 4xx to a request with a key: when (milliseconds), to what, and from where.

    `route` is the path as declared, so that nothing of the request itself is stored.
    """

    refused_at: int
    method: str
    route: str
    status: int
    label: str
    address: str
    request_id: str


class Usage(msgspec.Struct):
    """How much a key was used: by hour and by day (UTC), oldest first, and its last refusals, newest first.

    `content_used` is the used part of the account's content quota on this UTC day.
    """

    key: ApiKey
    hours: list[Period]
    days: list[Period]
    refusals: list[Refusal]
    content_used: int


class KeysByStatus(msgspec.Struct):
    """Keys of an account, newest first: the active ones, and a page of revoked or expired ones."""

    active: list[ApiKey]
    ended: list[ApiKey]


class FirstUse(msgspec.Struct):
    """The first requests of a key: its counts, its last refusal, and the key that it `replaces`."""

    key: ApiKey
    counts: Counts
    refusal: Refusal | None
    replaces: ApiKey | None


def periods(rows: Iterable[UsageRow], now: int, length: int, number: int) -> list[Period]:
    """Returns the last `number` periods of `length` milliseconds up to `now`, oldest first, empty ones too."""
    found, last = {row.number: row for row in rows}, now // length
    shown: list[Period] = []
    for place in range(last - number + 1, last + 1):
        row = found.get(place, _NONE)
        shown.append(Period(row.accepted, row.limited, row.refused, row.failed, place * length))
    return shown


_NONE: Final = Counts()


def check_reason(reason: str) -> None:
    """Raises Invalid for a reason of a revocation that is blank, or longer than LONGEST_REASON characters."""
    if is_invisible(reason):
        message = f"A reason has 1 to {LONGEST_REASON} characters that show."
        raise Invalid([FieldError("reason", Code.TOO_SHORT, message)])
    if len(reason) > LONGEST_REASON:
        message = f"At most {LONGEST_REASON} characters; this has {len(reason):,}."
        raise Invalid([FieldError("reason", Code.TOO_LONG, message)])


def canonical_network(text: str) -> str:
    """Returns an address or network in canonical form; a v4-mapped one as IPv4. Raises ValueError."""
    if "%" in text:
        raise ValueError(f"{text} has a zone, which means nothing here")
    try:
        parsed = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"{text} is no IPv4 or IPv6 address or network; one is 203.0.113.0/24") from None
    if "/" in text and str(parsed.network_address) != str(ipaddress.ip_address(text.partition("/")[0])):
        raise ValueError(f"{text} goes beyond its prefix; the network is {parsed}")
    if isinstance(parsed, ipaddress.IPv6Network) and parsed.prefixlen >= 96:
        mapped = parsed.network_address.ipv4_mapped
        if mapped is not None:
            return str(ipaddress.ip_network(f"{mapped}/{parsed.prefixlen - 96}"))
    return str(parsed)
