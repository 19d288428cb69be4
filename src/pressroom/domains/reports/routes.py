"""Reporting over HTTP, and what was decided about one's own."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.moderation.block_routes import TAG
from pressroom.domains.reports import actions
from pressroom.domains.reports.queries import list_of_owner
from pressroom.domains.reports.schemas import (
    CreateReport,
    DecisionList,
    DecisionOut,
    ReportOut,
    decision_shape,
    report_shape,
)
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

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
    return await request.once(actions.report, lambda made: report_shape(made, new), 202, request.caller, new)


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
