"""The layer between the server and the routes: the checks that every request passes, in their order.

path and method (404, 405) → who calls (401, 403, 429: `Guards`) → query (400) → body (408, 413, 415, 400) → the route.
"""

import random
from collections.abc import Awaitable, Sequence
from contextlib import aclosing
from typing import Final, Generic, TypeVar, cast

import msgspec

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.errors import (
    CrossOrigin,
    FieldError,
    Invalid,
    Maintenance,
    MissingKey,
    NotFound,
    NotSignedIn,
    Unavailable,
)
from pressroom.logs import Log
from pressroom.settings import Settings
from pressroom.turns import Turn, Turns
from pressroom.web import json_bodies
from pressroom.web.access import (
    Access,
    AdminOnly,
    AdminPage,
    Anyone,
    Guards,
    Keyed,
    Page,
    Public,
    SessionOnly,
    Visitor,
    asks_password,
    is_limited,
)
from pressroom.web.asgi import HeaderList, HttpScope, Receive, Send
from pressroom.web.client_address import client_address, network_of
from pressroom.web.compression import encode, may_be_encoded
from pressroom.web.error_responses import LONGEST_TARGET, TARGET_TOO_LONG, MethodNotAllowed, UriTooLong, error_response
from pressroom.web.forms import FormSubmission
from pressroom.web.headers import read_headers, session_token
from pressroom.web.idempotency import fingerprint, read_key
from pressroom.web.incoming_body import BodyReader, IncomingBody
from pressroom.web.multipart import discard
from pressroom.web.multipart_rules import Form, FormSpec, read_texts
from pressroom.web.observed import PROBES, observe
from pressroom.web.origin import check_host, check_same_origin
from pressroom.web.query import check_known, parse_query
from pressroom.web.rendering import error_page, hide_address, sign_in_first, theme_of
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.response_sending import (
    RETRY_SECONDS,
    SendBudget,
    head_of,
    held_bytes,
    is_small,
    location_of,
    send_endless,
    send_response,
    send_small,
)
from pressroom.web.router import Router
from pressroom.web.routing import Route
from pressroom.web.services import Services

C = TypeVar("C")

_TOO_MANY_LARGE: Final = Unavailable("Too many large answers are being sent, in all or to this address.", RETRY_SECONDS)
NOTHING_HERE: Final = "There is nothing at this address. The API reference is at /docs."
HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
"""On every response of a server whose base address is https."""

FOR_PROGRAMS: Final = frozenset({"/healthz", "/readyz", "/openapi.json", "/openapi.yaml", "/openapi-keys.json"})
"""Paths outside of the API that programs read, errors included."""

READY: Final = "/readyz"

OPEN_IN_MAINTENANCE: Final = (
    *("/healthz", "/readyz", "/static/", "/login", "/logout"),
    *("/api/auth/login", "/api/auth/logout", "/api/auth/confirm"),
)
"""Prefixes of paths that maintenance mode leaves open beside those of admins: probes, and signing in."""

MAINTENANCE_RETRY_SECONDS: Final = 60

API_HEADERS: Final[HeaderList] = [(b"x-service-api-version", b"1"), (b"cache-control", b"no-store")]


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
        self._turns = Turns()
        self._not_ready = ""
        self._always: HeaderList = [HSTS] if self._base_url.startswith("https://") else []

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        self.under_way += 1
        try:
            request = self._begin(scope, receive)
            # By the network: one client of IPv6 has 2⁶⁴ addresses, and would have as many lines.
            turn = Turn(network_of(request.client))
            serving = self._serve(scope, request, turn, receive, send)
            # A probe that waited behind a queue would fail, and the balancer take out a process that is only busy.
            in_turn: Awaitable[None] = serving if request.path in PROBES else self._turns.run(turn, serving)
            del request  # Otherwise a stream of events would keep it for days.
            await in_turn
        finally:
            self.under_way -= 1

    async def _serve(self, scope: HttpScope, request: Request[C], turn: Turn, receive: Receive, send: Send) -> None:
        """Responds to a request and logs it."""
        response = await self._respond(scope, request, turn)
        shown_path = self._router.without_token(request.path)
        if shown_path is not request.path:
            hide_address(response)
        if response.endless is not None:
            async with aclosing(response.endless) as body:
                # It is logged when it begins, as it may go on for days; and nothing of its request is kept as long.
                self._note_key(request, response)
                self._record(request, response, shown_path)
                headers, seconds = head_of(response, request.response_headers), self._settings.reader_timeout_seconds
                sending = send_endless(send, headers, body, receive, seconds)
                cast("dict[str, object]", scope).clear()  # the server holds it
                del request, turn, response, headers
                await sending
            return
        response = await self._send(request, response, receive, send)
        self._record(request, response, shown_path)
        if request.body.unread and request.headers.announces_body:
            await request.body.drain()

    def _record(self, request: Request[C], response: Response, shown_path: str) -> None:
        """Logs a request and its response."""
        now = self._clock.now()
        method, status, took = request.method, response.status, now - request.started
        who = {"account_id": request.account_id, "key_id": request.key_id}
        if request.path in PROBES:
            self._note_readiness(request, response)
        else:
            self._log.request(now, request.id, method, shown_path, status, took, request.client, **who)
            # Refusals of maintenance mode are planned: counted, they would set off every alert about errors.
            if status != 503 or self._services.maintenance() is None:
                observe(method, request.route, status, took)

    def _begin(self, scope: HttpScope, receive: Receive) -> Request[C]:
        request_id = f"{random.getrandbits(64):016x}"  # a name, no secret
        headers = read_headers(scope["headers"])
        peer = scope["client"][0] if scope["client"] else ""
        return Request(
            db=self._db,
            settings=self._settings,
            clock=self._clock,
            services=self._services,
            id=request_id,
            method=scope["method"],
            path=scope["path"][:LONGEST_TARGET],  # a longer one is refused
            query=scope["query_string"].decode("latin-1"),
            headers=headers,
            client=client_address(peer, headers.forwarded_for, self._trusted),
            peer=peer,
            body=IncomingBody(receive, None if headers.chunked else headers.content_length),
            started=self._clock.now(),
            response_headers=[(b"x-request-id", request_id.encode()), *self._always],
        )

    async def _respond(self, scope: HttpScope, request: Request[C], turn: Turn) -> Response:
        """Returns the response of the route, or the one to an error on the way there."""
        if _in_api(request.path):
            request.response_headers += API_HEADERS
        route = None
        try:
            # Raised here, behind the headers that every response has.
            if turn.refusal is not None:
                raise turn.refusal
            _check_length(scope)
            check_host(scope["http_version"], request.headers)
            route = self._get_route(scope, request)
            # Before the caller is looked up: a closed service leaves its database alone.
            if (message := self._services.maintenance()) is not None and not _is_open_in_maintenance(route):
                raise Maintenance(message, MAINTENANCE_RETRY_SECONDS)
            if request.query and not _in_api(route.path):
                parse_query(request.query)  # refuses it before a page looks into it
            request.who = await self._who(request, route)
            # Before anything costly: from here on the request waits in the line of its account.
            if request.account_id is not None:
                self._turns.identify(turn, request.account_id)
            if request.query and _in_api(route.path):
                check_known(request.query, route.parameters)
            if route.page_form is not None:
                submission = FormSubmission(request, route, route.page_form, self._guards, self._clock, self._note)
                return await submission.respond(self._bodies)
            return await self._run(request, route)
        except NotSignedIn as error:
            is_page = route is not None and isinstance(route.access, Page | Visitor)
            return sign_in_first(request) if is_page else self._refuse(request, error)
        except Exception as error:  # the client always gets a response
            return self._refuse(request, error)

    def _refuse(self, request: Request[C], error: Exception) -> Response:
        """Returns the response to an error, as a page where people read it, and logs one that concerns the operator."""
        response = _error_response(request, error)
        self._note(request, error, response.status)
        return response

    def _note_readiness(self, request: Request[C], response: Response) -> None:
        """Logs that this process is ready again. That it is not is logged when a probe is refused."""
        if self._not_ready and request.path == READY and response.status == 200:
            self._not_ready = ""
            self._log.info("ready again")

    def _note(self, request: Request[C], error: Exception, status: int) -> None:
        if request.path in PROBES and isinstance(error, Unavailable):
            # Probes come every few seconds: one line for each reason. A planned stop is no fault.
            if error.message != self._not_ready:
                self._not_ready = error.message
                note = self._log.info if self._services.is_draining() else self._log.warning
                note("not ready", reason=error.message)
        elif status >= 500 and not isinstance(error, Maintenance):
            self._log.failure(request.id, error)
        elif isinstance(error, CrossOrigin):
            self._log.info("cross-origin request refused", request_id=request.id, reason=error.message)
        _let_go(error)

    async def _send(self, request: Request[C], response: Response, receive: Receive, send: Send) -> Response:
        """Sends the response, or one to try again later when too many large ones are under way; returns the sent one.

        The response to a write is sent in any case: the write has happened.
        """
        head = request.method == "HEAD"
        if may_be_encoded(response):
            # Before its bytes are counted: a compressed page takes less memory.
            response = await encode(response, request.headers, is_safe=request.is_safe)
        held = held_bytes(response, head=head) if request.is_safe else 0
        if held and not self._budget.take(request.client, held):
            response, held = _error_response(request, _TOO_MANY_LARGE), 0
        self._note_key(request, response)
        if is_small(response):
            await send_small(send, response, request.response_headers, head=head)
            return response
        # To notice a client that hangs up, the server's messages are read. Behind an unread body that message does not
        # come.
        listen = None if request.headers.announces_body else receive
        try:
            await send_response(send, response, request.response_headers, head=head, receive=listen)
        finally:
            # Also when the client hung up: otherwise the budget would run out for good.
            self._budget.give_back(request.client, held)
        return response

    def _note_key(self, request: Request[C], response: Response) -> None:
        if request.key_id is not None:
            self._guards.note_response(request, response)

    def _get_route(self, scope: HttpScope, request: Request[C]) -> Route[C]:
        """Returns the route of a request and sets its `route` and `parameters`. Raises NotFound or MethodNotAllowed."""
        found = self._router.find(request.path, scope["raw_path"])
        if found is None:
            raise NotFound(NOTHING_HERE)
        methods, request.parameters = found
        route = methods.get(request.method)
        if route is None:
            raise MethodNotAllowed(list(methods))
        request.route = route.path
        return route

    async def _who(self, request: Request[C], route: Route[C]) -> C | None:
        """Returns the caller, None when the route takes people who are not signed in. Raises its access's refusals.

        Writes are counted here, but those of forms later: the input is shown again to somebody who writes too much.
        """
        access, headers = route.access, request.headers
        if isinstance(access, Public):
            return None
        # A key before a cookie: a program that sends both means the key, and its limits.
        if headers.authorization is not None and not _ignores(access, headers.authorization):
            return await self._guards.by_key(request, access)
        who = None
        if not (isinstance(access, Keyed) and access.key_only) and (token := session_token(headers.cookie)):
            who = await self._guards.by_session(request, token)
            request.session_token = token if who is not None else None
        # Forms of people who are not signed in too: another site could sign somebody in to an account of its own.
        if (who is not None or isinstance(access, Anyone | Visitor | Page)) and not request.is_safe:
            check_same_origin(headers, self._base_url)
        if isinstance(access, Visitor | Page):
            request.viewer = None if who is None else self._guards.viewer(who)
        if who is None and isinstance(access, Keyed) and not access.anyone:
            raise MissingKey("Send the header Authorization: Bearer <API key>.")
        if who is None and isinstance(access, SessionOnly | Page):
            raise NotSignedIn("Sign in first: this is done with a session, not with an API key.")
        # As for an unknown path: a 403 would reveal the page.
        if who is not None and isinstance(access, AdminOnly | AdminPage) and not self._guards.administers(who, access):
            raise NotFound(NOTHING_HERE)
        if who is not None and not request.is_safe and route.page_form is None and is_limited(access):
            await self._guards.check_writes(who)
        return who

    async def _run(self, request: Request[C], route: Route[C]) -> Response:
        """Reads the body and calls the route. A form's files are removed afterwards."""
        if request.who is not None and asks_password(route.access):
            asking = await self._guards.check_recent(request, request.who, None)
            if asking is not None:
                return asking
        field_errors: list[FieldError] = []
        key = None if request.is_safe else read_key(request.headers.idempotency_key, field_errors)
        form, raw, body = None, b"", None
        try:
            try:
                form = None if route.form is None else await self._read_form(request, route.form)
                if route.takes is not None and form is None:
                    raw = await self._bodies.read_json(request.body, request.headers, optional=route.body_optional)
                body = self._decode(route, raw, form)
            except Invalid as error:
                field_errors += error.field_errors
            # Together, so that one answer names the faults of the header and of the body.
            if field_errors:
                raise Invalid(field_errors)
            body_hash = "" if key is None else fingerprint(raw, form)
            request.once = self._guards.once(request, key, body_hash, route.status)
            response = await route.run(request, body)
            if route.location is not None:
                response.headers.append(location_of(route.location, request, response))
            return response
        finally:
            if form is not None:
                # Files that a route has kept are in the store by now; these are the copies of the intake.
                await discard(form)

    async def _read_form(self, request: Request[C], spec: FormSpec) -> Form:
        """Returns the form that the route takes and sets the request's `files`."""
        rules = spec.by_key if request.headers.authorization is not None else spec.signed_in
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
        return json_bodies.decode(route.takes, given, [], self._clock.now())


def _check_length(scope: HttpScope) -> None:
    """Raises UriTooLong before any part of a long request target is looked at."""
    query = scope["query_string"]
    if len(scope["raw_path"]) + len(query) + bool(query) > LONGEST_TARGET:  # with the question mark
        raise UriTooLong(TARGET_TOO_LONG)


def _let_go(error: BaseException) -> None:
    """Drops the request from an error and from those that it followed from: some errors are constants, which would
    otherwise keep every request, with its body, that ever raised them."""
    link: BaseException | None = error
    while link is not None:
        following = link.__context__
        link.__traceback__ = link.__context__ = None
        link = following


def _ignores(access: Access, authorization: str) -> bool:
    """Returns whether the header means nothing to a route: a proxy before pages may ask for passwords of its own."""
    return isinstance(access, Visitor) or (isinstance(access, Page) and authorization[:7].lower() != "bearer ")


def _is_open_in_maintenance(route: Route[C]) -> bool:
    return isinstance(route.access, AdminOnly | AdminPage) or route.path.startswith(OPEN_IN_MAINTENANCE)


def _in_api(path: str) -> bool:
    return path.startswith("/api/") or path == "/api"


def _error_response(request: Request[C], error: Exception) -> Response:
    """Returns the response to an error: JSON for programs, a page for people."""
    if _in_api(request.path) or request.path in FOR_PROGRAMS:
        return error_response(error)
    return error_page(error, theme_of(request.headers.cookie))
