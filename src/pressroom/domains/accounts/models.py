"""An account, whoever calls in its name, and the rules for names and addresses."""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.errors import Code, FieldError
from pressroom.text import is_blank

SESSION_LIFE: Final = 30 * DAY
SESSION_RENEWAL: Final = DAY
"""A session that is used is prolonged at most once in this time."""

KNOWN_ADDRESSES: Final = 20
KNOWN_ADDRESS_LIFE: Final = 90 * DAY
"""How many addresses of right sign-ins are remembered for an account, and how long after the last one there."""

RESERVED: Final = 90 * DAY
"""For how long nobody else gets a user name that was given up."""

RESERVATIONS: Final = 100
"""User names that one account can hold back in this way: more than anybody needs, and no use to who hoards names."""

_USERNAME: Final = re.compile(r"[A-Za-z0-9_]{3,30}")
_EMAIL: Final = re.compile(
    r"[^\s@<>\"(),:;\\\[\]\x00-\x1f\x7f]+@[^\s@<>\"(),:;\\\[\]\x00-\x1f\x7f.]+(\.[^\s@.<>\"(),:;\\\[\]\x00-\x1f\x7f]+)*"
)


class Account(msgspec.Struct):
    """An account as it stands. `total_posts` counts what is not deleted."""

    id: str
    username: str
    email: str
    display_name: str
    bio: str | None
    verified: bool
    email_verified: bool
    is_private: bool
    is_creator: bool
    total_followers: int
    total_following: int
    total_posts: int
    created_at: int


class AccountRecord(Account):
    """An account as an operator sees it."""

    suspended_at: int | None
    deleted_at: int | None
    is_admin: bool

    @property
    def status(self) -> str:
        """`active`, `suspended` or `deleted`."""
        return "deleted" if self.deleted_at is not None else "active" if self.suspended_at is None else "suspended"


class AccountStatus(msgspec.Struct):
    """What decides about following an account and about what others are shown of it."""

    id: str
    is_private: bool
    suspended_at: int | None


class PostCounts(msgspec.Struct):
    """An account's posts that stand, by the visibilities that others than the author and those listed may see."""

    public: int
    followers: int
    connections: int


class SourceKey(msgspec.Struct):
    """What content says of the key that made it (`sourceApiKey`)."""

    id: str
    label: str
    key_prefix: str


class Caller(msgspec.Struct):
    """Who acts: an account, through one of its keys or (`key` None) signed in."""

    account: Account
    key: SourceKey | None = None

    @property
    def key_id(self) -> str | None:
        """The identifier of the key; None for someone signed in."""
        return self.key.id if self.key else None


class Reader(msgspec.Struct, frozen=True):
    """Who reads: an account by its id, `by_key` through one of its keys; the id is empty for somebody signed out."""

    id: str
    by_key: bool


def reader_of(caller: Caller | None) -> Reader:
    """Who reads, of whoever calls."""
    return Reader("", by_key=False) if caller is None else Reader(caller.account.id, by_key=caller.key is not None)


class Profile(msgspec.Struct):
    """Changes to an account; UNSET leaves a field as it is, None clears the bio."""

    display_name: str | msgspec.UnsetType = msgspec.UNSET
    username: str | msgspec.UnsetType = msgspec.UNSET
    bio: str | None | msgspec.UnsetType = msgspec.UNSET
    is_private: bool | msgspec.UnsetType = msgspec.UNSET


def folded(name: str) -> str:
    """A user name or e-mail address as it is compared: without regard to case."""
    return name.casefold()


def network_of(client: str) -> str:
    """Whom a client's address stands for: itself, and for IPv6 its network of 64 bits, all of which one client has."""
    try:
        return str(ipaddress.ip_network((client, 64), strict=False)) if ":" in client else client
    except ValueError:  # no address at all, as of a socket without one
        return client


def without_passed(times: Sequence[int], now: int, window: int) -> list[int]:
    """The times (milliseconds) less than `window` ago, in order; those ahead count as `now`: the clock was set back."""
    return sorted(min(at, now) for at in times if now - at < window)


def username_errors(username: object) -> Iterator[FieldError]:
    """What is wrong with a user name: 3 to 30 of A-Z a-z 0-9 _."""
    if isinstance(username, str) and not _USERNAME.fullmatch(username):
        code = Code.TOO_SHORT if len(username) < 3 else Code.TOO_LONG if len(username) > 30 else Code.INVALID_FORMAT
        yield FieldError("username", code, "A user name has 3 to 30 characters of A-Z, a-z, 0-9 and _.")


def display_name_errors(display_name: object) -> Iterator[FieldError]:
    """What is wrong with a display name: it must show something."""
    if isinstance(display_name, str) and is_blank(display_name):
        yield FieldError("displayName", Code.TOO_SHORT, "A display name must not be blank.")


def email_errors(email: object) -> Iterator[FieldError]:
    """What is wrong with an e-mail address, as far as can be seen without writing to it."""
    if isinstance(email, str) and not _EMAIL.fullmatch(email):
        yield FieldError("email", Code.INVALID_FORMAT, "This is not an e-mail address such as name@example.org.")
