"""The pages on which admins read reports and decide (docs/moderation.md#decisions)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.models import MediaEntryType, ProcessingStatus, Variant
from pressroom.domains.media.queries import FIND_ANY
from pressroom.domains.media.serving import serve_blob
from pressroom.domains.moderation.block_routes import admin_of
from pressroom.domains.reports import actions
from pressroom.domains.reports.admin_routes import read_cases, state_of
from pressroom.domains.reports.models import DecisionKind, SubjectType, choices_of
from pressroom.domains.reports.schemas import DecideCase, case_shape, material_of, opened_case_shape
from pressroom.errors import NotFound
from pressroom.web.access import AdminPage
from pressroom.web.page_forms import FormState
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


@routes.get("/admin/reports", AdminPage(), summary="What was reported")
async def reports(request: Request[Caller]) -> Response:
    """The open cases, or with `?state=decided` the decided ones."""
    state = state_of(request)
    shown, cursor = await read_cases(request, state)
    values = {
        "cases": [case_shape(case) for case in shown],
        "state": state,
        "next_page": cursor and f"?state={state}&cursor={cursor}",
    }
    return await render(request, "reports/list.html", values)


async def show_case(request: Request[Caller], form: FormState) -> Response:
    """Renders a case with the form to decide about it."""
    case, found = await request.db.read(actions.open_case, request.parameters["id"], request.caller.account.id)
    own = case.owner_id == request.caller.account.id
    all_choices = choices_of(case.type, case.decision, is_bounce=actions.is_bounce(case))
    choices = frozenset[DecisionKind]() if own else all_choices
    owner_is_seen = await request.db.read(actions.may_see, request.caller, SubjectType.ACCOUNT, case.owner_id)
    post_is_seen = case.type == SubjectType.POST and await request.db.read(
        actions.may_see, request.caller, SubjectType.POST, case.subject_id
    )
    values = {
        "case": opened_case_shape(case, found),
        "owner_is_seen": owner_is_seen,
        "post_is_seen": post_is_seen,
        "own": own,
        "choices": [choice.value for choice in DecisionKind if choice in choices],
    }
    return await render(request, "reports/case.html", values, form=form)


@routes.get("/admin/reports/{id}", AdminPage(), summary="Something that was reported")
async def case_page(request: Request[Caller]) -> Response:
    """A case with its subject as it was then, and the form to decide."""
    return await show_case(request, FormState())


@routes.submit("/admin/reports/{id}", AdminPage(recent=True), again=show_case, summary="Decide about a report")
async def decide_by_form(request: Request[Caller], body: DecideCase) -> Response:
    """Decides like POST /api/admin/reports/{id}/decision."""
    await request.once(actions.decide, case_shape, 200, admin_of(request), request.parameters["id"], body.ruling())
    return redirect("/admin/reports", done="report-decided")


@routes.get("/admin/reports/{id}/files/{mediaId}", AdminPage(), summary="A picture of a reported post")
async def reported_file(request: Request[Caller]) -> Response:
    """The picture, or the first one of a video, that the reported post had: also after it was hidden or deleted."""
    case = await request.db.read(actions.get_case, request.parameters["id"])
    media_id = request.parameters["mediaId"]
    if media_id not in {each.id for each in material_of(case).media}:
        raise NotFound("There is no such file.")
    media = await request.db.one(FIND_ANY, media_id=media_id)
    if media is None or media.status != ProcessingStatus.READY:
        raise NotFound("There is no such file, or it is not ready yet.")
    variant = Variant.POSTER if media.type is MediaEntryType.VIDEO else Variant.MAIN
    return await serve_blob(request, media.blob(variant), media.content_type(variant).encode(), b"no-store")
