"""Blocks, mutes and word filters over HTTP."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import AuthorOut
from pressroom.domains.follows import queries as relations
from pressroom.domains.follows.schemas import person_shape
from pressroom.domains.privacy import actions, queries
from pressroom.domains.privacy.models import WordFilter
from pressroom.domains.privacy.schemas import (
    BlockedOut,
    FiltersOut,
    MutedOut,
    PeopleOut,
    SetFilters,
    filters_shape,
)
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Privacy", "Accounts and words that the signed-in account does not want to meet.")
routes: Final = Routes[Caller](TAG)

_NOBODY: Final = NotFound("There is no account mira_press.")
_PEOPLE: Final = PeopleOut([AuthorOut.example()], None)
_FILTERS: Final = filters_shape([WordFilter("election", whole_word=True, timeline=True, notifications=False)])


@routes.get(
    "/api/blocks", SessionOnly(), summary="List blocked accounts", gives=PeopleOut, paged=True, response_example=_PEOPLE
)
async def list_blocked_accounts(request: Request[Caller]) -> Response:
    """The accounts that the account blocks, newest account first."""
    shown, cursor = await read_paged(
        request, lambda person: person.listed_as, relations.list_blocked, request.caller.account.id
    )
    return json_response(PeopleOut([person_shape(each, request.settings.base_url) for each in shown], cursor))


@routes.put(
    "/api/blocks/{username}",
    SessionOnly(),
    summary="Block an account",
    gives=BlockedOut,
    fails=(_NOBODY, Unprocessable([FieldError("username", Code.NOT_ALLOWED, "Nobody can block their own account.")])),
    response_example=BlockedOut(True),
)
async def block_account(request: Request[Caller]) -> Response:
    """From now on neither account reads, follows, mentions or finds the other, nor comments on, likes or bounces its
    posts: what belongs to the other one is a 404. Follows between the two end. Signed out, PUBLIC posts stay visible.
    The other account is not told. Blocking once more changes nothing."""
    return await request.once(actions.block, BlockedOut, request.caller, request.parameters["username"])


@routes.delete(
    "/api/blocks/{username}",
    SessionOnly(),
    summary="Unblock an account",
    gives=BlockedOut,
    fails=(_NOBODY,),
    response_example=BlockedOut(False),
)
async def unblock_account(request: Request[Caller]) -> Response:
    """Takes a block back; follows that it ended do not return. Without a block nothing changes."""
    return await request.once(actions.unblock, BlockedOut, request.caller, request.parameters["username"])


@routes.get(
    "/api/mutes", SessionOnly(), summary="List muted accounts", gives=PeopleOut, paged=True, response_example=_PEOPLE
)
async def list_muted_accounts(request: Request[Caller]) -> Response:
    """The accounts that the account mutes, newest account first."""
    shown, cursor = await read_paged(
        request, lambda person: person.listed_as, relations.list_muted, request.caller.account.id
    )
    return json_response(PeopleOut([person_shape(each, request.settings.base_url) for each in shown], cursor))


@routes.put(
    "/api/mutes/{username}",
    SessionOnly(),
    summary="Mute an account",
    gives=MutedOut,
    fails=(_NOBODY, Unprocessable([FieldError("username", Code.NOT_ALLOWED, "Nobody can mute their own account.")])),
    response_example=MutedOut(True),
)
async def mute_account(request: Request[Caller]) -> Response:
    """From now on the account is left out of the caller's timeline, notifications and search. It is not told, and
    follows stay. Muting once more changes nothing."""
    return await request.once(actions.mute, MutedOut, request.caller, request.parameters["username"])


@routes.delete(
    "/api/mutes/{username}",
    SessionOnly(),
    summary="Unmute an account",
    gives=MutedOut,
    fails=(_NOBODY,),
    response_example=MutedOut(False),
)
async def unmute_account(request: Request[Caller]) -> Response:
    """Takes a mute back. Without one nothing changes."""
    return await request.once(actions.unmute, MutedOut, request.caller, request.parameters["username"])


@routes.get("/api/filters", SessionOnly(), summary="List word filters", gives=FiltersOut, response_example=_FILTERS)
async def list_filters(request: Request[Caller]) -> Response:
    """The account's word filters, in its own order."""
    return json_response(filters_shape(await request.db.read(queries.list_filters, request.caller.account.id)))


@routes.put(
    "/api/filters",
    SessionOnly(),
    summary="Set word filters",
    gives=FiltersOut,
    fails=(Invalid([FieldError("filters[1].text", Code.DUPLICATE, "election is listed twice.")]),),
    response_example=_FILTERS,
)
async def set_filters(request: Request[Caller], body: SetFilters) -> Response:
    """Replaces all word filters. Posts of others that hold one of these words or phrases are left out of the account's
    timeline, or of its notifications."""
    return await request.once(
        actions.set_filters, filters_shape, request.caller, [each.word_filter() for each in body.filters]
    )
