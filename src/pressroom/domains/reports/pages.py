"""The pages of reports, of decisions on your own content, and of admins who decide (docs/moderation.md)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.models import MediaEntryType, ProcessingStatus, Variant
from pressroom.domains.media.queries import FIND_ANY
from pressroom.domains.media.serving import serve_blob
from pressroom.domains.moderation.routes import admin_of
from pressroom.domains.reports import actions
from pressroom.domains.reports.models import LONGEST_REASON, DecisionKind, Subject, SubjectType, choices_of
from pressroom.domains.reports.queries import list_of_owner
from pressroom.domains.reports.routes import read_cases, state_of
from pressroom.domains.reports.schemas import (
    CreateReport,
    DecideCase,
    case_shape,
    decision_shape,
    material_of,
    opened_case_shape,
    report_shape,
)
from pressroom.domains.site_texts.actions import read_texts
from pressroom.domains.site_texts.models import TextName
from pressroom.errors import NotFound
from pressroom.web.access import AdminPage, Page
from pressroom.web.page_forms import FormState
from pressroom.web.paging import is_id, read_paged
from pressroom.web.query import parse_filled
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


async def show_report(request: Request[Caller], form: FormState) -> Response:
    """Renders the form to report a post, comment or account, named in the query or in the form as it was sent.

    Raises NotFound, but for a form that was refused: its page shows the errors.
    """
    given = parse_filled(request.query)
    subject: Subject | None = None
    try:
        subject = await _get_subject(request, form.value("type", given.get("type")), form.value("id", given.get("id")))
    except NotFound:
        if not form.was_refused:
            raise
    texts = await request.db.read(read_texts)
    values = {
        "subject": subject,
        "back": _place_of(subject) if subject else "/",
        "longest": LONGEST_REASON,
        "rules": texts.get(TextName.RULES),
    }
    return await render(request, "reports/report.html", values, form=form)


@routes.form("/report", Page(), show=show_report, summary="Report something")
async def make_report(request: Request[Caller], body: CreateReport) -> Response:
    """Reports it like POST /api/reports, and leads back to it."""
    new = body.new_report()
    await request.once(actions.report, lambda made: report_shape(made, new), request.caller, new)
    try:
        subject = await request.db.read(actions.get_subject, request.caller, new.type, new.id)
    except NotFound:  # gone since
        return redirect("/", done="reported")
    return redirect(_place_of(subject), done="reported")


@routes.get("/decisions", Page(), summary="What admins decided about what is yours")
async def decisions(request: Request[Caller]) -> Response:
    """The decisions about the reader's posts and comments, newest first."""
    shown, cursor = await read_paged(request, lambda case: case.id, list_of_owner, request.caller.account.id)
    values = {"decisions": [decision_shape(case) for case in shown], "next_page": cursor and f"?cursor={cursor}"}
    return await render(request, "reports/decisions.html", values)


async def _get_subject(request: Request[Caller], subject_type: str, subject_id: str) -> Subject:
    if subject_type not in tuple(SubjectType):
        raise NotFound("Posts, comments and accounts can be reported.")
    if not is_id(subject_id):
        raise NotFound("There is nothing with this id.")
    return await request.db.read(actions.get_subject, request.caller, SubjectType(subject_type), subject_id)


def _place_of(subject: Subject) -> str:
    """Returns the path of the page on which it stands."""
    if subject.type is SubjectType.ACCOUNT:
        return f"/@{subject.username}"
    if subject.type is SubjectType.COMMENT:
        return f"/post/{subject.material.post_id}"
    return f"/post/{subject.id}"


@routes.get("/admin/reports", AdminPage(moderators=True), summary="Reports")
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


@routes.page("/admin/reports/{id}", AdminPage(moderators=True), summary="Something that was reported")
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


@routes.submit(
    "/admin/reports/{id}", AdminPage(recent=True, moderators=True), again=show_case, summary="Decide about a report"
)
async def decide_by_form(request: Request[Caller], body: DecideCase) -> Response:
    """Decides like POST /api/admin/reports/{id}/decision."""
    await request.once(actions.decide, case_shape, admin_of(request), request.parameters["id"], body.ruling())
    return redirect("/admin/reports", done="report-decided")


@routes.get("/admin/reports/{id}/files/{mediaId}", AdminPage(moderators=True), summary="A picture of a reported post")
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
