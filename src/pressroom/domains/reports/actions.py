"""Reporting, and deciding about reports. Each action takes an open transaction first."""

from typing import Final

import msgspec

from pressroom.db import Database, Tx
from pressroom.domains.accounts import actions as accounts
from pressroom.domains.accounts.models import AccountFilter, Caller
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.comments.actions import get_seen, remove_comment
from pressroom.domains.moderation.actions import suspend_account
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.notifications.queries import forget_case
from pressroom.domains.posts.actions.edit import delete_post, hide_post, unhide_post
from pressroom.domains.posts.actions.lookup import get_view
from pressroom.domains.reports import queries
from pressroom.domains.reports.models import (
    COUNTED,
    OPEN_REPORTS,
    RETENTION,
    Case,
    DecisionKind,
    Material,
    MaterialFile,
    NewReport,
    Report,
    Ruling,
    Subject,
    SubjectType,
    choices_of,
)
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.ids import BEYOND, new_id
from pressroom.jobs import queue

DECISION_MAIL_JOB: Final = "decision mail"
"""The kind of job that mails a decision to the owner of a reported subject; its subject is the case's id."""

DECIDED_JOB: Final = "report decided"
"""The kind of job that notifies the reporters of a decided case; its subject is the case's id."""

TOGETHER: Final = 100
"""Reporters that one transaction notifies, and admins that a report notifies."""

SHOWN_REPORTS: Final = 50
"""How many reports of a case are shown: the first ones."""


_LOGGED: Final = {
    DecisionKind.HIDDEN: Kind.CONTENT_HIDDEN,
    DecisionKind.SHOWN: Kind.CONTENT_SHOWN,
    DecisionKind.DELETED: Kind.CONTENT_DELETED,
    DecisionKind.DISMISSED: Kind.REPORT_DISMISSED,
}
"""The kind of each decision in the audit log."""


async def report(tx: Tx, caller: Caller, new: NewReport) -> Report:
    """Reports something that the caller may see; reporting it again returns the report that waits.

    Raises NotFound, and Unprocessable for the caller's own or when too many of their reports wait
    (docs/moderation.md#reports).
    """
    reporter_id = caller.account.id
    subject = await get_subject(tx, caller, new.type, new.id)
    if subject.owner_id == reporter_id:
        raise Unprocessable([FieldError("id", Code.NOT_ALLOWED, "This is your own: edit or delete it.")])
    material = msgspec.json.encode(subject.material).decode()
    # One case for all reports of a thing: this inserts it or locks the open one, so that a decision cannot close it
    # meanwhile.
    case_id = await queries.join_case(
        tx,
        case_id=new_id(tx.now, subject.id),
        subject_type=subject.type,
        subject_id=subject.id,
        owner_id=subject.owner_id,
        material=material,
    )
    if await queries.find_report(tx, case_id=case_id, reporter_id=reporter_id) is None:
        if await queries.count_open(tx, reporter_id, OPEN_REPORTS) >= OPEN_REPORTS:
            message = f"{OPEN_REPORTS} of your reports wait for a decision. Wait until some are decided."
            raise Unprocessable([FieldError("body", Code.TOO_MANY, message)])
        await queries.insert_report(
            tx,
            case_id=case_id,
            reporter_id=reporter_id,
            report_id=new_id(tx.now, case_id),
            reason=new.reason,
            material=material,
        )
        # Only for a new report: a repetition must not renew the notification.
        await _notify_admins(tx, case_id, subject.owner_id, reporter_id)
    found = await queries.find_report(tx, case_id=case_id, reporter_id=reporter_id)
    assert found is not None  # noqa: S101  # it was found or inserted
    return found


async def _notify_admins(tx: Tx, case_id: str, owner_id: str, reporter_id: str) -> None:
    """Notifies admins and moderators that a case waits: one row for each, which a further report renews.

    The reporter is not notified, nor the owner of the subject, who must not decide about it.
    """
    roles = (AccountFilter.ADMIN, AccountFilter.MODERATOR)
    staff = {each.id for role in roles for each in await status.list_filtered(tx, role, before=BEYOND, limit=TOGETHER)}
    for account_id in sorted(staff - {owner_id, reporter_id}):
        await notify(tx, account_id, NotificationType.REPORT_MADE, case_id=case_id)


async def notify_reporters(tx: Tx, case_id: str, after: str) -> str | None:
    """Notifies the next reporters of a decided case, after the account `after`; returns the last, None at the end.

    A repeated call notifies nobody twice. The admin who decided is not notified. Raises NotFound.
    """
    post_id = _post_of(await get_case(tx, case_id))
    reporters = await queries.list_reporters(tx, case_id, after=after, limit=TOGETHER)
    for reporter_id in reporters:
        await notify(tx, reporter_id, NotificationType.REPORT_DECIDED, post_id=post_id, case_id=case_id)
    return reporters[-1] if len(reporters) == TOGETHER else None


async def get_subject(tx: Tx, caller: Caller, subject: SubjectType, subject_id: str) -> Subject:
    """Returns the subject, if the caller may report it. Raises NotFound."""
    if subject is SubjectType.ACCOUNT:
        account = await accounts.get_account(tx, subject_id)
        await accounts.get_account_by_username(tx, account.username)  # nobody sees one that is suspended
        material = Material(content=account.bio, display_name=account.display_name)
        return Subject(subject, account.id, account.id, account.username, material)
    if subject is SubjectType.COMMENT:
        comment = await get_seen(tx, caller, subject_id)
        material = Material(comment.content, post_id=comment.post_id, media_url=comment.media_url)
        return Subject(subject, comment.id, comment.account_id, comment.username, material)
    view = await get_view(tx, subject_id, caller.account.id)
    files = [MaterialFile(media.id, media.alt_text) for media in view.media]
    post = view.post
    bounces = post.original_id is not None
    material = Material(post.content, post.visibility, media=files, link=post.preview_url, is_bounce=bounces)
    return Subject(subject, post.id, post.account_id, post.username, material)


async def may_see(tx: Tx, caller: Caller, subject: SubjectType, subject_id: str) -> bool:
    """Returns whether something stands and the caller sees it, so that a page may link it."""
    try:
        await get_subject(tx, caller, subject, subject_id)
    except NotFound:
        return False
    return True


async def decide(tx: Tx, admin: Source, case_id: str, ruling: Ruling) -> Case:
    """Carries a decision out, notifies the owner and, of the first decision, the reporters, and returns the case.

    A subject that is gone already counts as deleted; without an owner's account, no mail is sent. Raises NotFound, and
    Unprocessable for what cannot be decided about it (docs/moderation.md#decisions).
    """
    # Of two admins who decide at once, the second sees the first one's decision.
    await queries.lock_case(tx, case_id)
    case = await get_case(tx, case_id)
    if case.owner_id == admin.admin_id:
        message = "This is about something of your own: another admin has to decide."
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, message)])
    if ruling.decision not in choices_of(case.type, case.decision, is_bounce=is_bounce(case)):
        raise Unprocessable([FieldError("decision", Code.NOT_ALLOWED, _why_not(case, ruling.decision))])
    await _carry_out(tx, case, ruling, admin)
    is_gone = await status.find_deleted_at(tx, case.owner_id) is not None
    reason = None if is_gone else ruling.reason
    await queries.decide(tx, case_id, decided_by=admin.admin_id, decision=ruling.decision, reason=reason)
    await _log(tx, case, ruling, admin)
    # Only the first decision: reporters hear once, also when an admin decides again.
    if case.decided_at is None:
        await forget_case(tx, case_id)
        await queue.enqueue(tx, DECIDED_JOB, case_id, account_id=case.owner_id)
    if ruling.decision is not DecisionKind.DISMISSED and not is_gone:
        await notify(tx, case.owner_id, NotificationType.MODERATION, post_id=_post_of(case))
        await queue.enqueue(tx, DECISION_MAIL_JOB, case_id, account_id=case.owner_id)
    return await get_case(tx, case_id)


async def get_case(tx: Tx, case_id: str) -> Case:
    """Returns a case. Raises NotFound."""
    case = await queries.find_case(tx, case_id)
    if case is None:
        raise NotFound("There is no such report.")
    return case


async def count_waiting(db: Database) -> int:
    """Returns how many cases wait for a decision; COUNTED stands for more than 99. One statement."""
    return await db.one(queries.COUNT_WAITING, limit=COUNTED) or 0


async def open_case(tx: Tx, case_id: str, admin_id: str) -> tuple[Case, list[Report]]:
    """Returns a case and its first reports; none of a case about something of the admin's own. Raises NotFound."""
    case = await get_case(tx, case_id)
    return case, [] if case.owner_id == admin_id else await queries.list_reports(tx, case_id, SHOWN_REPORTS)


async def purge_cases(tx: Tx, batch: int) -> int:
    """Removes at most `batch` cases a year after their decision; returns their number."""
    return await queries.purge_cases(tx, until=tx.now - RETENTION, batch=batch)


async def _carry_out(tx: Tx, case: Case, ruling: Ruling, admin: Source) -> None:
    match ruling.decision:
        case DecisionKind.HIDDEN:
            await _hide(tx, case)
        case DecisionKind.SHOWN:
            await unhide_post(tx, case.owner_id, case.subject_id)
        case DecisionKind.DELETED:
            await _delete(tx, case)
        case DecisionKind.SUSPENDED:
            await _suspend(tx, case, ruling, admin)
        case DecisionKind.DISMISSED:
            pass


async def _log(tx: Tx, case: Case, ruling: Ruling, admin: Source) -> None:
    """Records a decision. A dismissal is in the log of admins alone: the owner gets no notification."""
    if ruling.decision is DecisionKind.SUSPENDED:  # which writes an entry of its own
        return
    about = case.owner_id if ruling.decision is not DecisionKind.DISMISSED else ""
    detail = {"type": case.type, "id": case.subject_id, "reason": ruling.reason}
    await record(tx, about, _LOGGED[ruling.decision], admin, **detail)


async def _hide(tx: Tx, case: Case) -> None:
    try:
        await hide_post(tx, case.owner_id, case.subject_id)
    except NotFound:
        message = "Its author has deleted it: decide deleted, or dismiss the report."
        raise Unprocessable([FieldError("decision", Code.NOT_ALLOWED, message)]) from None


async def _suspend(tx: Tx, case: Case, ruling: Ruling, admin: Source) -> None:
    try:
        account = await accounts.get_record(tx, case.username)
    except NotFound:
        account = None
    if account is None or account.suspended_at is not None:
        message = "The account is suspended or deleted already: dismiss the report."
        raise Unprocessable([FieldError("decision", Code.NOT_ALLOWED, message)])
    # Admins cannot suspend each other: an intruder at one browser could shut the others out.
    if account.is_admin or account.is_moderator:
        role = "an admin" if account.is_admin else "a moderator"
        message = f"@{case.username} is {role}: take that away first, on the server."
        raise Unprocessable([FieldError("decision", Code.NOT_ALLOWED, message)])
    await suspend_account(tx, case.username, ruling.reason, admin)


async def _delete(tx: Tx, case: Case) -> None:
    try:
        if case.type == SubjectType.COMMENT:
            await remove_comment(tx, case.subject_id)
        else:
            await delete_post(tx, Caller(await accounts.get_account(tx, case.owner_id)), case.subject_id)
    # The decision stands all the same: the thing is gone.
    except NotFound:  # its owner was quicker
        return


def is_bounce(case: Case) -> bool:
    """Returns whether a case is about a bounce, which cannot be hidden."""
    return msgspec.json.decode(case.material, type=Material).is_bounce


def _post_of(case: Case) -> str | None:
    if case.type == SubjectType.POST:
        return case.subject_id
    return msgspec.json.decode(case.material, type=Material).post_id


def _why_not(case: Case, decision: DecisionKind) -> str:
    if case.decision is not None:
        return f"This was decided already: {case.decision}."
    return f"For this, {decision} is not among what can be decided: choose another."
