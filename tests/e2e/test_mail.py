"""Mail of whole processes: killed between commit and sending, handed to an operator, and the first start's link."""

import re
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.harness.mail_server import MailServer
from tests.harness.process import ServerProcess
from tests.services.process import wait_until

MakeProcess = Callable[..., ServerProcess]

PASSWORD = "ten plums and a kettle"


@pytest.fixture
def mails() -> Iterator[MailServer]:
    """A mail server, not yet started."""
    server = MailServer()
    yield server
    server.stop()


def post(server: ServerProcess, path: str, **body: str) -> httpx.Response:
    return httpx.post(f"{server.base_url}/api/auth/{path}", json=body, timeout=20)


def sign_in(server: ServerProcess, password: str) -> int:
    return post(server, "login", login="alice", password=password).status_code


def test_a_mail_outlives_a_kill_between_commit_and_sending(
    process_server: MakeProcess, engine_settings: dict[str, object], mails: MailServer
) -> None:
    server = process_server(SMTP_URL=mails.url, **engine_settings).migrate()
    server.create_account("alice")
    server.start()
    assert post(server, "forgot", email="alice@example.org").status_code == 200
    server.kill()
    assert mails.received == [], "nobody could take it yet"

    mails.start()
    server.start()
    assert wait_until(lambda: bool(mails.received), 240)
    (mail,) = mails.received
    assert post(server, "reset", token=mail.token("reset"), password=PASSWORD).status_code == 200
    assert sign_in(server, PASSWORD) == 200
    assert server.stop() == 0
    assert mail.token("reset") not in server.output()


def test_an_operator_hands_a_link_over(process_server: MakeProcess, engine_settings: dict[str, object]) -> None:
    server = process_server(**engine_settings).migrate()
    server.create_account("alice")
    server.start()
    assert post(server, "forgot", email="alice@example.org").status_code == 404

    link = server.command("account", "reset", "ALICE").stdout.strip()
    assert re.fullmatch(rf"{server.base_url}/reset/[\w-]{{43}}", link)
    token = link.rpartition("/")[2]
    assert "Set a new password" in httpx.get(link, timeout=20).text
    done = httpx.post(link, data={"password": PASSWORD}, timeout=20)
    assert (done.status_code, done.headers["location"]) == (303, "/login?done=password-set")
    assert sign_in(server, PASSWORD) == 200
    assert httpx.get(link, timeout=20).status_code == 404
    assert server.command("account", "reset", "nobody", check=False).returncode == 2
    assert server.stop() == 0
    assert token not in server.output()


def test_the_first_start_prints_a_link_that_signs_in_once(process_server: MakeProcess) -> None:
    server = process_server(DEV=1).start()
    (link,) = set(re.findall(rf"{server.base_url}/login/link/[\w-]{{43}}", server.output()))
    with httpx.Client(timeout=20) as browser:
        assert "Sign in" in browser.get(link).text
        assert browser.get(f"{server.base_url}/api/auth/me").status_code == 401, "to open it signs nobody in"
        assert browser.post(link).headers["location"] == "/?done=signed-in"
        assert browser.get(f"{server.base_url}/api/auth/me").json()["username"] == "editor"
    assert httpx.post(link, timeout=20).status_code == 422
    assert server.stop() == 0
    server.start()
    assert len(re.findall("/login/link/[\\w-]{43}", server.output())) == 1, "neither logged nor printed again"
    assert server.stop() == 0


def test_doctor_checks_the_mail_server(process_server: MakeProcess, mails: MailServer) -> None:
    server = process_server(SMTP_URL=mails.url)
    away = server.command("doctor", check=False).stdout
    assert f"The mail server 127.0.0.1:{mails.port} cannot be used: " in away
    mails.start()
    assert f"127.0.0.1:{mails.port} takes mail of pressroom@localhost" in server.command("doctor", check=False).stdout
    del server.settings["SMTP_URL"]
    assert "PRESSROOM_SMTP_URL is not set" in server.command("doctor", check=False).stdout
    assert mails.tried == [], "it sends nothing"


def test_operator_tries_the_mail_server(process_server: MakeProcess, mails: MailServer) -> None:
    server = process_server(SMTP_URL=mails.url)
    away = server.command("mail", "test", "ann@example.org", check=False)
    unset = process_server().command("mail", "test", "ann@example.org", check=False)
    mails.start()

    done = server.command("mail", "test", "ann@example.org")
    malformed = server.command("mail", "test", "no address\nBcc: x@example.org", check=False)

    assert (away.returncode, unset.returncode, malformed.returncode) == (2, 2, 2)
    assert "PRESSROOM_SMTP_URL" in unset.stderr
    assert "ann@example.org" in done.stdout
    assert len(mails.received) == 1
