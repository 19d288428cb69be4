"""One request, as it goes through the pipeline and its route."""

from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar, cast

import msgspec

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.errors import NotSignedIn
from pressroom.settings import Settings
from pressroom.web.asgi import HeaderList
from pressroom.web.headers import Headers
from pressroom.web.idempotency import Once
from pressroom.web.incoming_body import IncomingBody
from pressroom.web.multipart_rules import IncomingFile
from pressroom.web.services import Services

C = TypeVar("C")

SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


class Viewer(msgspec.Struct):
    """Somebody who is signed in, as the head of every page shows them."""

    username: str
    avatar: str
    display_name: str = ""
    is_admin: bool = False
    is_moderator: bool = False


class Request(msgspec.Struct, Generic[C]):
    """A request: the server's parts that serve it, its contents, and the findings of the checks.

    `C` is the type of the caller, which `web` passes through without looking inside.

    Attributes:
        id: A random name for log lines and the header X-Request-Id.
        path: The path, decoded.
        query: The query string, as sent.
        client: The client's address (docs/proxy.md#client-addresses).
        peer: The address that the connection comes from: the client's own, or that of a proxy.
        response_headers: Headers of the response, also of an error.
        started: When the request began, in milliseconds.
        route: The path as the route declares it: `/api/posts/{id}`.
        parameters: The values in the path, by their names in the route's path.
        who: The caller; None when nobody is signed in.
        account_id: The account that the request was found to come from, for the log; set also when it is then refused.
        key_id: The API key that it came with, likewise.
        session_token: The token of the caller's session; None for a request by key.
        once: Carries out the route's write; set just before the route is called.
        form_key: The Idempotency-Key of a page's form; empty without one.
        files: The files of a form.
        typed: The typed values of a page's form, by field, without secrets.
        viewer: Whom the page shows as signed in; None on other routes, and when nobody is.
    """

    db: Database
    settings: Settings
    clock: Clock
    services: Services
    id: str
    method: str
    path: str
    query: str
    headers: Headers
    client: str
    peer: str
    body: IncomingBody
    response_headers: HeaderList
    started: int = 0
    route: str = ""
    parameters: Mapping[str, str] = {}
    once: Once = cast("Once", None)  # set before any route runs
    who: C | None = None
    account_id: str | None = None
    key_id: str | None = None
    session_token: str | None = None
    form_key: str = ""
    files: Sequence[IncomingFile] = ()
    typed: Mapping[str, Sequence[str]] = {}
    viewer: Viewer | None = None

    @property
    def caller(self) -> C:
        """Returns the caller. Raises NotSignedIn where the route takes anybody and nobody is signed in."""
        if self.who is None:
            raise NotSignedIn("Sign in first.")
        return self.who

    @property
    def is_safe(self) -> bool:
        """Whether the method is one that changes nothing."""
        return self.method in SAFE_METHODS
