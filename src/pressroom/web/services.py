"""Services of routes beside the database. The packages behind them need not know each other, nor `web` know them."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from markupsafe import Markup

from pressroom.blobs import Blobs
from pressroom.db import Database, Reads
from pressroom.outbound import OutboundClient
from pressroom.signing_secrets import SigningSecret
from pressroom.threads import MadeOnce
from pressroom.web.codings import CachedBody
from pressroom.web.fragments import Fragments, SentPages
from pressroom.web.response import EndlessBody
from pressroom.web.templating import Slices


class PasswordHasher(Protocol):
    """Hashes and verifies passwords (docs/limits.md#passwords). `network` is where a password came from."""

    async def hash(self, password: str, network: str, /) -> str:
        """Returns the hash to store. Raises Unavailable when too many passwords wait."""
        ...

    async def verify(self, password: str, password_hash: str | None, network: str, /) -> bool:
        """Returns whether the password matches; never without a hash, which takes as long. Raises Unavailable."""
        ...


class MailStatus(Protocol):
    """Whether mail can be sent (docs/mail.md)."""

    @property
    def is_available(self) -> bool:
        """Whether mail reaches anybody at all."""
        ...

    @property
    def kept(self) -> Iterable[object] | None:
        """The latest messages in development mode, for its page; None otherwise."""
        ...


class Left(Protocol):
    """The rest of one limit. Times are in milliseconds.

    Attributes:
        limit: How many requests it takes.
        remaining: How many more it takes now.
        resets_at: When the oldest counted request leaves the window; None while none is counted.
    """

    @property
    def limit(self) -> int: ...
    @property
    def remaining(self) -> int: ...
    @property
    def resets_at(self) -> int | None: ...


class RateLimits(Protocol):
    """The limiter, as routes see it. Methods raise Unavailable while it is away."""

    async def ping(self) -> str | None:
        """Returns a notice for the operator while some requests cannot be counted, None otherwise."""
        ...

    @property
    def rates(self) -> Any:
        """Returns the limits of every key, in a type of the package of limits."""
        ...

    async def look(self, key_id: str, rates: Any, /) -> "tuple[Left, Left]":
        """Returns the requests left in the minute and the 24 hours of a key with these `rates`; charges nothing."""
        ...


class News(Protocol):
    """A flag that one reader waits for."""

    def set(self) -> None:
        """Raises it."""
        ...

    def clear(self) -> None:
        """Lowers it."""
        ...

    async def wait(self, seconds: float, /) -> bool:
        """Waits until it is raised, `seconds` at most; returns whether it is."""
        ...


class EventWatch(Protocol):
    """Wakes readers that wait for events (docs/events.md)."""

    @property
    def is_closing(self) -> bool:
        """Whether readers are to come to an end, because the server stops."""
        ...

    def watching(self, account_id: str, until: int | None, /) -> AbstractContextManager[News]:
        """Yields a flag that is raised when the account may have new ones, or its reader is to come to an end."""
        ...


B = TypeVar("B", contravariant=True)


class Streams(Protocol[B]):
    """The open streams of events; `B` are events that were read."""

    def check_room(self, key_id: str, /) -> None:
        """Raises RateLimited when the key has as many streams as it may have."""
        ...

    def open(self, account_id: str, key_id: str, first: B, expires_at: int | None, /) -> EndlessBody:
        """Returns the body of a new stream that begins with `first`. Raises RateLimited."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """The services that a server opens once; every route may use them, as `request.services`.

    Attributes:
        outbound: Sends requests to other servers.
        blobs: The store of media.
        for_visitors: The database for visitors who are not signed in; it may be behind.
        await_card: Waits a little for the card of a link: its address, the account's id.
        media_secret: Signs addresses of media.
        mail_secret: Signs links in mails that stop them.
        challenge_secret: Signs challenges to passkeys.
        maintenance: Returns the message of maintenance mode while that is on, or None.
        announcement: Returns the announcement on every page, which has `__html__`, or None.
        slices: Renders pages in slices.
        fragments: Parts of pages that signed-out visitors see, as rendered before.
        sent_pages: Pages that signed-out visitors got, as compressed before.
        passwords: Hashes and verifies passwords.
        mail: Knows whether mail can be sent.
        note_view: Counts a view: the post's id, the visitor, the time in milliseconds.
        may_see: Returns whether an account, by its id, may see a post or a clip, by its id and whether it is a clip.
        limiter: Counts requests against the rate limits.
        events: Wakes readers that wait for events.
        streams: The open streams of events.
        openapi: The OpenAPI document as JSON, made when it is first asked for.
        openapi_keys: The same of the operations that take a key.
        robots: The body of /robots.txt.
        has_page: Returns whether there is a page at a path.
        clock_notice: Returns the notice for an operator about this machine's clock, or None.
        is_draining: Returns whether the server is about to stop and wants no more requests.
        count_unread: Returns how many notifications an account, by its id, has not read; 100 for more than 99.
        count_reports: Returns how many reported things wait for a decision; 100 for more than 99.
    """

    outbound: OutboundClient
    blobs: Blobs
    for_visitors: Reads
    await_card: Callable[[str, str], Awaitable[None]]
    media_secret: SigningSecret
    mail_secret: SigningSecret
    challenge_secret: SigningSecret
    maintenance: Callable[[], str | None]
    announcement: Callable[[], object | None]
    slices: Slices
    fragments: Fragments[Markup]
    sent_pages: SentPages
    passwords: PasswordHasher
    mail: MailStatus
    note_view: Callable[[str, str, int], None]
    may_see: Callable[[Database, str, str, bool], Awaitable[bool]]
    limiter: RateLimits
    events: EventWatch
    streams: Streams[Any]
    openapi: MadeOnce[CachedBody]
    openapi_keys: MadeOnce[CachedBody]
    robots: bytes
    has_page: Callable[[str], bool]
    clock_notice: Callable[[], str | None]
    is_draining: Callable[[], bool]
    count_unread: Callable[[Database, str], Awaitable[int]]
    count_reports: Callable[[Database], Awaitable[int]]
