"""The routes that manage keys, for their signed-in owner alone."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.keys import actions, queries
from pressroom.domains.keys.models import Usage
from pressroom.domains.keys.schemas import (
    REVOKED_KEY_EXAMPLE,
    ApiKeyList,
    ApiKeyOut,
    CreatedKeyOut,
    CreateKey,
    EditKey,
    created_key_shape,
    key_shape,
)
from pressroom.domains.keys.usage_schemas import KeyUsageOut, is_active, usage_shape
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.limits.models import own_limits
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag
from pressroom.web.services import Left

TAG = Tag("API keys", "What programs act with. Only the signed-in owner manages them; no key can make or revoke keys.")
routes: Final = Routes[Caller](TAG)


_NO_KEY = NotFound("There is no such key.")
_BAD_KEY = Invalid(
    [
        FieldError("scopes[1]", Code.DUPLICATE, "posts:write is given twice."),
        FieldError("expiry", Code.OUT_OF_RANGE, "The expiry must lie in the future."),
    ]
)


@routes.get(
    "/api/auth/api-keys",
    SessionOnly(),
    summary="List API keys",
    gives=ApiKeyList,
    paged=True,
    response_example=ApiKeyList([ApiKeyOut.example()], None),
)
async def list_keys(request: Request[Caller]) -> Response:
    """All keys of the account, revoked and expired ones too, newest first."""
    shown, cursor = await read_paged(request, lambda key: key.id, queries.list_keys, request.caller.account.id)
    return json_response(ApiKeyList([key_shape(key, request.clock.now()) for key in shown], cursor))


@routes.post(
    "/api/auth/api-keys",
    SessionOnly(recent=True),
    summary="Create an API key",
    gives=CreatedKeyOut,
    location="/api/auth/api-keys/{made}",
    fails=(_BAD_KEY, Conflict("An account has at most 5 active keys; revoke one to create another.")),
)
async def create_key(request: Request[Caller], body: CreateKey) -> Response:
    """Makes a key bound to the account. Its plaintext is in this answer and nowhere else, ever again: a replay has null
    in its place. An account has at most 5 active keys; the sixth is a 409."""
    now = request.clock.now()
    return await request.once.hiding("key")(
        actions.create_key,
        lambda made: created_key_shape(*made, now),
        request.caller.account.id,
        body.new_key(),
        request.caller.source,
    )


@routes.get(
    "/api/auth/api-keys/{keyId}",
    SessionOnly(),
    summary="Show an API key",
    gives=ApiKeyOut,
    fails=(_NO_KEY,),
)
async def show_key(request: Request[Caller]) -> Response:
    """One key of the account, without its plaintext."""
    key = await request.db.read(actions.get_key, request.caller.account.id, request.parameters["keyId"])
    return json_response(key_shape(key, request.clock.now()))


@routes.get(
    "/api/auth/api-keys/{keyId}/usage",
    SessionOnly(),
    summary="Show how much an API key is used",
    gives=KeyUsageOut,
    fails=(_NO_KEY,),
)
async def show_usage(request: Request[Caller]) -> Response:
    """The key's requests, by hour and by day; the rest of its limits, which this does not charge;
    and its last 50 refusals."""
    return json_response(await read_usage(request))


async def read_usage(request: Request[Caller]) -> KeyUsageOut:
    """Returns the usage of the key in the request's path. Raises NotFound, Unavailable when the limiter is away."""
    now = request.clock.now()
    usage = await request.db.read(actions.read_usage, request.caller.account.id, request.parameters["keyId"])
    rates = await look(request, usage) if is_active(usage, now) else None
    return usage_shape(usage, rates, quota_of(request), now)


async def look(request: Request[Caller], usage: Usage) -> tuple[Left, Left]:
    """Returns the remaining requests of the key's minute and 24 hours. Raises Unavailable when the limiter is away."""
    limiter = request.services.limiter
    own = own_limits(request.caller.account.limits, request.clock.now())
    return await limiter.look(usage.key.id, own.rates(limiter.rates))


def quota_of(request: Request[Caller]) -> int:
    """Returns the posts, clips and bounces by key that the caller's account may publish in a UTC day."""
    own = own_limits(request.caller.account.limits, request.clock.now())
    return own.allowance(allowance_of(request.settings)).content_by_key


@routes.patch(
    "/api/auth/api-keys/{keyId}",
    SessionOnly(),
    summary="Change the note on an API key",
    gives=ApiKeyOut,
    fails=(_NO_KEY,),
)
async def edit_key(request: Request[Caller], body: EditKey) -> Response:
    """Changes the owner's note on the key, also of one that has ended. Nothing else of a key ever changes."""
    now = request.clock.now()
    return await request.once(
        actions.set_note,
        lambda key: key_shape(key, now),
        request.caller.account.id,
        request.parameters["keyId"],
        body.note,
    )


@routes.delete(
    "/api/auth/api-keys/{keyId}",
    SessionOnly(),
    summary="Revoke an API key",
    gives=ApiKeyOut,
    fails=(_NO_KEY,),
    response_example=REVOKED_KEY_EXAMPLE,
)
async def revoke_key(request: Request[Caller]) -> Response:
    """Takes the key back for good; from the next request on it is refused. Revoking a revoked key changes nothing."""
    now = request.clock.now()
    return await request.once(
        actions.revoke_own_key,
        lambda key: key_shape(key, now),
        request.caller.account.id,
        request.parameters["keyId"],
        request.caller.source,
    )
