"""Access to routes: a route declares one of these classes, and the pipeline puts the guards in front of it.

`Guards` is the interface of the packages' guards, so that the pipeline need not know them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pressroom.web.idempotency import Once
from pressroom.web.request import Request, Viewer
from pressroom.web.response import Response


@dataclass(frozen=True, slots=True)
class Keyed:
    """For an API key, or a session.

    Attributes:
        scope: The scope that the key needs; None: any key will do.
        also: A second scope that it needs.
        counts_as_post: The key's limit of posts per minute applies as well.
        spends_content: The daily content quota of the key's account applies as well.
        anyone: Somebody who is not signed in may call the route too.
        key_only: A session does not do.
    """

    scope: str | None = None
    also: str | None = None
    counts_as_post: bool = False
    spends_content: bool = False
    anyone: bool = False
    key_only: bool = False

    @property
    def scopes(self) -> tuple[str, ...]:
        """Returns all scopes that the key needs."""
        return tuple(scope for scope in (self.scope, self.also) if scope is not None)


@dataclass(frozen=True, slots=True)
class SessionOnly:
    """For a session; an API key is refused, with any scopes.

    Attributes:
        is_limited: False: the limit of writes per minute does not apply (docs/limits.md#signed-in).
        recent: The password must have been given within 30 minutes (docs/sign-in.md#password-confirmation).
    """

    is_limited: bool = True
    recent: bool = False


@dataclass(frozen=True, slots=True)
class Anyone:
    """For people, signed in or not; an API key is refused."""


@dataclass(frozen=True, slots=True)
class Public:
    """For everybody: documents, files and probes. Neither key nor session is looked at."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """For everybody: pages, and forms of people who are not signed in.

    A session is looked up, so that the page can show its owner's view. A form must come from this site.
    """


@dataclass(frozen=True, slots=True)
class Page:
    """For the pages and forms of somebody who is signed in; others are sent to /login and come back afterwards.

    Attributes:
        recent: The password must have been confirmed a short time ago (docs/web-app.md#a-recent-password).
        is_limited: False: the limit of writes per minute does not apply to its forms (docs/limits.md#signed-in).
    """

    recent: bool = False
    is_limited: bool = True


@dataclass(frozen=True, slots=True)
class AdminOnly(SessionOnly):
    """For the session of an admin. To other sessions the route is not there: they get the 404 of an unknown path.

    Attributes:
        moderators: Moderators may call it too (docs/moderation.md#moderators).
    """

    moderators: bool = False


@dataclass(frozen=True, slots=True)
class AdminPage(Page):
    """For the pages and forms of an admin. To others who are signed in they are not there.

    Attributes:
        moderators: They are for moderators too (docs/moderation.md#moderators).
    """

    moderators: bool = False


Access = Keyed | SessionOnly | Anyone | Visitor | Page | Public


def is_limited(access: Access) -> bool:
    """Returns whether writes of somebody who is signed in count against the limit of writes per minute."""
    return isinstance(access, Keyed) or (isinstance(access, SessionOnly | Page) and access.is_limited)


def asks_password(access: Access) -> bool:
    """Returns whether the password must have been confirmed recently."""
    return isinstance(access, SessionOnly | Page) and access.recent


C = TypeVar("C")


class Guards(Protocol[C]):
    """The interface of authentication and limits. `server.guards` makes one of the packages' guards, in their order."""

    async def by_key(self, request: Request[C], access: Access) -> C:
        """Returns the caller of a request that has an Authorization header, or raises why it is refused.

        Sets the request's `account_id` and `key_id`, and adds to its response headers.
        """
        ...

    async def by_session(self, request: Request[C], token: str) -> C | None:
        """Returns the caller whose session this is, if any; sets `account_id` and adds to the response headers."""
        ...

    def viewer(self, who: C) -> Viewer:
        """Returns whom pages show as signed in."""
        ...

    def administers(self, who: C, access: AdminOnly | AdminPage) -> bool:
        """Returns whether the caller is an admin, or a moderator on a route for moderators."""
        ...

    async def check_recent(
        self, request: Request[C], who: C, typed: Mapping[str, Sequence[str]] | None
    ) -> Response | None:
        """Returns None when the caller confirmed the password a short time ago, else the page that asks for it.

        `typed` is the submitted form, without its secrets, and with the password if that was asked for; None
        when no form was sent. Raises PasswordRequired on routes of the API.
        """
        ...

    async def check_writes(self, who: C) -> None:
        """Counts one write of a caller who is signed in. Raises RateLimited."""
        ...

    def note_response(self, request: Request[C], response: Response) -> None:
        """Counts the response to a request whose `key_id` is set."""
        ...

    def once(self, request: Request[C], idempotency_key: str | None, body_hash: str, status: int) -> Once:
        """Returns the runner of the request's write.

        Args:
            request: The request, after its caller was found.
            idempotency_key: The client's key; None when it sent none.
            body_hash: The fingerprint of the request's body.
            status: The status of a successful response.
        """
        ...
