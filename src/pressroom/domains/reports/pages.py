"""The pages to report something, and to read what was decided about one's own (docs/moderation.md)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.reports import actions
from pressroom.domains.reports.models import LONGEST_REASON, Subject, SubjectType
from pressroom.domains.reports.queries import list_of_owner
from pressroom.domains.reports.schemas import CreateReport, decision_shape, report_shape
from pressroom.errors import NotFound
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState
from pressroom.web.paging import is_id, read_paged
from pressroom.web.query import parse_filled
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


async def show_report(request: Request[Caller], form: FormState) -> Response:
    """Renders the form to report what the query, or the form as it was sent, names.

    Raises NotFound, but for a form that was refused: its page says what is wrong with what it names.
    """
    given = parse_filled(request.query)
    subject: Subject | None = None
    try:
        subject = await _find_subject(request, form.value("type", given.get("type")), form.value("id", given.get("id")))
    except NotFound:
        if not form.was_refused:
            raise
    values = {"subject": subject, "back": _place_of(subject) if subject else "/", "longest": LONGEST_REASON}
    return await render(request, "reports/report.html", values, form=form)


@routes.form("/report", Page(), show=show_report, summary="Report something")
async def make_report(request: Request[Caller], body: CreateReport) -> Response:
    """Reports it like POST /api/reports, and leads back to it."""
    new = body.new_report()
    await request.once(actions.report, lambda made: report_shape(made, new), 202, request.caller, new)
    try:
        subject = await request.db.read(actions.check_subject, request.caller, new.type, new.id)
    except NotFound:  # gone since
        return redirect("/", done="reported")
    return redirect(_place_of(subject), done="reported")


@routes.get("/decisions", Page(), summary="What admins decided about what is yours")
async def decisions(request: Request[Caller]) -> Response:
    """The decisions about the reader's posts and comments, newest first."""
    shown, cursor = await read_paged(request, lambda case: case.id, list_of_owner, request.caller.account.id)
    values = {"decisions": [decision_shape(case) for case in shown], "next_page": cursor and f"?cursor={cursor}"}
    return await render(request, "reports/decisions.html", values)


async def _find_subject(request: Request[Caller], subject_type: str, subject_id: str) -> Subject:
    if subject_type not in tuple(SubjectType):
        raise NotFound("Posts, comments and accounts can be reported.")
    if not is_id(subject_id):
        raise NotFound("There is nothing with this id.")
    return await request.db.read(actions.check_subject, request.caller, SubjectType(subject_type), subject_id)


def _place_of(subject: Subject) -> str:
    """Returns the path of the page on which it stands."""
    if subject.type is SubjectType.ACCOUNT:
        return f"/@{subject.username}"
    if subject.type is SubjectType.COMMENT:
        return f"/post/{subject.material.post_id}"
    return f"/post/{subject.id}"
