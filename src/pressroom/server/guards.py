"""The guards of every request: who calls, how often, and once per idempotency key.

A keyed request:   key 401 → address 403 → rate limits 429 → session-only route 403 → scope 403
                   → body 400 → idempotent replay → state 404 409 422 → quota 429 → effect
A session request: session 401 → same origin 403 → admin 404 → rate limit 429 → password given recently 403 → body 400
                   → idempotent replay → state 404 409 422 → quota 429 → effect
"""

from collections.abc import Mapping, Sequence
from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import avatar_address
from pressroom.domains.audit.models import SERVICE, client_source
from pressroom.domains.idempotency.once import BodyHashes, OncePerKey, WriteIdentity
from pressroom.domains.keys import actions as keys
from pressroom.domains.keys.guard import KeyGuard, caller_of, check_scopes
from pressroom.domains.keys.models import Bearer, Refusal, RevokedBy
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.limits.guard import RateHeaders, Spent, account_subject, check_admitted, session_rates_of
from pressroom.domains.limits.models import Rates, own_limits
from pressroom.domains.limits.windows import abuse_reason
from pressroom.domains.shared_state.models import SecretName
from pressroom.domains.sign_in.confirmation import ask_password
from pressroom.domains.sign_in.guard import SessionGuard
from pressroom.errors import AddressNotAllowed, PasswordRequired, SessionRequired
from pressroom.server.runtime import Runtime
from pressroom.web.access import Access, AdminOnly, AdminPage, Guards, Keyed
from pressroom.web.client_address import allowed
from pressroom.web.idempotency import Once
from pressroom.web.request import Request, Viewer
from pressroom.web.response import Response

_REQUEST_ALONE: Final = Spent()


class PackageGuards(Guards[Caller]):
    """The guards of accounts, keys, limits and idempotency, in their order."""

    def __init__(self, runtime: Runtime) -> None:
        self._db = runtime.db
        self._clock = runtime.clock
        self._limiter = runtime.limiter
        self._last_used = runtime.last_used
        self._usage = runtime.usage
        self._keys = KeyGuard(runtime.db, runtime.clock)
        self._sessions = SessionGuard(
            runtime.db, runtime.clock, runtime.session_use, secure=runtime.settings.base_url.startswith("https://")
        )
        self._allowance = allowance_of(runtime.settings)
        self._rate_headers = RateHeaders(runtime.limiter.rates, self._allowance.content_by_key)
        self._session_rates = session_rates_of(runtime.settings)
        self._body_hashes = BodyHashes(runtime.state.secret(SecretName.BODY_HASHES).signing(runtime.clock.now()))
        self._log = runtime.log

    async def by_key(self, request: Request[Caller], access: Access) -> Caller:
        bearer = await self._keys.identify(request.headers.authorization or "")
        # Before the checks: the log names the key of a refused request too.
        request.account_id, request.key_id = bearer.id, bearer.key_id
        self._keys.check_active(bearer)
        if not allowed(request.client, bearer.ip_allowlist):
            spent = _spent_by(access)
            # Looked at and not charged: with a stolen key, a stranger must not use up the owner's windows.
            rates, headers = self._limits_of(bearer)
            verdict = await self._limiter.peek(bearer.key_id, is_post=spent.is_post, rates=rates)
            request.response_headers += headers.of(verdict, spent)
            raise AddressNotAllowed(f"The address {request.client} is not in this key's allowlist.")
        await self._check_rates(request, bearer, access)
        if not isinstance(access, Keyed):
            raise SessionRequired("Only a session may do this: sign in (POST /api/auth/login). No API key may.")
        check_scopes(bearer, access.scopes)
        return caller_of(bearer)

    async def by_session(self, request: Request[Caller], token: str) -> Caller | None:
        source = client_source(request.client, request.headers.user_agent)
        who = await self._sessions.identify(token, source, request.response_headers)
        request.account_id = who.account.id if who else None
        return who

    def viewer(self, who: Caller) -> Viewer:
        account = who.account
        avatar = avatar_address(account.id, account.avatar_token, "")
        return Viewer(
            account.username, avatar, account.display_name, is_admin=who.is_admin, is_moderator=who.is_moderator
        )

    def administers(self, who: Caller, access: AdminOnly | AdminPage) -> bool:
        return who.is_admin or (access.moderators and who.is_moderator)

    async def check_recent(
        self, request: Request[Caller], who: Caller, typed: Mapping[str, Sequence[str]] | None
    ) -> Response | None:
        if who.is_recent(self._clock.now()):
            return None
        # A program gets the error; a person is asked in place.
        if request.path.startswith("/api/"):
            raise PasswordRequired("Confirm your password first: POST /api/auth/confirm")
        return await ask_password(request, typed)

    async def check_writes(self, who: Caller) -> None:
        subject, rates = account_subject(who.account.id), self._session_rates
        if who.account.limits is not None:
            rates = own_limits(who.account.limits, self._clock.now()).rates(rates)
        check_admitted(await self._limiter.attempt(subject, is_post=False, rates=rates), rates)

    def note_response(self, request: Request[Caller], response: Response) -> None:
        key_id, now, status = request.key_id or "", request.started, response.status
        if not 400 <= status < 500:
            self._usage.note(key_id, now, status)
            return
        refusal = Refusal(now, request.method, request.route, status, response.label, request.client, request.id)
        self._usage.note_refusal(key_id, refusal)

    def once(self, request: Request[Caller], idempotency_key: str | None, body_hash: str, status: int) -> Once:
        if idempotency_key is None or request.who is None:
            return OncePerKey(self._db, status, None)
        identity = WriteIdentity(request.who.account.id, request.method, request.path, idempotency_key)
        return OncePerKey(self._db, status, identity, self._body_hashes.of(body_hash))

    async def _check_rates(self, request: Request[Caller], bearer: Bearer, access: Access) -> None:
        spent, (rates, headers) = _spent_by(access), self._limits_of(bearer)
        verdict = await self._limiter.attempt(bearer.key_id, is_post=spent.is_post, rates=rates)
        request.response_headers += headers.of(verdict, spent)
        self._last_used.note(bearer, verdict.now)
        # By the request that reaches the limit: the next one fails at the key itself, in every process.
        if verdict.abused:
            await self._db.transact(keys.revoke_key, bearer.key_id, RevokedBy.AUTO, abuse_reason(rates), SERVICE)
            self._log.warning("key revoked for abuse", key_id=bearer.key_id)
        check_admitted(verdict, rates)

    def _limits_of(self, bearer: Bearer) -> tuple[Rates, RateHeaders]:
        """Returns the rates of a key, and what makes their headers."""
        if bearer.limits is None:
            return self._limiter.rates, self._rate_headers
        own = own_limits(bearer.limits, self._clock.now())
        rates = own.rates(self._limiter.rates)
        return rates, RateHeaders(rates, own.allowance(self._allowance).content_by_key)


def _spent_by(access: Access) -> Spent:
    """Returns the limits that a request spends besides those of every request."""
    if not isinstance(access, Keyed) or not access.spends_content:
        return _REQUEST_ALONE
    return Spent(access.counts_as_post, access.spends_content)
