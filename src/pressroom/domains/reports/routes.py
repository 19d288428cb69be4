"""The routes of reports, of decisions on your own content, and of admins who decide (docs/moderation.md)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.moderation.routes import TAG, admin_of
from pressroom.domains.reports import actions
from pressroom.domains.reports.models import Case
from pressroom.domains.reports.queries import list_decided, list_of_owner, list_open
from pressroom.domains.reports.schemas import (
    CaseList,
    CaseOut,
    CreateReport,
    DecideCase,
    DecisionList,
    DecisionOut,
    OpenedCaseOut,
    ReportOut,
    case_shape,
    decision_shape,
    opened_case_shape,
    report_shape,
)
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import AdminOnly, SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.query import parse_query
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import QueryParameter, Routes

routes: Final = Routes[Caller](TAG)


@routes.post(
    "/api/reports",
    SessionOnly(),
    summary="Report a post, a comment or an account",
    gives=ReportOut,
    status=202,
    fails=(
        Invalid([FieldError("reason", Code.TOO_LONG, "At most 500 characters; this has 612.")]),
        NotFound("There is no such post."),
        Unprocessable([FieldError("id", Code.NOT_ALLOWED, "This is your own: edit or delete it.")]),
    ),
)
async def create_report(request: Request[Caller], body: CreateReport) -> Response:
    """Tells the admins of something that the account may see. It is stored as it is now. While it waits for a
    decision, reporting it again answers with the first report."""
    new = body.new_report()
    return await request.once(actions.report, lambda made: report_shape(made, new), request.caller, new)


@routes.get(
    "/api/decisions",
    SessionOnly(),
    summary="List decisions about what is yours",
    gives=DecisionList,
    paged=True,
    response_example=DecisionList([DecisionOut.example()], None),
)
async def list_decisions(request: Request[Caller]) -> Response:
    """Decisions of admins about the account's posts and comments, and about the account, with the reason. Dismissed
    reports are not among them. Stored for a year."""
    shown, cursor = await read_paged(request, lambda case: case.id, list_of_owner, request.caller.account.id)
    return json_response(DecisionList([decision_shape(case) for case in shown], cursor))


STATES: Final = ("open", "decided")

_NO_CASE: Final = NotFound("There is no such report.")


@routes.get(
    "/api/admin/reports",
    AdminOnly(moderators=True),
    summary="List what was reported",
    gives=CaseList,
    fails=(Invalid([FieldError("state", Code.INVALID_CHOICE, "Must be open or decided.")]),),
    paged=True,
    query=(
        QueryParameter(
            "state",
            "open: what waits, the oldest first; decided: the newest first.",
            {"type": "string", "enum": list(STATES), "default": "open"},
        ),
    ),
    response_example=CaseList([CaseOut.example()], None),
)
async def list_reports(request: Request[Caller]) -> Response:
    """Reported posts, comments and accounts. Reports of one subject are one entry while it waits."""
    shown, cursor = await read_cases(request, state_of(request))
    return json_response(CaseList([case_shape(case) for case in shown], cursor))


@routes.get(
    "/api/admin/reports/{id}",
    AdminOnly(moderators=True),
    summary="Show what was reported",
    gives=OpenedCaseOut,
    fails=(_NO_CASE,),
)
async def show_report(request: Request[Caller]) -> Response:
    """A reported subject as it was then, with the first fifty reports."""
    admin_id = request.caller.account.id
    case, reports = await request.db.read(actions.open_case, request.parameters["id"], admin_id)
    return json_response(opened_case_shape(case, reports))


@routes.post(
    "/api/admin/reports/{id}/decision",
    AdminOnly(recent=True, moderators=True),
    summary="Decide about what was reported",
    gives=CaseOut,
    fails=(
        Invalid([FieldError("reason", Code.TOO_LONG, "At most 500 characters; this has 612.")]),
        _NO_CASE,
        Unprocessable([FieldError("decision", Code.NOT_ALLOWED, "This was decided already: deleted.")]),
    ),
)
async def decide_report(request: Request[Caller], body: DecideCase) -> Response:
    """Hides, deletes, suspends or dismisses. The owner is told what was decided and why, unless it was dismissed."""
    return await request.once(actions.decide, case_shape, admin_of(request), request.parameters["id"], body.ruling())


def state_of(request: Request[Caller]) -> str:
    """Returns which cases the query asks for: `open` or `decided`. Raises Invalid."""
    state = parse_query(request.query).get("state", STATES[0])
    if state not in STATES:
        raise Invalid([FieldError("state", Code.INVALID_CHOICE, "Must be open or decided.")])
    return state


async def read_cases(request: Request[Caller], state: str) -> tuple[list[Case], str | None]:
    """Returns the page of cases that the query asks for, and the cursor of the next one. Raises Invalid."""
    if state == "open":
        return await read_paged(request, lambda case: case.id, list_open, oldest_first=True)
    return await read_paged(request, lambda case: case.id, list_decided)
