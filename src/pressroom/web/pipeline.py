"""The one thin layer between the server and a route: the order of checks of every request.

path and method (404, 405) → who calls (401, 403, 429: `Guards`) → body (408, 413, 415, 400) → the route.
"""

import asyncio
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
from pressroom.web.access import Access, Anyone, Identified, Keyed, Public, SessionOnly, Visitor
from pressroom.web.asgi import HeaderList, HttpScope, Receive, Send
from pressroom.web.client_address import client_address
from pressroom.web.forms import read_texts
from pressroom.web.idempotency import fingerprint, read_key
from pressroom.web.incoming import IncomingBody
from pressroom.web.locations import location_of
from pressroom.web.multipart import Form, discard, read_form
from pressroom.web.origin import check_host, check_same_origin
from pressroom.web.problems import (
    MethodNotAllowed,
    PayloadTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
    error_response,
)
from pressroom.web.router import Router
from pressroom.web.routing import FormSpec, Headers, Once, Request, Response, Route, Services
from pressroom.web.sending import RETRY_SECONDS, Places, room_for, send_response
from pressroom.web.templating import not_found_page

C = TypeVar("C")

JSON_LIMIT: Final = 256 * 1024
"""Bytes of a JSON body: more than 5,000 characters can take however they are escaped."""

SAFE: Final = frozenset({"GET", "HEAD"})
REPEATED: Final = "\n"
"""Stands between the values of a header that must not be repeated: no value can hold it, so none passes for valid."""

_JOINED_BY: Final = {
    b"authorization": REPEATED,
    b"content-encoding": REPEATED,
    b"content-length": REPEATED,
    b"content-type": REPEATED,
    b"cookie": "; ",
    b"host": REPEATED,
    b"idempotency-key": REPEATED,
    b"if-none-match": ", ",
    b"if-range": REPEATED,
    b"origin": REPEATED,
    b"range": REPEATED,
    b"sec-fetch-site": REPEATED,
    b"transfer-encoding": ", ",
    b"x-forwarded-for": ", ",
}
_NO_PLACE: Final = Unavailable("Too many large answers are being sent, in all or to this address.", RETRY_SECONDS)
HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
"""On every answer of a server whose base address is https."""

API_HEADERS: Final[HeaderList] = [(b"x-service-api-version", b"1"), (b"cache-control", b"no-store")]


class Guards(Protocol[C]):
    """Who stands before a route; `app` builds it of the rooms' guards, in their order."""

    async def by_key(
        self, headers: Headers, client: str, access: Access, response_headers: HeaderList, identified: Identified
    ) -> C:
        """The caller of a request that has an Authorization header. Adds to the answer's headers; raises refusals."""
        ...

    async def by_session(self, token: str, response_headers: HeaderList, identified: Identified) -> C | None:
        """The caller of a session, if it is one."""
        ...

    async def check_writes(self, who: C) -> None:
        """Counts one write of a caller who is signed in. Raises RateLimited."""
        ...

    def once(self, who: C | None, method: str, path: str, idempotency_key: str | None, body_hash: str) -> Once:
        """The means to carry out a write once; `body_hash` is the fingerprint of its body."""
        ...


class Pipeline(Generic[C]):
    """Carries requests through routes."""

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
        self._trusted = settings.trusted_proxies
        self._places = Places(settings.answers_bytes)
        self._body_seconds = float(settings.body_timeout_seconds)
        self._always: HeaderList = [HSTS] if settings.base_url.startswith("https://") else []

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        """Serves one request (an ASGI application)."""
        self.under_way += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self.under_way -= 1

    async def _serve(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        started = self._clock.now()
        request_id = f"{random.getrandbits(64):016x}"  # a name, no secret
        incoming = IncomingBody(receive)
        headers = read_headers(scope)
        client = client_address(_peer(scope), headers.forwarded_for, self._trusted)
        response_headers: HeaderList = [(b"x-request-id", request_id.encode()), *self._always]
        identified = Identified()
        in_api = scope["path"].startswith("/api/") or scope["path"] == "/api"
        if in_api:
            response_headers += API_HEADERS
        try:
            check_host(scope, headers)
            response = await self._answer(scope, incoming, headers, client, request_id, response_headers, identified)
        except NotFound as error:
            response = error_response(error) if in_api else not_found_page(error.message)
        except PressroomError as error:
            response = error_response(error)
            if response.status >= 500:
                self._log.failure(request_id, error)
            elif isinstance(error, CrossOrigin):
                self._log.info("cross-origin request refused", request_id=request_id, reason=error.message)
        except Exception as error:  # whatever happens, the client gets an answer
            response = error_response(error)
            self._log.failure(request_id, error)
        head = scope["method"] == "HEAD"
        # What a write answers is sent in any case: it has been done.
        room = room_for(response, head=head) if scope["method"] in SAFE else 0
        if room and not self._places.take(client, room):
            response, room = error_response(_NO_PLACE), 0
        listen = None if headers.content_length or headers.chunked else receive
        try:
            await send_response(send, response, response_headers, head=head, receive=listen)
        finally:
            self._places.give_back(client, room)
        now = self._clock.now()
        path = self._router.without_token(scope["path"])
        self._log.request(
            now,
            request_id,
            scope["method"],
            path,
            response.status,
            now - started,
            client,
            account_id=identified.account_id,
            key_id=identified.key_id,
        )
        if incoming.unread and (headers.content_length or headers.chunked):
            await incoming.drain()

    async def _answer(
        self,
        scope: HttpScope,
        incoming: IncomingBody,
        headers: Headers,
        client: str,
        request_id: str,
        response_headers: HeaderList,
        identified: Identified,
    ) -> Response:
        found = self._router.find(scope["path"], scope["raw_path"])
        if found is None:
            raise NotFound("There is nothing at this address. The API reference is at /docs.")
        methods, parameters = found
        route = methods.get(scope["method"])
        if route is None:
            raise MethodNotAllowed(list(methods))
        who = await self._who(route, scope, headers, client, response_headers, identified)
        return await self._run(route, scope, parameters, incoming, headers, client, request_id, who)

    async def _who(
        self,
        route: Route[C],
        scope: HttpScope,
        headers: Headers,
        client: str,
        response_headers: HeaderList,
        identified: Identified,
    ) -> C | None:
        access = route.access
        if isinstance(access, Public):
            return None
        if headers.authorization is not None and not isinstance(access, Visitor):
            return await self._guards.by_key(headers, client, access, response_headers, identified)
        who = None
        if token := session_token(headers.cookie):
            who = await self._guards.by_session(token, response_headers, identified)
        if isinstance(access, Visitor):
            return who
        if (who is not None or isinstance(access, Anyone)) and scope["method"] not in SAFE:
            check_same_origin(headers, self._settings.base_url)
        if who is None and isinstance(access, Keyed) and not access.anyone:
            raise MissingKey("Send the header Authorization: Bearer <API key>.")
        if who is None and isinstance(access, SessionOnly):
            raise NotSignedIn("Sign in first: this is done with a session, not with an API key.")
        if who is not None and scope["method"] not in SAFE and _is_limited(access):
            await self._guards.check_writes(who)
        return who

    async def _run(
        self,
        route: Route[C],
        scope: HttpScope,
        parameters: dict[str, str],
        incoming: IncomingBody,
        headers: Headers,
        client: str,
        request_id: str,
        who: C | None,
    ) -> Response:
        field_errors: list[FieldError] = []
        key = None if route.method in SAFE else read_key(headers.idempotency_key, field_errors)
        form, raw, body = None, b"", None
        try:
            try:
                form = await self._read_form(route.form, incoming, headers) if route.form is not None else None
                raw = await self._read_json(route, incoming, headers) if route.takes and form is None else b""
                body = self._decode(route, raw, form)
            except Invalid as error:
                field_errors += error.field_errors
            if field_errors:
                raise Invalid(field_errors)
            body_hash = "" if key is None else fingerprint(raw, form)
            once = self._guards.once(who, route.method, scope["path"], key, body_hash)
            request = self._call(scope, parameters, headers, client, request_id, who, form, once)
            response = await route.run(request, body)
            if route.location is not None:
                response.headers.append(location_of(route.location, request, response))
            return response
        finally:
            if form is not None:
                await discard(form)

    def _decode(self, route: Route[C], raw: bytes, form: Form | None) -> msgspec.Struct | None:
        """The body as the struct that the route takes. Raises Invalid with all field errors."""
        if route.takes is None:
            return None
        if route.form is not None and form is not None:
            return read_texts(route.form, form, route.takes, self._clock.now())
        given = raw if raw or not route.body_optional else b"{}"
        return bodies.decode(route.takes, given, [], self._clock.now())

    def _call(
        self,
        scope: HttpScope,
        parameters: dict[str, str],
        headers: Headers,
        client: str,
        request_id: str,
        who: C | None,
        form: Form | None,
        once: Once,
    ) -> Request[C]:
        return Request(
            db=self._db,
            settings=self._settings,
            clock=self._clock,
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"].decode("latin-1"),
            parameters=parameters,
            headers=headers,
            client=client,
            request_id=request_id,
            once=once,
            services=self._services,
            files=form.files if form is not None else (),
            who=who,
            session_token=session_token(headers.cookie) if who is not None else None,
        )

    async def _read_form(self, spec: FormSpec, incoming: IncomingBody, headers: Headers) -> Form:
        if (headers.content_encoding or "identity").lower() != "identity":
            raise UnsupportedMediaType("Send the body without Content-Encoding.")
        rules = spec.by_key if headers.authorization is not None else spec.signed_in
        folder = self._settings.data_dir / "incoming"
        try:
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable("The disk takes no uploads right now. Nothing was stored.", 10) from error
        seconds = float(self._settings.upload_timeout_seconds)
        try:
            async with asyncio.timeout(seconds):
                return await read_form(
                    incoming.chunks(), headers.content_type or "", headers.content_length, rules, folder
                )
        except TimeoutError:
            raise RequestTimeout(f"The form did not arrive within {seconds:g} s.") from None

    async def _read_json(self, route: Route[C], incoming: IncomingBody, headers: Headers) -> bytes:
        may_be_empty = route.body_optional and not headers.content_length
        if not may_be_empty:
            _check_json(headers)
        if (headers.content_length or 0) > JSON_LIMIT:
            raise PayloadTooLarge(f"A JSON body has at most {JSON_LIMIT:,} bytes.")
        try:
            async with asyncio.timeout(self._body_seconds):
                raw = await incoming.read(JSON_LIMIT)
        except TimeoutError:
            raise RequestTimeout(f"The body did not arrive within {self._body_seconds:g} s.") from None
        if raw and may_be_empty:
            _check_json(headers)
        return raw


def read_headers(scope: HttpScope) -> Headers:
    """The headers that matter, in one pass."""
    found: dict[bytes, str] = {}
    for name, value in scope["headers"]:
        if name in _JOINED_BY:
            text = value.decode("latin-1")
            found[name] = f"{found[name]}{_JOINED_BY[name]}{text}" if name in found else text
    length = found.get(b"content-length", "")
    return Headers(
        authorization=found.get(b"authorization"),
        cookie=found.get(b"cookie", ""),
        content_type=found.get(b"content-type"),
        content_encoding=found.get(b"content-encoding"),
        content_length=int(length) if length.isdigit() else None,
        chunked=b"transfer-encoding" in found,
        idempotency_key=found.get(b"idempotency-key"),
        forwarded_for=found.get(b"x-forwarded-for"),
        fetch_site=found.get(b"sec-fetch-site"),
        origin=found.get(b"origin"),
        host=found.get(b"host", ""),
        range=found.get(b"range"),
        if_range=found.get(b"if-range"),
        if_none_match=found.get(b"if-none-match"),
    )


def session_token(cookie: str) -> str | None:
    """The value of the cookie `session`."""
    for part in cookie.split(";") if cookie else ():
        name, _, value = part.strip().partition("=")
        if name == "session" and value:
            return value
    return None


def _check_json(headers: Headers) -> None:
    kind = (headers.content_type or "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType(f"This route takes application/json, not {kind[:100]!r}.")
    if (headers.content_encoding or "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body without Content-Encoding.")


def _is_limited(access: Access) -> bool:
    return isinstance(access, Keyed) or (isinstance(access, SessionOnly) and access.is_limited)


def _peer(scope: HttpScope) -> str:
    client = scope["client"]
    return client[0] if client else ""
