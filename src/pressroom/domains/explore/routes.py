"""Explore and the exclusions of admins over HTTP (docs/web-app.md#explore, docs/moderation.md#explore)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import MessageOut
from pressroom.domains.explore import actions
from pressroom.domains.explore.actions import Explored
from pressroom.domains.explore.queries import list_exclusions
from pressroom.domains.explore.schemas import (
    ExcludeSubject,
    ExclusionList,
    ExclusionOut,
    ExploreOut,
    exclusion_shape,
    person_shape,
    tag_shape,
)
from pressroom.domains.hubs.schemas import hub_shape
from pressroom.domains.media.urls import MediaAddresses, addresses_of
from pressroom.domains.moderation.routes import TAG as MODERATION
from pressroom.domains.moderation.routes import admin_of
from pressroom.domains.posts.schemas import post_shape
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import AdminOnly, SessionOnly
from pressroom.web.paging import read_page, read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG: Final = Tag("Discovery", "Suggestions to read, follow and join.")
routes: Final = Routes[Caller](TAG)

EXCLUSIONS: Final = "/api/admin/explore"
_NO_EXCLUSION: Final = NotFound("There is no such exclusion.")


def explore_shape(found: Explored, addresses: MediaAddresses, base_url: str, now: int) -> ExploreOut:
    """Returns explore as the reader that it was read for sees it."""
    return ExploreOut(
        tags=[tag_shape(tag) for tag in found.tags],
        posts=[post_shape(view, addresses, now) for view in found.posts],
        people=[person_shape(person, base_url) for person in found.people],
        hubs=[hub_shape(hub, base_url) for hub in found.hubs],
    )


@routes.get("/api/explore", SessionOnly(), summary="Explore", gives=ExploreOut)
async def show_explore(request: Request[Caller]) -> Response:
    """Suggests hashtags, posts, people and hubs. Picks are made every five minutes; those that the account may not see
    now are left out, and so are accounts that it mutes."""
    found = await request.db.read(actions.open_explore, request.caller.account.id)
    addresses, now = addresses_of(request, lasting=True), request.clock.now()
    return json_response(explore_shape(found, addresses, request.settings.base_url, now))


@routes.get(
    EXCLUSIONS,
    AdminOnly(moderators=True),
    summary="List exclusions from explore",
    gives=ExclusionList,
    tag=MODERATION,
    paged=True,
    response_example=ExclusionList([ExclusionOut.example()], None),
)
async def list_explore_exclusions(request: Request[Caller]) -> Response:
    """Hashtags, posts, accounts and hubs that admins took out of explore, newest first."""
    shown, cursor = await read_exclusions(request)
    return json_response(ExclusionList(shown, cursor))


@routes.post(
    EXCLUSIONS,
    AdminOnly(recent=True, moderators=True),
    summary="Exclude from explore",
    gives=ExclusionOut,
    location=EXCLUSIONS,
    tag=MODERATION,
    fails=(
        Invalid([FieldError("reason", Code.TOO_LONG, "At most 500 characters; this has 612.")]),
        Conflict("This tag is out of explore already."),
        Unprocessable([FieldError("subject", Code.INVALID_CHOICE, "There is no such post.")]),
    ),
)
async def exclude_from_explore(request: Request[Caller], body: ExcludeSubject) -> Response:
    """From the next read on explore shows it to nobody; with an account, none of its posts either. The owner of a post
    or account reads the reason in the log."""
    return await request.once(actions.exclude, exclusion_shape, admin_of(request), body.new_exclusion())


@routes.delete(
    f"{EXCLUSIONS}/{{id}}",
    AdminOnly(recent=True, moderators=True),
    summary="Include in explore again",
    gives=MessageOut,
    tag=MODERATION,
    fails=(_NO_EXCLUSION,),
    response_example=MessageOut("pills may be in explore again"),
)
async def include_in_explore(request: Request[Caller]) -> Response:
    """It is shown again if it is a pick."""
    return await request.once(
        actions.include,
        lambda ended: MessageOut(f"{ended.name} may be in explore again"),
        admin_of(request),
        request.parameters["id"],
    )


async def read_exclusions(request: Request[Caller]) -> tuple[list[ExclusionOut], str | None]:
    """Returns the page of exclusions that the query asks for, and the cursor of the next one. Raises Invalid."""
    page = read_page(request.query if request.is_safe else "")
    shown, cursor = await read_paged(request, lambda each: each.id, list_exclusions, page=page)
    return [exclusion_shape(each) for each in shown], cursor
