"""The interface of the guards before routes: what the pipeline asks of the packages, without knowing them."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from pressroom.web.access import Access
from pressroom.web.once import Once
from pressroom.web.request import Request, Viewer
from pressroom.web.response import Response

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

    def is_admin(self, who: C) -> bool:
        """Returns whether the caller is an admin."""
        ...

    async def check_recent(
        self, request: Request[C], who: C, typed: Mapping[str, Sequence[str]] | None
    ) -> Response | None:
        """Returns None when the caller confirmed the password a short time ago, else the page that asks for it.

        `typed` is what was typed into a form, without its secrets, and with the password if that was asked for; None
        when no form was sent. Raises PasswordRequired on routes of the API.
        """
        ...

    async def check_writes(self, who: C) -> None:
        """Counts one write of a caller who is signed in. Raises RateLimited."""
        ...

    def note_response(self, request: Request[C], response: Response) -> None:
        """Counts the response to a request whose `key_id` is set."""
        ...

    def once(self, request: Request[C], idempotency_key: str | None, body_hash: str) -> Once:
        """Returns what carries out the request's write once; `body_hash` is the fingerprint of its body."""
        ...
