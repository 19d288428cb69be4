"""The layer between the server and the routes: the checks that every request passes, in their order.

path and method (404, 405) → who calls (401, 403, 429: `Guards`) → body (408, 413, 415, 400) → the route.
"""

import random
from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.errors import (
    CrossOrigin,
    FieldError,
    Invalid,
    MissingKey,
    NotFound,
    NotSignedIn,
    PressroomError,
    Unavailable,
)
from pressroom.logs import Log
from pressroom.settings import Settings
from pressroom.web import bodies
from pressroom.web.access import Access, Anyone, Keyed, Public, SessionOnly, Visitor
from pressroom.web.asgi import HeaderList, HttpScope, Receive, Send
from pressroom.web.client_address import client_address
from pressroom.web.error_responses import MethodNotAllowed, error_response
from pressroom.web.form_data import Form
from pressroom.web.forms import read_texts
from pressroom.web.headers import read_headers, session_token
from pressroom.web.idempotency_key import fingerprint, read_key
from pressroom.web.incoming import BodyReader, IncomingBody
from pressroom.web.locations import location_of
from pressroom.web.multipart import discard
from pressroom.web.once import Once
from pressroom.web.origin import check_host, check_same_origin
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.router import Router
from pressroom.web.routing import Route
from pressroom.web.sending import RETRY_SECONDS, SendBudget, held_bytes, send_response
from pressroom.web.services import Services
from pressroom.web.templating import not_found_page

C = TypeVar("C")

_TOO_MANY_LARGE: Final = Unavailable("Too many large answers are being sent, in all or to this address.", RETRY_SECONDS)
HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
"""On every response of a server whose base address is https."""

API_HEADERS: Final[HeaderList] = [(b"x-service-api-version", b"1"), (b"cache-control", b"no-store")]


class Guards(Protocol[C]):
    """Who may call a route, and how often. `app` makes one of the packages' guards, in their order."""

    async def by_key(self, request: Request[C], access: Access) -> C:
        """Returns the caller of a request that has an Authorization header, or raises why it is refused.

        Sets the request's `account_id` and `key_id`, and adds to its response headers.
        """
        ...

    async def by_session(self, request: Request[C], token: str) -> C | None:
        """Returns the caller whose session this is, if any; sets `account_id` and adds to the response headers."""
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


class Pipeline(Generic[C]):
    """The ASGI application: takes every request through its checks and its route, and sends the response."""

    def __init__(
        self,
        routes: Sequence[Route[C]],
        guards: Guards[C],
        db: Database,
        services: Services,
        settings: Settings,
        clock: Clock,
        log: Log,
    ) -> None:
        self.under_way = 0
        """Requests that have begun and are not finished."""
        self._router = Router(routes)
        self._guards = guards
        self._db = db
        self._services = services
        self._settings = settings
        self._clock = clock
        self._log = log
        self._base_url = settings.base_url
        self._trusted = settings.trusted_proxies
        self._bodies = BodyReader(settings)
        self._budget = SendBudget(settings.answers_bytes)
        self._always: HeaderList = [HSTS] if self._base_url.startswith("https://") else []

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        self.under_way += 1
        try:
            started = self._clock.now()
            request = self._begin(scope, receive)
            response = await self._respond(scope, request)
            response = await self._send(request, response, receive, send)
            now = self._clock.now()
            self._log.request(
                now,
                request.id,
                request.method,
                self._router.without_token(request.path),
                response.status,
                now - started,
                request.client,
                account_id=request.account_id,
                key_id=request.key_id,
            )
            if request.body.unread and request.headers.announces_body:
                await request.body.drain()
        finally:
            self.under_way -= 1

    def _begin(self, scope: HttpScope, receive: Receive) -> Request[C]:
        request_id = f"{random.getrandbits(64):016x}"  # a name, no secret
        headers = read_headers(scope["headers"])
        peer = scope["client"]
        return Request(
            db=self._db,
            settings=self._settings,
            clock=self._clock,
            services=self._services,
            id=request_id,
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"].decode("latin-1"),
            headers=headers,
            client=client_address(peer[0] if peer else "", headers.forwarded_for, self._trusted),
            body=IncomingBody(receive),
            response_headers=[(b"x-request-id", request_id.encode()), *self._always],
        )

    async def _respond(self, scope: HttpScope, request: Request[C]) -> Response:
        """Returns the response of the route, or the one to whatever was raised on the way there."""
        in_api = request.path.startswith("/api/") or request.path == "/api"
        if in_api:
            request.response_headers += API_HEADERS
        try:
            check_host(scope["http_version"], request.headers)
            route = self._find(scope, request)
            request.who = await self._who(request, route.access)
            return await self._run(request, route)
        except NotFound as error:
            return error_response(error) if in_api else not_found_page(error.message)
        except PressroomError as error:
            response = error_response(error)
            if response.status >= 500:
                self._log.failure(request.id, error)
            elif isinstance(error, CrossOrigin):
                self._log.info("cross-origin request refused", request_id=request.id, reason=error.message)
            return response
        except Exception as error:  # whatever happens, the client gets a response
            self._log.failure(request.id, error)
            return error_response(error)

    async def _send(self, request: Request[C], response: Response, receive: Receive, send: Send) -> Response:
        """Sends the response, or one to try again later when too many large ones are under way; returns what it sent.

        The response to a write is sent in any case: the write has happened.
        """
        head = request.method == "HEAD"
        held = held_bytes(response, head=head) if request.is_safe else 0
        if held and not self._budget.take(request.client, held):
            response, held = error_response(_TOO_MANY_LARGE), 0
        if request.key_id is not None:
            self._guards.note_response(request, response)
        listen = None if request.headers.announces_body else receive
        try:
            await send_response(send, response, request.response_headers, head=head, receive=listen)
        finally:
            self._budget.give_back(request.client, held)
        return response

    def _find(self, scope: HttpScope, request: Request[C]) -> Route[C]:
        """Returns the route of a request and sets its `route` and `parameters`. Raises NotFound or MethodNotAllowed."""
        found = self._router.find(request.path, scope["raw_path"])
        if found is None:
            raise NotFound("There is nothing at this address. The API reference is at /docs.")
        methods, request.parameters = found
        route = methods.get(request.method)
        if route is None:
            raise MethodNotAllowed(list(methods))
        request.route = route.path
        return route

    async def _who(self, request: Request[C], access: Access) -> C | None:
        """Returns the caller, None when the route takes people who are not signed in. Raises what `access` refuses."""
        if isinstance(access, Public):
            return None
        headers = request.headers
        if headers.authorization is not None and not isinstance(access, Visitor):
            return await self._guards.by_key(request, access)
        who = None
        if token := session_token(headers.cookie):
            who = await self._guards.by_session(request, token)
            request.session_token = token if who is not None else None
        if isinstance(access, Visitor):
            return who
        if (who is not None or isinstance(access, Anyone)) and not request.is_safe:
            check_same_origin(headers, self._base_url)
        if who is None and isinstance(access, Keyed) and not access.anyone:
            raise MissingKey("Send the header Authorization: Bearer <API key>.")
        if who is None and isinstance(access, SessionOnly):
            raise NotSignedIn("Sign in first: this is done with a session, not with an API key.")
        if who is not None and not request.is_safe and _is_limited(access):
            await self._guards.check_writes(who)
        return who

    async def _run(self, request: Request[C], route: Route[C]) -> Response:
        """Reads the body and calls the route. A form's files are removed afterwards."""
        field_errors: list[FieldError] = []
        key = None if request.is_safe else read_key(request.headers.idempotency_key, field_errors)
        form, raw, body = None, b"", None
        try:
            try:
                form = await self._read_form(request, route)
                if route.takes is not None and form is None:
                    raw = await self._bodies.read_json(request.body, request.headers, optional=route.body_optional)
                body = self._decode(route, raw, form)
            except Invalid as error:
                field_errors += error.field_errors
            if field_errors:
                raise Invalid(field_errors)
            request.once = self._guards.once(request, key, "" if key is None else fingerprint(raw, form))
            response = await route.run(request, body)
            if route.location is not None:
                response.headers.append(location_of(route.location, request, response))
            return response
        finally:
            if form is not None:
                await discard(form)

    async def _read_form(self, request: Request[C], route: Route[C]) -> Form | None:
        """Returns the form that the route takes and sets the request's `files`; None for a route that takes none."""
        if route.form is None:
            return None
        rules = route.form.by_key if request.headers.authorization is not None else route.form.signed_in
        form = await self._bodies.read_form(request.body, request.headers, rules)
        request.files = form.files
        return form

    def _decode(self, route: Route[C], raw: bytes, form: Form | None) -> msgspec.Struct | None:
        """Returns the body as the route's struct, None for a route without. Raises Invalid with all field errors."""
        if route.takes is None:
            return None
        if route.form is not None and form is not None:
            return read_texts(route.form, form, route.takes, self._clock.now())
        given = raw if raw or not route.body_optional else b"{}"
        return bodies.decode(route.takes, given, [], self._clock.now())


def _is_limited(access: Access) -> bool:
    return isinstance(access, Keyed) or (isinstance(access, SessionOnly) and access.is_limited)
