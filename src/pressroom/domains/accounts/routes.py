"""The routes of sign-up, sign-in and the caller's account."""

from functools import partial
from typing import Final

from msgspec import UNSET

from pressroom.db import ConstraintViolated
from pressroom.domains.accounts import actions
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import lock_wholly
from pressroom.domains.accounts.reserved_usernames import check_username
from pressroom.domains.accounts.schemas import AccountOut, EditProfile, account_shape
from pressroom.errors import (
    Code,
    Conflict,
    FieldError,
    Invalid,
)
from pressroom.web.access import Keyed, SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Account", "Sign-up, sign-in, and the account of a key or session.")
routes: Final = Routes[Caller](TAG)

_NAME_TAKEN = Conflict("The user name mira_press is taken.")


@routes.get("/api/auth/me", Keyed(), summary="Who am I", gives=AccountOut)
async def show_me(request: Request[Caller]) -> Response:
    """The account that the key is bound to, or that is signed in. A cheap way to try a key."""
    return json_response(account_shape(request.caller.account, request.settings.base_url))


@routes.patch(
    "/api/auth/me",
    SessionOnly(),
    summary="Edit the profile",
    gives=AccountOut,
    fails=(Invalid([FieldError("bio", Code.TOO_LONG, "At most 500 characters; this has 612.")]), _NAME_TAKEN),
)
async def edit_me(request: Request[Caller], body: EditProfile) -> Response:
    """Changes the fields that are given, and no others."""
    return await save_profile(request, body)


async def save_profile(request: Request[Caller], body: EditProfile) -> Response:
    """Changes the caller's profile, once. Raises Invalid for a reserved user name, and Conflict."""
    base_url = request.settings.base_url
    if body.username is not UNSET:
        check_username(body.username, request.settings.reserved_usernames, own=request.caller.account.username)
    try:
        return await request.once.locking(partial(lock_wholly, account_id=request.caller.account.id))(
            actions.edit_profile, lambda account: account_shape(account, base_url), request.caller, body.profile()
        )
    except ConstraintViolated:
        raise Conflict(f"The user name {body.username} was taken at this very moment.") from None
