"""The pages of two-factor sign-in, without script: set up, new recovery codes, taken off."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

import httpx
import pytest
from pyotp.totp import TOTP
from selectolax.lexbor import LexborHTMLParser

from pressroom.clock import MINUTE
from pressroom.domains.sign_in.two_factor import STEP
from tests.api.actors import body_of
from tests.api.people import PASSWORD, Person
from tests.harness.local import LocalServer
from tests.pages.secrets import found, held
from tests.pages.without_script import Browser, goes_to, one, words

SETTINGS = {"DEV": 1, "TRUSTED_PROXIES": "127.0.0.1/32", "SESSION_WRITES_PER_MINUTE": 1_000}
SECURITY = "/settings/security"
TWO_FACTOR = f"{SECURITY}/two-factor"
CODE = re.compile(r"[a-z2-9]{4}(?:-[a-z2-9]{4}){3}")


@pytest.fixture
def mira(server: LocalServer) -> Iterator[Browser]:
    """Somebody who is signed in."""
    browser = Browser(Person(server))
    browser.cookies = {"session": browser.person.token}
    with browser.web:
        yield browser


def begin(browser: Browser) -> tuple[httpx.Response, TOTP]:
    """Begins the set-up: the page with the QR code, and an authenticator that has read it."""
    begun = browser.send(browser.page(SECURITY))
    assert begun.status_code == 200, begun.text
    return begun, TOTP(one(LexborHTMLParser(begun.text), ".copyable code").text())


def present(browser: Browser, totp: TOTP) -> str:
    """The code that the authenticator shows."""
    return totp.generate_otp(browser.person.server.clock.now() // STEP)


def turn_on(browser: Browser) -> tuple[TOTP, list[str]]:
    """Turns it on; the authenticator and the recovery codes."""
    begun, totp = begin(browser)
    made = browser.send(LexborHTMLParser(begun.text), code=present(browser, totp))
    assert made.status_code == 200, made.text
    browser.person.server.clock.advance(STEP)
    return totp, CODE.findall(words(made))


def is_on(browser: Browser) -> bool:
    return bool(body_of(browser.ask("GET", "/api/auth/two-factor"))["enabled"])


def test_setting_it_up(mira: Browser) -> None:
    assert "Off" in words(mira.page(SECURITY), "h2:has(.badge)")
    begun, totp = begin(mira)
    tree = LexborHTMLParser(begun.text)
    drawing = one(tree, ".qr svg")
    assert int(str(drawing.attributes["viewBox"]).split()[2]) > 30
    assert "style" not in drawing.attributes
    link = str(one(tree, "a[href^='otpauth:']").attributes["href"])
    assert f"secret={totp.secret}" in link
    assert "content-encoding" not in begun.headers
    assert not is_on(mira)

    wrong = mira.send(tree, code="00000")
    assert wrong.status_code == 422
    assert totp.secret not in wrong.text, "shown only once"
    assert "code" in words(wrong, "#errors").lower()
    made = mira.send(LexborHTMLParser(wrong.text), code=present(mira, totp))
    assert len(set(CODE.findall(words(made)))) == 10
    assert is_on(mira)
    tree = mira.page(SECURITY)
    assert "On" in words(tree, "h2:has(.badge)")
    assert "10 of 10" in words(tree)
    assert totp.secret not in str(tree.html)


def test_nothing_secret_is_shown_twice(mira: Browser) -> None:
    start = mira.page(SECURITY)
    first = mira.send(start)
    secret = one(LexborHTMLParser(first.text), ".copyable code").text()
    reload = mira.send(start)
    assert secret not in reload.text
    assert "shown only once" in words(reload)
    form = mira.page(TWO_FACTOR)
    assert secret not in str(form.html)
    code = present(mira, TOTP(secret))
    made, again = mira.send(form, code=code), mira.send(form, code=code)
    assert len(CODE.findall(words(made))) == 10
    assert CODE.findall(words(again)) == []
    assert "shown once" in words(again)
    renewal = mira.page(f"{SECURITY}/recovery-codes")
    assert "10 that you have now stop working" in words(renewal)
    renewed, again = mira.send(renewal), mira.send(renewal)
    assert len(CODE.findall(words(renewed))) == 10
    assert CODE.findall(words(again)) == []
    log = mira.person.server.stream.getvalue()
    assert not any(each in log for each in (secret, *CODE.findall(words(made)), *CODE.findall(words(renewed))))


@pytest.mark.parametrize("by", ["password", "code", "recovery code"])
def test_taking_it_off(mira: Browser, by: str) -> None:
    totp, recovery = turn_on(mira)
    proof = {
        "password": {"password": PASSWORD},
        "code": {"code": present(mira, totp)},
        "recovery code": {"code": recovery[0]},
    }[by]
    page = mira.page(f"{TWO_FACTOR}/remove")

    nothing = mira.send(page)
    assert nothing.status_code == 400
    refused = mira.send(page, **dict.fromkeys(proof, "wrong"))
    assert refused.status_code == 401
    assert "wrong" not in [node.attributes.get("value") for node in LexborHTMLParser(refused.text).css("input")]
    done = mira.send(LexborHTMLParser(refused.text), **proof)
    assert goes_to(done) == f"{SECURITY}?done=two-factor-off"
    assert "Two-factor sign-in is off" in words(mira.page(goes_to(done)), "#done")
    assert not is_on(mira)
    for path in (f"{TWO_FACTOR}/remove", f"{SECURITY}/recovery-codes", TWO_FACTOR):
        assert goes_to(mira.ask("GET", path)) == SECURITY


def test_recent_password_is_required(mira: Browser) -> None:
    start = mira.page(SECURITY)
    mira.person.server.clock.advance(31 * MINUTE)
    assert "Confirm" not in words(mira.page(SECURITY), "h1"), "to look is harmless"

    for path in (f"{TWO_FACTOR}/remove", f"{SECURITY}/recovery-codes", TWO_FACTOR):
        assert "Confirm your password" in words(mira.page(path), "h1")
    asked = mira.send(start)
    assert asked.status_code == 403
    begun = mira.send(LexborHTMLParser(asked.text), confirmed_password=PASSWORD)
    assert ".qr" not in begun.text
    assert one(LexborHTMLParser(begun.text), ".qr svg")


def test_it_cannot_be_begun_twice(mira: Browser) -> None:
    start = mira.page(SECURITY)
    turn_on(mira)

    answer = mira.send(start)
    assert answer.status_code == 409
    assert "on already" in words(answer, "#errors")


def test_few_recovery_codes_are_flagged(mira: Browser) -> None:
    _, recovery = turn_on(mira)
    for code in recovery[:8]:
        body = {"login": mira.person.name, "password": PASSWORD, "code": code}
        assert mira.person.request("POST", "/api/auth/login", json=body).status_code == 200

    assert "Few recovery codes are left" in words(mira.page(SECURITY), ".notice.warning")


def test_other_sites_and_nobody_get_nowhere(mira: Browser) -> None:
    for path in (TWO_FACTOR, f"{TWO_FACTOR}/code", f"{TWO_FACTOR}/remove", f"{SECURITY}/recovery-codes"):
        cross = mira.ask("POST", path, data={}, headers={"Sec-Fetch-Site": "cross-site"})
        assert cross.status_code == 403
    mira.cookies.clear()
    for path in (SECURITY, TWO_FACTOR, f"{TWO_FACTOR}/remove", f"{SECURITY}/recovery-codes"):
        assert unquote(goes_to(mira.ask("GET", path))) == f"/login?next={path}"
        if path != SECURITY:
            assert goes_to(mira.ask("POST", path, data={})).startswith("/login")


def test_secret_shown_once_is_stored_nowhere(mira: Browser) -> None:
    """Neither in the log nor the database, a stored answer, a mail or an address, whatever it was used for."""
    server, urls = mira.person.server, list[str]()
    mira.web.event_hooks["request"].append(lambda request: urls.append(str(request.url)))
    totp, recovery = turn_on(mira)
    secrets = {f"recovery code {number}": code for number, code in enumerate(recovery)}
    secrets |= {f"recovery code {number}, joined": code.replace("-", "") for number, code in enumerate(recovery)}
    secrets |= {"authenticator secret": totp.secret, "session": mira.cookies["session"]}
    assert nothing_found(mira, secrets, urls)

    mira.cookies.clear()
    for wrong in ("00000", recovery[1]):  # the second one is right
        waiting = mira.sign_in()
        secrets["waiting sign-in"] = mira.cookies["sign_in"]
        mira.send(mira.page(goes_to(waiting)), code=wrong)
        assert nothing_found(mira, secrets, urls)
    renewed = CODE.findall(words(mira.send(mira.page(f"{SECURITY}/recovery-codes"))))
    secrets |= {f"new recovery code {number}": code for number, code in enumerate(renewed)}
    mira.send(mira.page(f"{TWO_FACTOR}/remove"), code=renewed[0])
    assert not is_on(mira)
    assert nothing_found(mira, secrets, urls)
    assert found(server, {"a name": mira.person.name}, [], []) != [], "it would be found"
    assert totp.secret not in str(held(server)["two_factor"]), "erased with the rest"


def nothing_found(browser: Browser, secrets: dict[str, str], urls: list[str]) -> bool:
    """Whether the secrets stand nowhere."""
    server = browser.person.server
    server.do_jobs()
    server.runtime.log.flush()
    assert found(server, secrets, [sent.mail.text for sent in server.runtime.mailer.kept or ()], urls) == []
    return True
