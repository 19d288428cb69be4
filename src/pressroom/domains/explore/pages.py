"""The page of explore (docs/web-app.md#explore), and the page of admins on it (docs/moderation.md#explore)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import MessageOut
from pressroom.domains.explore import actions
from pressroom.domains.explore.routes import read_exclusions
from pressroom.domains.explore.schemas import ExcludeSubject, exclusion_shape, person_shape, tag_shape
from pressroom.domains.hubs.schemas import hub_shape
from pressroom.domains.moderation.routes import admin_of
from pressroom.domains.reading.actions import PostPage
from pressroom.domains.reading.rendering import posts_values, read_for_page, reader_id, reading_page
from pressroom.settings.values import Signup
from pressroom.web.access import AdminPage, Page
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.query import parse_filled
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()

EXCLUSIONS: Final = "/admin/explore"


@routes.get("/explore", Page(), summary="Explore")
async def show_explore(request: Request[Caller]) -> Response:
    """Suggests hashtags, posts, people and hubs."""
    return await explore_page(request)


async def explore_page(request: Request[Caller]) -> Response:
    """Returns explore as the reader may see it; it is also the front page of visitors where that is set."""
    found = await read_for_page(request, actions.open_explore, reader_id(request))
    base_url = request.settings.base_url
    values: dict[str, object] = {
        "tags": [tag_shape(tag) for tag in found.tags],
        "people": [person_shape(person, base_url) for person in found.people],
        "hubs": [hub_shape(hub, base_url) for hub in found.hubs],
        "is_empty": found.is_empty,
        "may_sign_up": request.settings.signup is Signup.OPEN,
        "robots": "noindex" if request.who else None,
    }
    page = PostPage(found.posts, None)
    return await reading_page(request, "explore/explore.html", {**values, **posts_values(request, page)})


@routes.page(EXCLUSIONS, AdminPage(moderators=True), summary="Exclusions from explore")
async def show_exclusions(request: Request[Caller], form: FormState) -> Response:
    """Renders the exclusions, with the form for another one, filled in from the query."""
    shown, cursor = await read_exclusions(request)
    given = parse_filled(request.query)
    values: dict[str, object] = {
        "exclusions": shown,
        "next_page": cursor and f"?cursor={cursor}",
        "type": given.get("type", "post"),
        "subject": given.get("subject", ""),
    }
    return await render(request, "explore/exclusions.html", values, form=form)


@routes.submit(
    EXCLUSIONS, AdminPage(recent=True, moderators=True), again=show_exclusions, summary="Exclude from explore"
)
async def exclude_by_form(request: Request[Caller], body: ExcludeSubject) -> Response:
    """Takes it out like POST /api/admin/explore."""
    await request.once(actions.exclude, exclusion_shape, admin_of(request), body.new_exclusion())
    return redirect(EXCLUSIONS, done="explore-excluded")


@routes.submit(
    f"{EXCLUSIONS}/{{id}}/remove",
    AdminPage(recent=True, moderators=True),
    again=show_exclusions,
    summary="Include in explore again",
)
async def include_by_form(request: Request[Caller], body: NoFields) -> Response:
    """Puts it back like DELETE /api/admin/explore/{id}."""
    await request.once(
        actions.include, lambda ended: MessageOut(ended.name), admin_of(request), request.parameters["id"]
    )
    return redirect(EXCLUSIONS, done="explore-included")
