"""Sending: what becomes of a mail when the mail server takes it, wants it later, refuses it or is away."""

import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

from pressroom.clock import HOUR, MINUTE
from pressroom.db import Query
from pressroom.domains.accounts.queries.status import set_verified
from pressroom.domains.mail import smtp
from pressroom.domains.mail.messages import Mail
from pressroom.domains.notifications.actions import notify, queue_mails, read_unread
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.sign_in.links import request_reset
from pressroom.jobs.sweeps import run_batches
from tests.api.actors import rows
from tests.api.conftest import server
from tests.harness.local import LocalServer
from tests.harness.mail_server import MailServer
from tests.outbound.certificates import serving

__all__ = ["server"]

MakeMails = Callable[..., MailServer]
MakeServer = Callable[..., LocalServer]

DEAD = Query(str, "SELECT error FROM jobs WHERE due_at IS NULL")
WAITING = Query(str, "SELECT coalesce(error, '') FROM jobs WHERE due_at IS NOT NULL")
TRIES = Query(int, "SELECT tries FROM jobs")


@pytest.fixture
def mails() -> Iterator[MakeMails]:
    """Makes mail servers that listen: `mails(tls=…, credentials=…)`."""
    made: list[MailServer] = []

    def make(**options: object) -> MailServer:
        made.append(MailServer(**options).start())  # type: ignore[arg-type]  # as the test says
        return made[-1]

    yield make
    for each in made:
        each.stop()


def forgot(local: LocalServer) -> None:
    """Somebody forgot a password."""
    account = local.account()
    local.run(local.runtime.db.transact(request_reset, account.email, "203.0.113.7", 100))


def left(local: LocalServer) -> tuple[list[str], list[str]]:
    """The errors of the jobs that wait, and of those that are dead."""
    return rows(local, WAITING), rows(local, DEAD)


def test_mail_names_the_address_to_unsubscribe_on_one_line(local_server: MakeServer, mails: MakeMails) -> None:
    mail_server = mails()
    local = local_server(SMTP_URL=mail_server.url)
    address = f"https://press.a-name-that-is-rather-long.example.org/unsubscribe/{'A' * 59}"

    local.run(local.runtime.mailer.send(Mail("mira@example.org", "Three notifications", "Hello", address)))

    (received,) = mail_server.received
    assert received["List-Unsubscribe"] == f"<{address}>"
    assert received["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_mail_refused_for_good_leaves_notifications_in_the_app(local_server: MakeServer, mails: MakeMails) -> None:
    mail_server = mails()
    local = local_server(SMTP_URL=mail_server.url)
    account, db = local.account(), local.runtime.db
    local.run(db.transact(lambda tx: set_verified(tx, account.id, verified=False, email_verified=True)))

    def notify_and_mail() -> None:
        local.run(db.transact(notify, account.id, NotificationType.KEY_REVOKED))
        local.run(run_batches(db, queue_mails))
        local.do_jobs()

    mail_server.rcpt.append("550 5.1.1 No such user")
    notify_and_mail()
    assert (len(mail_server.received), len(left(local)[1])) == (0, 1)
    local.run(run_batches(db, queue_mails))
    local.do_jobs()
    assert len(mail_server.received) == 0, "it is not tried again"
    notify_and_mail()
    (received,) = mail_server.received
    assert received.text.count("was revoked") == 1
    assert local.run(db.read(read_unread, account.id)) == 2


def test_mail_scheduled_for_later_is_sent_later(local_server: MakeServer, mails: MakeMails) -> None:
    mail_server = mails()
    mail_server.data.append("451 4.7.1 Greylisted")
    mail_server.rcpt.append("450 4.2.0 Mailbox busy")
    local = local_server(SMTP_URL=mail_server.url)
    forgot(local)
    local.do_jobs()
    assert left(local) == ([f"The mail server 127.0.0.1:{mail_server.port} answered 450 4.2.0."], [])
    local.clock.advance(MINUTE)
    local.do_jobs()
    assert left(local) == ([f"The mail server 127.0.0.1:{mail_server.port} answered 451 4.7.1."], [])
    assert rows(local, TRIES) == [2]
    local.clock.advance(5 * MINUTE - 1)
    local.do_jobs()
    assert mail_server.received == []
    local.clock.advance(1)
    local.do_jobs()
    assert len(mail_server.received) == 1
    assert left(local) == ([], [])


def test_undeliverable_mail_is_dead_after_the_last_try(local_server: MakeServer, mails: MakeMails) -> None:
    mail_server = mails()
    mail_server.data.extend(["451 later"] * 6)
    local = local_server(SMTP_URL=mail_server.url)
    forgot(local)
    for _ in range(8):
        local.do_jobs()
        local.clock.advance(4 * HOUR)
    assert left(local) == ([], [f"The mail server 127.0.0.1:{mail_server.port} answered 451."])
    assert len(mail_server.tried) == 6


@pytest.mark.parametrize("stage", ["rcpt", "data"])
def test_a_mail_that_is_refused_is_dead(local_server: MakeServer, mails: MakeMails, stage: str) -> None:
    mail_server = mails()
    getattr(mail_server, stage).append("550 5.7.1 Spam: it says http://127.0.0.1/reset/SECRET to mira@example.org")
    local = local_server(SMTP_URL=mail_server.url)
    forgot(local)
    local.do_jobs()
    assert left(local) == ([], [f"The mail server 127.0.0.1:{mail_server.port} answered 550 5.7.1."])
    local.clock.advance(24 * HOUR)
    local.do_jobs()
    assert len(mail_server.tried) == 1
    local.runtime.log.flush()
    logged = local.stream.getvalue()
    assert "answered 550 5.7.1" in logged
    assert "SECRET" not in logged
    assert "account1" not in logged, "the address is nobody's business either"


def test_unreachable_mail_server_spends_no_try(local_server: MakeServer, mails: MakeMails) -> None:
    mail_server = mails()
    mail_server.stop()
    local = local_server(SMTP_URL=mail_server.url)
    for _ in range(20):
        forgot(local)
        local.do_jobs()
        local.clock.advance(HOUR)
    assert set(rows(local, TRIES)) == {0}
    mail_server.start()
    local.clock.advance(HOUR)
    local.do_jobs()
    assert len(mail_server.received) == 20
    assert left(local) == ([], [])


def test_silent_mail_server_times_out(local_server: MakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp, "STEP_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        local = local_server(SMTP_URL=f"smtp://127.0.0.1:{port}?tls=off")
        forgot(local)
        local.do_jobs()
    waiting, dead = left(local)
    assert (waiting, dead) == ([f"The mail server 127.0.0.1:{port} cannot be used: it takes too long."], [])


def test_slow_mail_server_has_a_bounded_time(
    local_server: MakeServer, mails: MakeMails, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smtp, "WHOLE_SECONDS", 0.0)
    mail_server = mails()
    local = local_server(SMTP_URL=mail_server.url)
    forgot(local)
    local.do_jobs()
    waiting, dead = left(local)
    assert ([f"The mail server 127.0.0.1:{mail_server.port} cannot be used: it takes too long."], []) == (waiting, dead)


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> trustme.CA:
    """An authority that this machine trusts."""
    authority, file = trustme.CA(), tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    return authority


def test_starttls_and_a_password(local_server: MakeServer, mails: MakeMails, authority: trustme.CA) -> None:
    mail_server = mails(tls=serving(authority.issue_cert("localhost")), credentials=("press", "p@ss/word"))
    local = local_server(SMTP_URL=f"smtp://press:p%40ss%2Fword@localhost:{mail_server.port}")
    forgot(local)
    local.do_jobs()
    assert left(local) == ([], [])
    (mail,) = mail_server.received
    assert mail.encrypted


@pytest.mark.parametrize(
    ("name", "url", "why"),
    [
        ("localhost", "smtp://press:wrong@localhost", "the user name or password in PRESSROOM_SMTP_URL is wrong"),
        ("elsewhere.example", "smtp://press:word@localhost", "SSLCertVerificationError"),
        (None, "smtp://press:word@localhost", "it offers no STARTTLS"),
        ("localhost", "smtps://press:word@localhost", "SSLError"),
    ],
    ids=["wrong password", "another name", "no starttls", "no tls from the first byte"],
)
def test_untrusted_mail_server_gets_no_message(
    local_server: MakeServer, mails: MakeMails, authority: trustme.CA, name: str | None, url: str, why: str
) -> None:
    tls: ssl.SSLContext | None = serving(authority.issue_cert(name)) if name else None
    mail_server = mails(tls=tls, credentials=("press", "word") if tls else None)
    local = local_server(SMTP_URL=f"{url}:{mail_server.port}")
    forgot(local)
    local.do_jobs()
    (waiting,), dead = left(local)
    assert waiting.startswith(f"The mail server localhost:{mail_server.port} cannot be used: ")
    assert why in waiting
    assert "wrong@" not in waiting
    assert dead == []
    assert mail_server.tried == []


def test_a_mail_whose_server_was_unset_meanwhile_is_dead(local_server: MakeServer) -> None:
    local = local_server()
    forgot(local)
    local.do_jobs()
    assert left(local) == ([], ["No mail server is set any more: PRESSROOM_SMTP_URL."])
