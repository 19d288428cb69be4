"""The job that mails the notifications of an account, bundled (docs/notifications.md#mail)."""

from typing import Final
from urllib.parse import urlsplit

import msgspec

from pressroom.clock import HOUR, MINUTE
from pressroom.db import Database, Tx
from pressroom.domains.accounts.models import folded
from pressroom.domains.accounts.queries import find_account, status
from pressroom.domains.home.actions import read_queued
from pressroom.domains.home.models import ShownNotice
from pressroom.domains.mail.mailer import Mailer
from pressroom.domains.mail.messages import Mail, write_mail
from pressroom.domains.notifications.actions import MAIL_JOB, finish_mail, give_mail_up
from pressroom.domains.notifications.models import Bundle
from pressroom.domains.notifications.unsubscribing import make_token
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler
from pressroom.signing_secrets import SigningSecret
from pressroom.web.permalinks import Permalinks

WAITS: Final = (1 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR)
"""Before each further try of a message that the mail server wants later (docs/mail.md#sending)."""

TOGETHER: Final = 4


class Line(msgspec.Struct):
    """A notification in a mail, and the address of its subject, if the reader can open that."""

    notice: ShownNotice
    link: str | None


def notification_handler(db: Database, mailer: Mailer, base_url: str, secret: SigningSecret) -> Handler:
    """Returns the handler of the job that mails notifications; `secret` signs the link that stops such mail.

    A worker that is killed after the mail server took the mail and before the end of the job sends it again.
    """

    async def write(tx: Tx, job: Job) -> tuple[Bundle, Mail | None]:
        bundle, notices = await read_queued(tx, job.subject)
        account = await find_account(tx, job.subject)
        now = await status.find_status(tx, job.subject)
        if not notices or account is None or not account.email_verified or now is None or now.suspended_at is not None:
            return bundle, None
        stop = f"{base_url}/unsubscribe/{make_token(account.id, folded(account.email), secret.signing(tx.now))}"
        values: dict[str, object] = {
            "username": account.username,
            "site": urlsplit(base_url).netloc,
            "base_url": base_url,
            "lines": [Line(each, link_of(each, base_url)) for each in notices],
            "has_more": bundle.has_more,
            "unsubscribe": stop,
        }
        return bundle, write_mail("notifications.txt", account.email, values, unsubscribe=stop)

    async def work(job: Job, token: str) -> None:
        bundle, mail = await db.read(write, job)
        was_sent = mail is not None and mailer.is_available
        if mail is not None and was_sent:
            await mailer.send(mail)
        await db.transact(finish_mail, job, token, bundle, was_sent=was_sent)

    return Handler(MAIL_JOB, work, TOGETHER, WAITS, give_mail_up)


def link_of(shown: ShownNotice, base_url: str) -> str | None:
    """Returns the address of the page of a notification's subject; None when the reader cannot open one."""
    notice, pages = shown.notice, Permalinks(base_url)
    if shown.words is not None and notice.post_id is not None:
        if notice.comment_id is None or notice.thread_id is None:
            return pages.of_post(notice.post_id)
        return pages.of_comment(notice.post_id, notice.thread_id, notice.comment_id)
    if notice.webhook_key_id is not None:
        return f"{base_url}/settings/keys/{notice.webhook_key_id}/webhooks/{notice.webhook_id}"
    paths = {
        "follow": f"/@{notice.username}",
        "follow.accepted": f"/@{notice.username}",
        "follow.requested": "/follows?list=requests",
        "key.revoked": f"/settings/keys/{notice.key_id}",
        "key.expiring": f"/settings/keys/{notice.key_id}",
        "moderation": "/decisions",
        "draft.refused": "/drafts",
        "report.made": f"/admin/reports/{notice.case_id}",
    }
    path = paths.get(notice.type)
    return f"{base_url}{path}" if path is not None else None
