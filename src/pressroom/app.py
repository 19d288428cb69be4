"""The map: every room's routes, and the order of what stands before them.

A keyed request:   key 401 → address 403 → rate limits 429 → session-only route 403 → scope 403
                   → body 400 → idempotent replay → state 404 409 422 → quota 429 → effect
A session request: session 401 → same origin 403 → body 400 → idempotent replay → state → effect
"""

import re
from collections import defaultdict
from typing import Any, Final

from litestar import Litestar, Request, Response, asgi
from litestar.exceptions import HTTPException
from litestar.handlers import ASGIRouteHandler

from pressroom.domains.accounts.guard import SessionGuard
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.routes import account_routes
from pressroom.domains.idempotency.actions import Request as Write
from pressroom.domains.idempotency.guard import OncePerKey
from pressroom.domains.keys import actions as keys
from pressroom.domains.keys import routes as key_routes
from pressroom.domains.keys.guard import KeyGuard, caller_of, check_scope
from pressroom.domains.keys.models import Bearer, RevokedBy
from pressroom.domains.limits.guard import check_admitted, headers_of
from pressroom.domains.posts import routes as post_routes
from pressroom.errors import AddressNotAllowed, Code, Fault, Invalid, NotFound, SessionRequired
from pressroom.runtime import Runtime
from pressroom.web.access import Access, Keyed
from pressroom.web.client_address import allowed
from pressroom.web.openapi import describe
from pressroom.web.pipeline import API_VERSION, Guards, Pipeline, new_request_id
from pressroom.web.problems import answer_to
from pressroom.web.routing import Answer, Headers, Once, Route
from pressroom.web.site import site_routes
from pressroom.web.templating import page

HeaderList = list[tuple[bytes, bytes]]

PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def api_routes(runtime: Runtime) -> list[Route[Caller]]:
    """Every operation of the API, in the order of the reference."""
    return [
        post_routes.create_post,
        *account_routes(runtime.passwords),
        key_routes.list_keys,
        key_routes.create_key,
        key_routes.show_key,
        key_routes.revoke_key,
    ]


class RoomGuards(Guards[Caller]):
    """The rooms' guards in their order."""

    def __init__(self, runtime: Runtime) -> None:
        self._db = runtime.db
        self._limiter = runtime.limiter
        self._last_used = runtime.last_used
        self._keys = KeyGuard(runtime.db, runtime.clock)
        self._sessions = SessionGuard(
            runtime.db, runtime.clock, secure=runtime.settings.base_url.startswith("https://")
        )
        self._log = runtime.log

    async def by_key(self, headers: Headers, client: str, access: Access, answer_headers: HeaderList) -> Caller:
        bearer = await self._keys.identify(headers.authorization or "")
        if not allowed(client, bearer.ip_allowlist):
            answer_headers += headers_of(await self._limiter.peek(bearer.key_id), self._limiter.rates)
            raise AddressNotAllowed(f"The address {client} is not in this key's allowlist.")
        self._last_used.note(bearer)
        await self._check_rates(bearer, access, answer_headers)
        if not isinstance(access, Keyed):
            raise SessionRequired("This is done signed in, in the web app; no API key may do it.")
        check_scope(bearer, access.scope)
        return caller_of(bearer)

    async def by_session(self, token: str, answer_headers: HeaderList) -> Caller | None:
        return await self._sessions.identify(token, answer_headers)

    def once(self, who: Caller | None, method: str, path: str, idempotency_key: str | None) -> Once:
        if idempotency_key is None or who is None:
            return OncePerKey(self._db, None)
        return OncePerKey(self._db, Write(who.account.id, method, path, idempotency_key))

    async def _check_rates(self, bearer: Bearer, access: Access, answer_headers: HeaderList) -> None:
        is_post = isinstance(access, Keyed) and access.counts_as_post
        rates = self._limiter.rates
        verdict = await self._limiter.attempt(bearer.key_id, is_post=is_post)
        answer_headers += headers_of(verdict, rates)
        if verdict.abused:
            reason = f"{rates.abuse_refusals:,} refused requests within {rates.abuse_window // 1000:,} seconds."
            await self._db.transact(keys.revoke_key, bearer.key_id, RevokedBy.AUTO, reason)
            self._log.event("key revoked for abuse", key_id=bearer.key_id)
        check_admitted(verdict, rates)


def create_app(runtime: Runtime) -> Litestar:
    """The ASGI application over what `runtime` holds open."""
    api = api_routes(runtime)
    routes: list[Route[Caller]] = [*api, *site_routes(runtime.db, runtime.limiter, describe(api, runtime.settings))]
    pipeline = Pipeline(RoomGuards(runtime), runtime.db, runtime.settings, runtime.clock, runtime.log)
    return Litestar(
        _handlers(pipeline, routes),
        openapi_config=None,
        logging_config=None,
        exception_handlers={HTTPException: _Outside(runtime)},
    )


def _handlers(pipeline: Pipeline[Caller], routes: list[Route[Caller]]) -> list[ASGIRouteHandler]:
    by_path: defaultdict[str, dict[str, Route[Caller]]] = defaultdict(dict)
    for route in routes:
        by_path[route.path][route.method] = route
    return [
        asgi(PLACEHOLDER.sub(_typed, path), copy_scope=False)(pipeline.endpoint(methods))
        for path, methods in by_path.items()
    ]


def _typed(placeholder: re.Match[str]) -> str:
    return f"{{{placeholder[1]}:{'path' if placeholder[1] == 'file' else 'str'}}}"


class _Outside:
    """What no route takes: a JSON 404 under /api, a page elsewhere; a Host header that is none is a 400."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __call__(self, request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
        path, request_id = request.scope["path"], new_request_id()
        in_api = path == "/api" or path.startswith("/api/")
        answer = self._answer(path, error, in_api=in_api)
        self._runtime.log.request(request_id, request.method, path, answer.status, 0, "")
        headers = [
            (b"x-request-id", request_id.encode()),
            *([API_VERSION] if in_api else []),
            *answer.headers,
        ]
        return Response(
            b"" if request.method == "HEAD" else answer.body,
            status_code=answer.status,
            media_type=answer.content_type.decode(),
            headers={name.decode(): value.decode() for name, value in headers},
        )

    def _answer(self, path: str, error: HTTPException, *, in_api: bool) -> Answer:
        if error.status_code == 400:
            return answer_to(Invalid([Fault("header.Host", Code.INVALID_FORMAT, "This is not a host name.")]))
        if in_api:
            return answer_to(NotFound(f"There is no {path[:200]} here; see /docs."))
        return page(
            "error.html", code=404, status=404, heading="Not found", message="There is nothing at this address."
        )
