"""Accounts, callers and readers, and the rules for names and addresses."""

import hashlib
import ipaddress
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import MINUTE
from pressroom.domains.audit.models import UNKNOWN, Source
from pressroom.errors import Code, FieldError
from pressroom.text import has_controls, name_errors
from pressroom.words import beginnings_of

SESSION_RECENT: Final = 30 * MINUTE
"""How long after a sign-in, or after the password was given again, operations that need a recent one are allowed."""

_USERNAME: Final = re.compile(r"[A-Za-z0-9_]{3,30}")
_EMAIL: Final = re.compile(
    r"[^\s@<>\"(),:;\\\[\]\x00-\x1f\x7f]+@[^\s@<>\"(),:;\\\[\]\x00-\x1f\x7f.]+(\.[^\s@.<>\"(),:;\\\[\]\x00-\x1f\x7f]+)*"
)

WRONG_CREDENTIALS: Final = (
    "The user name, e-mail address, password or code is wrong. After several failures, even the right ones are refused"
    " for up to 15 minutes."
)
"""The one sentence of a sign-in that fails (docs/sign-in.md#uniform-answers)."""


class Account(msgspec.Struct):
    """An account as its row holds it."""

    id: str
    username: str
    email: str  # never shown to others
    display_name: str
    bio: str | None
    verified: bool  # bears the badge
    email_verified: bool
    is_private: bool
    discoverable: bool  # lists for strangers hold it, unless it is private
    is_creator: bool
    total_followers: int
    total_following: int
    total_posts: int  # without deleted ones
    created_at: int  # milliseconds
    avatar_token: str | None  # opens the picture that it chose; None: a drawn one
    cover_token: str | None  # opens the cover that it chose
    limits: str | None  # its own limits (`own_limits`), as JSON; None: those of the settings


class AccountRecord(Account):
    """An account as an operator sees it. Times are in milliseconds, None where it did not happen."""

    suspended_at: int | None
    deleted_at: int | None
    is_admin: bool
    is_moderator: bool

    @property
    def status(self) -> str:
        """Returns `active`, `suspended` or `deleted`."""
        return "deleted" if self.deleted_at is not None else "active" if self.suspended_at is None else "suspended"


class AccountFilter(StrEnum):
    """Filters of lists of accounts."""

    SUSPENDED = "suspended"
    DELETED = "deleted"
    ADMIN = "admin"
    MODERATOR = "moderator"


class NamedAccount(msgspec.Struct):
    """An account's id and present user name."""

    id: str
    username: str


class AccountStatus(msgspec.Struct):
    """Whether an account is private, and since when (milliseconds) it is suspended, if it is.

    It decides who may follow the account, and how much others see of it.
    """

    id: str
    is_private: bool
    suspended_at: int | None


class Session(msgspec.Struct):
    """A session as its owner sees it. Times are in milliseconds; `seen_at` is 0 when the last use is not known."""

    id: str
    token_hash: str
    agent: str
    address: str
    created_at: int
    seen_at: int
    expires_at: int

    @property
    def last_seen_at(self) -> int:
        """Returns the last use that is known, to the minute."""
        return max(self.seen_at, self.created_at)


class PostCounts(msgspec.Struct):
    """How many posts that are not deleted an account has, by visibility. PRIVATE and CUSTOM are left out."""

    public: int
    followers: int
    connections: int


class SourceKey(msgspec.Struct):
    """The key that created a post or clip, as the API shows it (`sourceApiKey`)."""

    id: str
    label: str
    key_prefix: str


class Caller(msgspec.Struct):
    """The account that makes a request, by one of its keys or (`key` None) signed in.

    `confirmed_at` is when the password was last given in the session (milliseconds). `is_admin`, `is_moderator`: signed
    in as one. `source` is where the request of somebody signed in came from. `scopes` are those of the key, separated
    by spaces.
    """

    account: Account
    key: SourceKey | None = None
    confirmed_at: int = 0
    is_admin: bool = False
    is_moderator: bool = False
    source: Source = UNKNOWN
    scopes: str = ""

    @property
    def key_id(self) -> str | None:
        """Returns the key's id; None for a caller who is signed in."""
        return self.key.id if self.key else None

    def has_scope(self, scope: str) -> bool:
        """Returns whether the caller has a scope; a session has all."""
        return self.key is None or scope in self.scopes.split(" ")

    def is_recent(self, now: int) -> bool:
        """Returns whether the password was given within the last 30 minutes (docs/sign-in.md#password-confirmation)."""
        return now - self.confirmed_at <= SESSION_RECENT


class Reader(msgspec.Struct, frozen=True):
    """The account that reads: its id, empty when signed out, and whether the request came with a key."""

    id: str
    by_key: bool


def reader_of(caller: Caller | None) -> Reader:
    """Returns the reader that a caller is; without a caller, one who is signed out."""
    return Reader("", by_key=False) if caller is None else Reader(caller.account.id, by_key=caller.key is not None)


class Block(msgspec.Struct):
    """An e-mail address, or a domain, that nobody can sign up with since `created_at` (milliseconds)."""

    id: str
    pattern: str
    reason: str
    created_at: int


class Profile(msgspec.Struct):
    """Changes to a profile. UNSET leaves a field as it is, None clears the bio."""

    display_name: str | msgspec.UnsetType = msgspec.UNSET
    username: str | msgspec.UnsetType = msgspec.UNSET
    bio: str | None | msgspec.UnsetType = msgspec.UNSET
    is_private: bool | msgspec.UnsetType = msgspec.UNSET
    discoverable: bool | msgspec.UnsetType = msgspec.UNSET


def folded(name: str) -> str:
    """Returns a user name or e-mail address in the form that is compared, without regard to case."""
    return name.casefold()


def words_of_account(username: str, display_name: str) -> list[str]:
    """Returns the words by whose beginning an account is found, each once."""
    return list(dict.fromkeys([folded(username), *beginnings_of(display_name)]))


def login_subject(login: str) -> str:
    """Returns the name by which attempts to sign in as `login` (folded) count; a password typed there is not kept."""
    return "login:" + hashlib.sha256(login.encode()).hexdigest()


def account_subject(account_id: str) -> str:
    """Returns the name under which attempts at an account count, by any of its names."""
    return f"account:{account_id}"


def network_of(client: str) -> str:
    """Returns the address by which limits count a client: its own or, for IPv6, its /64, which is one client's."""
    try:
        return str(ipaddress.ip_network((client, 64), strict=False)) if ":" in client else client
    except ValueError:  # no address at all, as of a socket without one
        return client


def without_passed(times: Sequence[int], now: int, window: int) -> list[int]:
    """Returns the times less than `window` before `now`, sorted; later ones, of a clock set back, count as `now`.

    All are in milliseconds.
    """
    return sorted(min(at, now) for at in times if now - at < window)


def username_errors(username: object) -> Iterator[FieldError]:
    """Yields an error unless the user name is 3 to 30 of A-Z a-z 0-9 _."""
    if isinstance(username, str) and not _USERNAME.fullmatch(username):
        code = Code.TOO_SHORT if len(username) < 3 else Code.TOO_LONG if len(username) > 30 else Code.INVALID_FORMAT
        yield FieldError("username", code, "A user name has 3 to 30 characters of A-Z, a-z, 0-9 and _.")


def display_name_errors(display_name: object) -> Iterator[FieldError]:
    """Yields an error when the display name shows nothing, or is more than a line of text."""
    if display_name == "":
        yield FieldError("displayName", Code.TOO_SHORT, "A display name must show something.")
    elif isinstance(display_name, str):
        yield from name_errors("displayName", display_name, "A display name")


def email_errors(email: object) -> Iterator[FieldError]:
    """Yields an error unless the e-mail address has the form of one."""
    if isinstance(email, str) and (has_controls(email) or not _EMAIL.fullmatch(email)):
        yield FieldError("email", Code.INVALID_FORMAT, "This is not an e-mail address such as name@example.org.")
