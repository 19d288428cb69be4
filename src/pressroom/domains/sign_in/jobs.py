"""The jobs that mail links. A token is made when its mail is sent, so that no row ever holds one that is good."""

from typing import Final
from urllib.parse import urlsplit

from pressroom.clock import HOUR, MINUTE
from pressroom.db import Database, Tx
from pressroom.domains.accounts import queries
from pressroom.domains.mail.mailer import Mailer
from pressroom.domains.mail.messages import Mail, write_mail
from pressroom.domains.sign_in.credentials import EMAIL_CHANGED_JOB, VERIFICATION_MAIL_JOB
from pressroom.domains.sign_in.links import RESET_MAIL_JOB, find_unverified
from pressroom.domains.sign_in.tokens import Purpose, issue_token
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import GiveUp, Handler

WAITS: Final = (1 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR)
"""Before each further try of a message that the mail server wants later (docs/mail.md#sending)."""

TOGETHER: Final = 4


def mail_handlers(db: Database, mailer: Mailer, base_url: str) -> tuple[Handler, ...]:
    """Returns the handlers of the jobs that mail links to pages below `base_url`."""

    async def write(tx: Tx, job: Job) -> Mail | None:
        if job.kind == EMAIL_CHANGED_JOB:
            return await _tell_old_address(tx, job, urlsplit(base_url).netloc)
        if job.kind == RESET_MAIL_JOB:
            account, purpose, page = await queries.find_by_email(tx, job.subject), Purpose.RESET, "reset"
        else:
            account, purpose, page = await find_unverified(tx, job.subject), Purpose.VERIFY, "verify"
        if account is None:  # nobody has this address, or it is verified already
            return None
        token = await issue_token(tx, account.id, purpose, email=account.email)
        values = {"username": account.username, "site": urlsplit(base_url).netloc, "link": f"{base_url}/{page}/{token}"}
        return write_mail(f"{page}.txt", account.email, values)

    async def work(job: Job, token: str) -> None:
        if not mailer.is_available:
            raise GiveUp("No mail server is set any more: PRESSROOM_SMTP_URL.")
        mail = await db.transact(write, job)
        if mail is not None:
            await mailer.send(mail)
        await db.transact(queue.finish, job, token)

    return tuple(
        Handler(kind, work, TOGETHER, WAITS) for kind in (RESET_MAIL_JOB, VERIFICATION_MAIL_JOB, EMAIL_CHANGED_JOB)
    )


async def _tell_old_address(tx: Tx, job: Job, site: str) -> Mail | None:
    """Returns the mail to the address that an account does not have any more; None when the account is gone."""
    account = await queries.find_account(tx, job.account_id)
    return (
        None
        if account is None
        else write_mail("email_changed.txt", job.subject, {"username": account.username, "site": site})
    )
