"""The map: every room's routes, and the order of what stands before them.

A keyed request:   key 401 → address 403 → rate limits 429 → session-only route 403 → scope 403
                   → body 400 → idempotent replay → state 404 409 422 → quota 429 → effect
A session request: session 401 → same origin 403 → rate limit 429 → body 400 → idempotent replay
                   → state 404 409 422 → quota 429 → effect
"""

from pressroom.domains.accounts.guard import SessionGuard
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.passwords import Passwords
from pressroom.domains.accounts.routes import account_routes
from pressroom.domains.clips import routes as clip_routes
from pressroom.domains.comments import routes as comment_routes
from pressroom.domains.follows.routes import FOLLOW_ROUTES
from pressroom.domains.hubs import routes as hub_routes
from pressroom.domains.idempotency.actions import WriteIdentity
from pressroom.domains.idempotency.guard import OncePerKey
from pressroom.domains.keys import actions as keys
from pressroom.domains.keys import routes as key_routes
from pressroom.domains.keys.guard import KeyGuard, caller_of, check_scope
from pressroom.domains.keys.models import Bearer, RevokedBy
from pressroom.domains.limits.guard import account_subject, check_admitted, headers_of, session_rates_of
from pressroom.domains.media.serving import serving_routes
from pressroom.domains.notifications import routes as notification_routes
from pressroom.domains.posts.routes import POST_ROUTES
from pressroom.domains.reading.files import may_see_file
from pressroom.domains.reading.pages import reading_routes
from pressroom.domains.webhooks.payloads import EVENT_SHAPES
from pressroom.domains.webhooks.routes import WEBHOOK_ROUTES
from pressroom.errors import AddressNotAllowed, SessionRequired
from pressroom.runtime import Runtime
from pressroom.web.access import Access, Identified, Keyed
from pressroom.web.asgi import HeaderList
from pressroom.web.client_address import allowed
from pressroom.web.openapi import describe
from pressroom.web.pipeline import Guards, Pipeline
from pressroom.web.routing import Headers, Once, Route, Services
from pressroom.web.site import site_routes
from pressroom.web.slices import Slices


def api_routes(passwords: Passwords) -> list[Route[Caller]]:
    """Every operation of the API, in the order of the reference."""
    return [
        *POST_ROUTES,
        comment_routes.create_comment,
        comment_routes.list_comments,
        clip_routes.publish_clip,
        clip_routes.show_clip,
        *account_routes(passwords),
        key_routes.list_keys,
        key_routes.create_key,
        key_routes.show_key,
        key_routes.revoke_key,
        *WEBHOOK_ROUTES,
        *FOLLOW_ROUTES,
        hub_routes.list_hubs,
        hub_routes.create_hub,
        hub_routes.show_hub,
        hub_routes.join_hub,
        hub_routes.leave_hub,
        notification_routes.list_notifications,
    ]


class PackageGuards(Guards[Caller]):
    """The rooms' guards in their order."""

    def __init__(self, runtime: Runtime) -> None:
        self._db = runtime.db
        self._limiter = runtime.limiter
        self._last_used = runtime.last_used
        self._keys = KeyGuard(runtime.db, runtime.clock)
        self._sessions = SessionGuard(
            runtime.db, runtime.clock, secure=runtime.settings.base_url.startswith("https://")
        )
        self._session_rates = session_rates_of(runtime.settings)
        self._log = runtime.log

    async def by_key(
        self, headers: Headers, client: str, access: Access, response_headers: HeaderList, identified: Identified
    ) -> Caller:
        bearer = await self._keys.identify(headers.authorization or "")
        identified.account_id, identified.key_id = bearer.id, bearer.key_id
        if not allowed(client, bearer.ip_allowlist):
            response_headers += headers_of(await self._limiter.peek(bearer.key_id), self._limiter.rates)
            raise AddressNotAllowed(f"The address {client} is not in this key's allowlist.")
        await self._check_rates(bearer, access, response_headers)
        if not isinstance(access, Keyed):
            raise SessionRequired("Only a session may do this: sign in (POST /api/auth/login). No API key may.")
        check_scope(bearer, access.scope)
        return caller_of(bearer)

    async def by_session(self, token: str, response_headers: HeaderList, identified: Identified) -> Caller | None:
        who = await self._sessions.identify(token, response_headers)
        identified.account_id = who.account.id if who else None
        return who

    async def check_writes(self, who: Caller) -> None:
        subject, rates = account_subject(who.account.id), self._session_rates
        check_admitted(await self._limiter.attempt(subject, is_post=False, rates=rates), rates)

    def once(self, who: Caller | None, method: str, path: str, idempotency_key: str | None, body_hash: str) -> Once:
        if idempotency_key is None or who is None:
            return OncePerKey(self._db, None)
        return OncePerKey(self._db, WriteIdentity(who.account.id, method, path, idempotency_key), body_hash)

    async def _check_rates(self, bearer: Bearer, access: Access, response_headers: HeaderList) -> None:
        is_post = isinstance(access, Keyed) and access.counts_as_post
        rates = self._limiter.rates
        verdict = await self._limiter.attempt(bearer.key_id, is_post=is_post)
        response_headers += headers_of(verdict, rates)
        self._last_used.note(bearer, verdict.now)
        if verdict.abused:
            reason = f"{rates.abuse_refusals:,} refused requests within {rates.abuse_window // 1000:,} seconds."
            await self._db.transact(keys.revoke_key, bearer.key_id, RevokedBy.AUTO, reason)
            self._log.warning("key revoked for abuse", key_id=bearer.key_id)
        check_admitted(verdict, rates)


def create_app(runtime: Runtime) -> Pipeline[Caller]:
    """The ASGI application over what `runtime` holds open."""
    api = api_routes(runtime.passwords)
    site: list[Route[Caller]] = site_routes(runtime.db, runtime.limiter, describe(api, EVENT_SHAPES, runtime.settings))
    pages = [*reading_routes(runtime.views), *serving_routes(may_see_file)]
    return Pipeline(
        [*api, *pages, *site],
        PackageGuards(runtime),
        runtime.db,
        Services(runtime.outbound, runtime.blobs, runtime.cards.wait_for, runtime.media_secret, Slices()),
        runtime.settings,
        runtime.clock,
        runtime.log,
    )
