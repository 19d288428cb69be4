"""The jobs after a decision: one mails it to the owner of the subject, one notifies the reporters."""

from typing import Final
from urllib.parse import urlsplit

from pressroom.clock import HOUR, MINUTE, SECOND
from pressroom.db import Database, Tx
from pressroom.domains.accounts.actions import get_account
from pressroom.domains.mail.mailer import Mailer
from pressroom.domains.mail.messages import Mail, write_mail
from pressroom.domains.reports.actions import DECIDED_JOB, DECISION_MAIL_JOB, get_case, notify_reporters
from pressroom.domains.reports.schemas import material_of
from pressroom.errors import NotFound
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler

WAITS: Final = (1 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR)
"""Before each further try of a message that the mail server wants later (docs/mail.md#sending)."""

SOON: Final = (SECOND, 10 * SECOND, MINUTE, 10 * MINUTE)
"""Before each further try of the notifications."""

TOGETHER: Final = 4


def decision_handler(db: Database, mailer: Mailer, base_url: str) -> Handler:
    """Returns the handler of the job that mails decisions; without mail, only the notification reports them."""

    async def write(tx: Tx, job: Job) -> Mail | None:
        try:
            case = await get_case(tx, job.subject)
            account = await get_account(tx, case.owner_id)
        except NotFound:
            return None
        if not account.email:  # the account was deleted meanwhile
            return None
        values = {
            "username": account.username,
            "site": urlsplit(base_url).netloc,
            "type": str(case.type),
            "decision": str(case.decision),
            "reason": case.reason or "",
            "content": material_of(case).content or "",
        }
        return write_mail("decision.txt", account.email, values)

    async def work(job: Job, token: str) -> None:
        mail = await db.transact(write, job) if mailer.is_available else None
        if mail is not None:
            await mailer.send(mail)
        await db.transact(queue.finish, job, token)

    return Handler(DECISION_MAIL_JOB, work, TOGETHER, WAITS)


def reporters_handler(db: Database) -> Handler:
    """Returns the handler of the job that notifies reporters. Done again after a kill, it notifies nobody twice."""

    async def work(job: Job, token: str) -> None:
        after: str | None = ""
        while after is not None:
            after = await db.transact(notify_reporters, job.subject, after)
        await db.transact(queue.finish, job, token)

    return Handler(DECIDED_JOB, work, TOGETHER, SOON)
