"""Wire shapes of the keys package."""

from collections.abc import Iterator
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none, parse_iso
from pressroom.domains.keys.models import (
    EXPIRIES,
    LONGEST_NOTE,
    ApiKey,
    KeyStatus,
    NewKey,
    RevokedBy,
    Scope,
    canonical_network,
)
from pressroom.errors import Code, FieldError
from pressroom.text import name_errors
from pressroom.web.json_bodies import Body
from pressroom.web.wire import ONE_LINE, Id, NextCursor, Time

_EXPIRY_HELP = "Must be never, 30d, 90d, 1y, or an ISO 8601 time with a zone, in the future."


KeyScope = Annotated[str, Meta(extra_json_schema={"enum": [scope.value for scope in Scope]})]
KeyPrefix = Annotated[str, Meta(description="The key's first 15 characters: what records and events show of it.")]


class CreateKey(Body):
    """A key to create."""

    label: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=60,
            description="Shown on posts that the key makes.",
            extra_json_schema={"pattern": ONE_LINE},
        ),
    ]
    scopes: Annotated[
        list[Scope],
        Meta(
            min_length=1,
            max_length=len(Scope),
            description="What the key may do, one scope per kind of operation.",
            extra_json_schema={"uniqueItems": True},
        ),
    ]
    expiry: (
        Annotated[
            str,
            Meta(
                max_length=40,
                description="never (the default), 30d, 90d, 1y, or an ISO 8601 time with a zone, in the future.",
                examples=["90d", "2027-06-30T00:00:00.000Z"],
                extra_json_schema={"pattern": "^(never|30d|90d|1y|[0-9].+)$"},
            ),
        ]
        | None
    ) = None
    ip_allowlist: (
        Annotated[
            list[Annotated[str, Meta(description="An address or a network in CIDR notation.")]],
            Meta(
                max_length=50,
                description="Where requests with the key may come from; empty or not given: from anywhere.",
                examples=[["203.0.113.0/24", "2001:db8::/32"]],
            ),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from name_errors("label", self.label, "A label")
        for place, scope in enumerate(self.scopes or []):
            if scope in self.scopes[:place]:
                yield FieldError(f"scopes[{place}]", Code.DUPLICATE, f"{scope} is given twice.")
        for place, entry in enumerate(self.ip_allowlist or []):
            try:
                canonical_network(entry)
            except (ValueError, TypeError) as error:
                message = f"{str(error)[:200]}."
                yield FieldError(f"ipAllowlist[{place}]", Code.INVALID_FORMAT, message)
        if self.expiry is not None and self.expiry not in EXPIRIES:
            try:
                at = parse_iso(self.expiry)
                iso(at)  # A zone can push a time past the last year that can be shown.
            except (ValueError, OverflowError):
                yield FieldError("expiry", Code.INVALID_FORMAT, _EXPIRY_HELP)
            else:
                if at <= now:
                    yield FieldError("expiry", Code.OUT_OF_RANGE, "The expiry must lie in the future.")

    def new_key(self) -> NewKey:
        """Returns the key to create."""
        networks = dict.fromkeys(canonical_network(entry) for entry in self.ip_allowlist or [])
        expiry = self.expiry or "never"
        new = NewKey(self.label, self.scopes, ip_allowlist=list(networks))
        if expiry in EXPIRIES:
            new.life = EXPIRIES[expiry]
        else:
            new.expires_at = parse_iso(expiry)
        return new

    @classmethod
    def example(cls) -> Self:
        return cls(
            label="Night desk",
            scopes=[Scope.POSTS_WRITE, Scope.MEDIA_WRITE],
            expiry="90d",
            ip_allowlist=["203.0.113.0/24"],
        )


class EditKey(Body):
    """The new note on a key."""

    note: Annotated[
        str,
        Meta(max_length=LONGEST_NOTE, description="Your own words about the key, for you alone. Empty: none."),
    ]

    @classmethod
    def example(cls) -> Self:
        return cls(note="Runs on the desk's machine. Ask Marta before revoking it.")


class ApiKeyOut(msgspec.Struct, rename="camel"):
    """A key as its owner sees it: never the key itself."""

    id: Id
    label: str
    scopes: list[KeyScope]
    key_prefix: KeyPrefix
    status: Annotated[
        str,
        Meta(
            description="Revoked and expired are final.",
            extra_json_schema={"enum": [status.value for status in KeyStatus]},
        ),
    ]
    ip_allowlist: Annotated[list[str], Meta(description="Networks in CIDR notation; empty: from anywhere.")]
    created_at: Time
    expires_at: Annotated[Time | None, Meta(description="Null: never.")]
    last_used_at: Annotated[Time | None, Meta(description="To the minute; null: never used.")]
    revoked_at: Time | None
    revoked_by: Annotated[
        Annotated[str, Meta(extra_json_schema={"enum": [who.value for who in RevokedBy]})] | None,
        Meta(description="self: the owner; admin: the operator; auto: the service, after too many refusals."),
    ]
    reason: Annotated[str | None, Meta(description="Given when the operator or the service revoked the key.")]
    note: Annotated[str | None, Meta(description="The owner's own words about the key; null: none.")]

    @classmethod
    def example(cls) -> Self:
        return cls(
            id=CreatedKeyOut.example().id,
            label=CreatedKeyOut.example().label,
            scopes=CreatedKeyOut.example().scopes,
            key_prefix=CreatedKeyOut.example().key_prefix,
            status="active",
            ip_allowlist=CreatedKeyOut.example().ip_allowlist,
            created_at=CreatedKeyOut.example().created_at,
            expires_at=CreatedKeyOut.example().expires_at,
            last_used_at="2026-07-01T21:40:00.000Z",
            revoked_at=None,
            revoked_by=None,
            reason=None,
            note=EditKey.example().note,
        )


class CreatedKeyOut(ApiKeyOut):
    """A new key. `key` is the key itself: it is shown here once and cannot be recovered."""

    key: Annotated[
        Annotated[str, Meta(extra_json_schema={"pattern": "^svc_live_[0-9A-Za-z]{38}$"})] | None,
        Meta(description="Store it now: only a hash of it is kept here. Null in a replay."),
    ]

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01KVCVX25JSSB86WQ50AY87SX4",
            label="Night desk",
            scopes=["posts:write", "media:write"],
            key_prefix="svc_live_EXAMPL",
            status="active",
            ip_allowlist=["203.0.113.0/24"],
            created_at="2026-06-18T08:00:03.250Z",
            expires_at="2026-09-16T08:00:03.250Z",
            last_used_at=None,
            revoked_at=None,
            revoked_by=None,
            reason=None,
            note=None,
            key="svc_live_EXAMPLE" + "0" * 31,
        )


class ApiKeyList(msgspec.Struct, rename="camel"):
    """A page of keys, newest first."""

    api_keys: list[ApiKeyOut]
    next_cursor: NextCursor


class SourceKeyOut(msgspec.Struct, rename="camel"):
    """The key that made something."""

    id: Id
    label: str
    key_prefix: KeyPrefix

    @classmethod
    def example(cls) -> Self:
        return cls(ApiKeyOut.example().id, ApiKeyOut.example().label, ApiKeyOut.example().key_prefix)


def source_key(key_id: str | None, label: str | None, key_prefix: str | None) -> SourceKeyOut | None:
    """Returns the key that made something; None when a session did."""
    return None if key_id is None else SourceKeyOut(key_id, label or "", key_prefix or "")


def key_shape(key: ApiKey, now: int) -> ApiKeyOut:
    """Returns the key as its owner sees it at `now` (milliseconds)."""
    return ApiKeyOut(
        id=key.id,
        label=key.label,
        scopes=key.scopes.split(),
        key_prefix=key.key_prefix,
        status=key.status(now),
        ip_allowlist=key.ip_allowlist.split(),
        created_at=iso(key.created_at),
        expires_at=iso_or_none(key.expires_at),
        last_used_at=iso_or_none(key.last_used_at),
        revoked_at=iso_or_none(key.revoked_at),
        revoked_by=key.revoked_by,
        reason=key.reason,
        note=key.note,
    )


def created_key_shape(key: ApiKey, secret: str, now: int) -> CreatedKeyOut:
    """Returns the response to a key's creation at `now` (milliseconds)."""
    return CreatedKeyOut(**msgspec.structs.asdict(key_shape(key, now)), key=secret)


REVOKED_KEY_EXAMPLE = msgspec.structs.replace(
    ApiKeyOut.example(), status="revoked", revoked_at="2026-07-02T06:12:45.009Z", revoked_by="self"
)
