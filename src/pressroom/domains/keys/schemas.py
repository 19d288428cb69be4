"""The keys room's wire shapes."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from pressroom.clock import iso, parse_iso
from pressroom.domains.keys.models import EXPIRIES, ApiKey, NewKey, Scope, network
from pressroom.errors import Code, Fault, Invalid
from pressroom.text import is_blank
from pressroom.web.bodies import Body

_EXPIRY_HELP = "Must be never, 30d, 90d, 1y, or an ISO 8601 time with a zone, in the future."


class CreateKey(Body):
    """What a key is made of."""

    label: Annotated[str, Meta(min_length=1, max_length=60, description="Shown on posts that the key makes.")]
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=6)]
    expiry: Annotated[str, Meta(max_length=40, description=_EXPIRY_HELP)] | None = None
    ip_allowlist: Annotated[list[str], Meta(max_length=50)] | None = None

    def faults(self) -> Iterator[Fault]:
        if self.label and is_blank(self.label):
            yield Fault("label", Code.TOO_SHORT, "A label must not be blank.")
        for place, scope in enumerate(self.scopes or []):
            if scope in self.scopes[:place]:
                yield Fault(f"scopes[{place}]", Code.DUPLICATE, f"{scope} is given twice.")
        for place, entry in enumerate(self.ip_allowlist or []):
            try:
                network(entry)
            except ValueError as error:
                yield Fault(f"ipAllowlist[{place}]", Code.INVALID_FORMAT, f"Not an address or CIDR network: {error}.")
        if self.expiry is not None and self.expiry not in EXPIRIES:
            try:
                parse_iso(self.expiry)
            except (ValueError, OverflowError):
                yield Fault("expiry", Code.INVALID_FORMAT, _EXPIRY_HELP)

    def new_key(self, now: int) -> NewKey:
        """The key to make at `now`. Raises Invalid when its expiry has passed."""
        networks = dict.fromkeys(network(entry) for entry in self.ip_allowlist or [])
        return NewKey(self.label, self.scopes, self._expires_at(now), list(networks))

    def _expires_at(self, now: int) -> int | None:
        expiry = self.expiry or "never"
        if expiry in EXPIRIES:
            life = EXPIRIES[expiry]
            return None if life is None else now + life
        at = parse_iso(expiry)
        if at <= now:
            raise Invalid([Fault("expiry", Code.OUT_OF_RANGE, "The expiry must lie in the future.")])
        return at


class ApiKeyOut(msgspec.Struct, rename="camel"):
    """A key as its owner sees it: never the key itself."""

    id: str
    label: str
    scopes: list[str]
    key_prefix: str
    status: str
    ip_allowlist: list[str]
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    reason: str | None


class CreatedKeyOut(ApiKeyOut):
    """A new key. `key` is the key itself: it is shown here once and cannot be recovered."""

    key: str


class ApiKeyList(msgspec.Struct, rename="camel"):
    """A page of keys, newest first."""

    api_keys: list[ApiKeyOut]
    next_cursor: str | None


class SourceKeyOut(msgspec.Struct, rename="camel"):
    """The key that made something."""

    id: str
    label: str
    key_prefix: str


def key_shape(key: ApiKey, now: int) -> ApiKeyOut:
    """The key as its owner sees it at `now`."""
    return ApiKeyOut(*_shown(key, now))


def created_key_shape(key: ApiKey, secret: str, now: int) -> CreatedKeyOut:
    """The answer to a key's creation."""
    return CreatedKeyOut(*_shown(key, now), secret)


Shown = tuple[str, str, list[str], str, str, list[str], str, str | None, str | None, str | None, str | None, str | None]


def _shown(key: ApiKey, now: int) -> Shown:
    return (
        key.id,
        key.label,
        key.scopes.split(),
        key.key_prefix,
        key.status(now),
        key.ip_allowlist.split(),
        iso(key.created_at),
        _time(key.expires_at),
        _time(key.last_used_at),
        _time(key.revoked_at),
        key.revoked_by,
        key.reason,
    )


def _time(at: int | None) -> str | None:
    return None if at is None else iso(at)
