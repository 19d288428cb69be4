"""Wire shapes of the reports package (docs/moderation.md)."""

from collections.abc import Iterator
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.reports.models import (
    LONGEST_REASON,
    Case,
    DecisionKind,
    Material,
    NewReport,
    Report,
    Ruling,
    SubjectType,
)
from pressroom.errors import Code, FieldError
from pressroom.text import is_invisible
from pressroom.web.json_bodies import Body
from pressroom.web.wire import SHOWN, Id, NextCursor, Time

Reason = Annotated[str, Meta(min_length=1, max_length=LONGEST_REASON, extra_json_schema={"pattern": SHOWN})]


class CreateReport(Body):
    """A report."""

    type: SubjectType
    id: Annotated[str, Meta(min_length=1, max_length=100, description="Of the post, the comment or the account.")]
    reason: Reason

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from _reason_errors(self.reason)

    def new_report(self) -> NewReport:
        """The report to make."""
        return NewReport(self.type, self.id, self.reason)

    @classmethod
    def example(cls) -> Self:
        return cls(type=SubjectType.POST, id="01M7WVE9SS0371E5H43QNHTMZJ", reason="It shows where somebody lives.")


class DecideCase(Body):
    """A decision about a case."""

    decision: Annotated[
        DecisionKind,
        Meta(
            description="hidden: the post becomes PRIVATE until it is shown again. shown: ends that. deleted: the post "
            "or comment is deleted. suspended: its account is. dismissed: nothing happens."
        ),
    ]
    reason: Annotated[Reason, Meta(description="The owner is told, except when a report is dismissed.")]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from _reason_errors(self.reason)

    def ruling(self) -> Ruling:
        """The decision with its reason."""
        return Ruling(self.decision, self.reason)

    @classmethod
    def example(cls) -> Self:
        return cls(decision=DecisionKind.HIDDEN, reason="Addresses of people are not for everybody.")


class ReportOut(msgspec.Struct, rename="camel"):
    """A report that was made."""

    id: Id
    type: SubjectType
    subject_id: Annotated[str, Meta(description="The post, comment or account.")]
    reason: str
    created_at: Time

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WXTRMHVA0Q1D2S5P8NYV0R",
            type=SubjectType.POST,
            subject_id=CreateReport.example().id,
            reason=CreateReport.example().reason,
            created_at="2026-11-20T16:50:16.017Z",
        )


class DecisionOut(msgspec.Struct, rename="camel"):
    """A decision of an admin about something of the account's."""

    id: Id
    type: SubjectType
    subject_id: str
    content: Annotated[str | None, Meta(description="Its text, as it was when it was reported.")]
    decision: DecisionKind
    reason: str
    decided_at: Time

    @classmethod
    def example(cls) -> Self:
        return cls(
            id=CaseOut.example().id,
            type=CaseOut.example().type,
            subject_id=CaseOut.example().subject_id,
            content=CaseOut.example().material.content,
            decision=DecisionKind.HIDDEN,
            reason=DecideCase.example().reason,
            decided_at="2026-11-20T17:02:40.000Z",
        )


class DecisionList(msgspec.Struct, rename="camel"):
    """A page of decisions, newest first."""

    decisions: list[DecisionOut]
    next_cursor: NextCursor


class ReasonOut(msgspec.Struct, rename="camel"):
    """One report of a case: its reporter and reason."""

    username: str
    reason: str
    material: Annotated[Material | None, Meta(description="What it was at this report; null: the same as at first.")]
    created_at: Time


class CaseOut(msgspec.Struct, rename="camel"):
    """Something that was reported, as admins see it."""

    id: Id
    type: SubjectType
    subject_id: str
    username: Annotated[str, Meta(description="Whose it is.")]
    material: Annotated[Material, Meta(description="What it was when it was first reported.")]
    reports: Annotated[int, Meta(description="How many accounts reported it.")]
    opened_at: Time
    decision: Annotated[DecisionKind | None, Meta(description="Null: it waits.")]
    reason: str | None
    decided_at: Time | None
    decided_by: str | None

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WXTRMHVA0Q1D2S5P8NYV0Q",
            type=SubjectType.POST,
            subject_id=CreateReport.example().id,
            username="ada",
            material=Material(content="It is number 12, the blue gate.", visibility="PUBLIC"),
            reports=1,
            opened_at=ReportOut.example().created_at,
            decision=DecisionKind.HIDDEN,
            reason=DecideCase.example().reason,
            decided_at="2026-11-20T17:02:40.000Z",
            decided_by="grace",
        )


class CaseList(msgspec.Struct, rename="camel"):
    """A page of what was reported."""

    reports: list[CaseOut]
    next_cursor: NextCursor


class OpenedCaseOut(CaseOut, rename="camel"):
    """The same with the first reports."""

    reasons: list[ReasonOut]

    @classmethod
    def example(cls) -> Self:
        return cls(
            **msgspec.structs.asdict(CaseOut.example()),
            reasons=[ReasonOut("linus", ReportOut.example().reason, None, ReportOut.example().created_at)],
        )


def report_shape(report: Report, new: NewReport) -> ReportOut:
    """Returns a report as its reporter sees it."""
    return ReportOut(report.id, new.type, new.id, report.reason, iso(report.created_at))


def decision_shape(case: Case) -> DecisionOut:
    """Returns a decided case as its owner sees it."""
    return DecisionOut(
        id=case.id,
        type=case.type,
        subject_id=case.subject_id,
        content=material_of(case).content,
        decision=case.decision or DecisionKind.DISMISSED,
        reason=case.reason or "",
        decided_at=iso(case.decided_at or 0),
    )


def case_shape(case: Case) -> CaseOut:
    """Returns a case as admins see it."""
    return CaseOut(
        id=case.id,
        type=case.type,
        subject_id=case.subject_id,
        username=case.username,
        material=material_of(case),
        reports=case.reports,
        opened_at=iso(case.opened_at),
        decision=case.decision,
        reason=case.reason,
        decided_at=iso_or_none(case.decided_at),
        decided_by=case.decided_by,
    )


def opened_case_shape(case: Case, reports: list[Report]) -> OpenedCaseOut:
    """Returns a case with its reports."""
    reasons = [
        ReasonOut(
            each.username,
            each.reason,
            None if each.material == case.material else msgspec.json.decode(each.material, type=Material),
            iso(each.created_at),
        )
        for each in reports
    ]
    return OpenedCaseOut(**msgspec.structs.asdict(case_shape(case)), reasons=reasons)


def material_of(case: Case) -> Material:
    """Returns the reported thing as it was."""
    return msgspec.json.decode(case.material, type=Material)


def _reason_errors(reason: str | None) -> Iterator[FieldError]:
    if reason and is_invisible(reason):
        yield FieldError("reason", Code.TOO_SHORT, f"A reason has 1 to {LONGEST_REASON} characters that show.")
