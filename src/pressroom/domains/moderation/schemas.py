"""Wire shapes of blocked e-mail addresses, and accounts as the operator's commands print them."""

from collections.abc import Iterator
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.accounts import blocks
from pressroom.domains.accounts.models import AccountRecord, Block
from pressroom.domains.limits.models import OwnLimits
from pressroom.errors import Code, FieldError
from pressroom.text import is_invisible
from pressroom.web.json_bodies import Body
from pressroom.web.wire import SHOWN, Id, NextCursor, Time


class OwnLimitsOut(msgspec.Struct, rename="camel", omit_defaults=True):
    """The limits of an account that are not those of the settings."""

    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    posts_per_minute: int | None = None
    content_per_day: Annotated[int | None, Meta(description="Posts, clips and bounces by key.")] = None
    session_writes_per_minute: int | None = None
    session_content_per_day: int | None = None
    storage_bytes: Annotated[int | None, Meta(description="Bytes of media.")] = None
    ends_at: Annotated[Time | None, Meta(description="When those of the settings hold again; without it never.")] = None


class RecordOut(msgspec.Struct, rename="camel"):
    """An account as an operator sees it. `status`: active, suspended or deleted."""

    id: str
    username: str
    email: str
    display_name: str
    status: str
    is_admin: bool
    is_moderator: bool
    is_private: bool
    total_posts: int
    total_followers: int
    total_following: int
    active_keys: int | None
    """None in lists, which do not count them."""

    created_at: str
    suspended_at: str | None
    deleted_at: str | None
    limits: OwnLimitsOut | None
    """None: those of the settings."""


class RecordList(msgspec.Struct, rename="camel"):
    """A page of accounts, newest first, and the cursor of the next page."""

    accounts: list[RecordOut]
    next_cursor: str | None


def record_shape(record: AccountRecord, active_keys: int | None = None) -> RecordOut:
    """Returns the account as an operator sees it."""
    return RecordOut(
        id=record.id,
        username=record.username,
        email=record.email,
        display_name=record.display_name,
        status=record.status,
        is_admin=record.is_admin,
        is_moderator=record.is_moderator,
        is_private=record.is_private,
        total_posts=record.total_posts,
        total_followers=record.total_followers,
        total_following=record.total_following,
        active_keys=active_keys,
        created_at=iso(record.created_at),
        suspended_at=iso_or_none(record.suspended_at),
        deleted_at=iso_or_none(record.deleted_at),
        limits=None if record.limits is None else _limits_shape(msgspec.json.decode(record.limits, type=OwnLimits)),
    )


def _limits_shape(limits: OwnLimits) -> OwnLimitsOut:
    return msgspec.convert({**msgspec.to_builtins(limits), "endsAt": iso_or_none(limits.ends_at)}, OwnLimitsOut)


NO_PATTERN: Final = (
    "Give an e-mail address such as name@example.org, a domain such as example.org, or a network such as"
    " 203.0.113.0/24: of IPv4 from /8 on, of IPv6 from /16 to /64."
)


class CreateBlock(Body):
    """An e-mail address, domain or network to block for sign-up."""

    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=320,
            description="An e-mail address, a domain with all below it, or a network.",
            extra_json_schema={"pattern": r"^([^\s@]+@|@)?[^\s@.!]{1,63}(\.[^\s@.!]{1,63})*$"},
        ),
    ]
    reason: Annotated[
        str, Meta(min_length=1, max_length=500, description="For the admins.", extra_json_schema={"pattern": SHOWN})
    ]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.reason and is_invisible(self.reason):
            yield FieldError("reason", Code.TOO_SHORT, "A reason has 1 to 500 characters that show.")
        if self.pattern and blocks.pattern_of(self.pattern) is None:
            yield FieldError("pattern", Code.INVALID_FORMAT, NO_PATTERN)

    @property
    def canonical(self) -> str:
        """The pattern as it is stored and compared."""
        return blocks.pattern_of(self.pattern) or ""

    @classmethod
    def example(cls) -> Self:
        return cls(pattern="spam.example", reason="Forty accounts in one night.")


class BlockOut(msgspec.Struct, rename="camel"):
    """An e-mail address, domain or network that nobody can sign up with."""

    id: Id
    pattern: str
    reason: str
    created_at: Time

    @classmethod
    def example(cls) -> Self:
        return cls(
            "01M7WXTRMHVA0Q1D2S5P8NYV0R", "spam.example", "Forty accounts in one night.", "2026-11-20T16:50:16.017Z"
        )


class BlockList(msgspec.Struct, rename="camel"):
    """A page of blocks, newest first."""

    blocks: list[BlockOut]
    next_cursor: NextCursor


def block_shape(block: Block) -> BlockOut:
    """Returns a block as admins see it."""
    return BlockOut(block.id, block.pattern, block.reason, iso(block.created_at))
