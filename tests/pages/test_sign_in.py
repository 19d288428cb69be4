"""The pages of signing in and out, without script: password, code, and the password asked for again."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest
from pyotp.totp import TOTP
from selectolax.lexbor import LexborHTMLParser

from pressroom.clock import MINUTE
from pressroom.domains.moderation.actions import suspend_account
from pressroom.domains.sign_in.two_factor import STEP
from tests.api.actors import Actor, body_of
from tests.api.people import PASSWORD, Person
from tests.harness.axe import Inspection, needs_axe
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.local import LocalServer
from tests.pages.without_script import Browser, goes_to, one, words

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "SIGN_IN_FAILURES_PER_ACCOUNT": 4,
    "SESSION_WRITES_PER_MINUTE": 1_000,
}
SECURITY = "/settings/security"
HOSTILE = "<script>alert(1)</script>\"'>\r\n& ü \U0001d518"


@pytest.fixture
def mira(server: LocalServer) -> Iterator[Browser]:
    """Somebody with an account, who is not signed in."""
    browser = Browser(Person(server))
    with browser.web:
        yield browser


@pytest.fixture
def guarded(mira: Browser) -> Browser:
    """Somebody with two-factor sign-in, who is not signed in."""
    turn_on(mira)
    return mira


def turn_on(browser: Browser) -> tuple[TOTP, list[str]]:
    """Turns two-factor sign-in on by JSON; the authenticator and the recovery codes."""
    person = browser.person
    begun = body_of(person.request("POST", "/api/auth/two-factor", token=person.token))
    totp = TOTP(begun["secret"])
    code = {"code": totp.generate_otp(person.server.clock.now() // STEP)}
    made = body_of(person.request("POST", "/api/auth/two-factor/confirm", token=person.token, json=code))
    person.server.clock.advance(STEP)
    browser.totp, browser.recovery = totp, made["recoveryCodes"]
    return totp, made["recoveryCodes"]


def present(browser: Browser) -> str:
    """The code that the authenticator shows."""
    return browser.totp.generate_otp(browser.person.server.clock.now() // STEP)


def wrong(browser: Browser) -> str:
    """Six digits that are the code of no step near."""
    step = browser.person.server.clock.now() // STEP
    near = {browser.totp.generate_otp(step + drift) for drift in (-1, 0, 1)}
    return next(code for code in map("{:06}".format, range(9)) if code not in near)


def test_signing_in_and_out(mira: Browser) -> None:
    tree = mira.page("/login")
    assert one(tree, "input[name=login]").attributes["autocomplete"] == "username"
    assert one(tree, "input[name=password]").attributes["autocomplete"] == "current-password"
    assert one(tree, "[data-show-password]").attributes["data-show-password"] == one(
        tree, "input[name=password]"
    ).attributes.get("id")

    assert goes_to(mira.sign_in()) == "/"
    assert goes_to(mira.ask("GET", "/login?next=/settings/keys")) == "/settings/keys", "signed in already"
    settings = mira.page(SECURITY)
    assert one(settings, "header form[method=post]").attributes == {"method": "post", "action": "/logout"}
    token = mira.cookies["session"]
    out = mira.ask("POST", "/logout", data={})
    assert goes_to(out).startswith("/?done=signed-out")
    assert "session" not in mira.cookies
    assert mira.person.me(token).status_code == 401, "the session has ended, not the cookie alone"
    assert unquote(goes_to(mira.ask("GET", SECURITY))) == f"/login?next={SECURITY}"
    assert goes_to(mira.ask("POST", "/logout", data={})) == "/login"


@pytest.mark.parametrize(
    ("given", "leads"),
    [
        ("/settings/keys?before=1&x=%C3%BC", "/settings/keys?before=1&x=%C3%BC"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("https://elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/elsewhere.example", "/"),
        ("", "/"),
    ],
)
def test_it_goes_on_where_it_was(mira: Browser, given: str, leads: str) -> None:
    path = str(httpx.URL("/login", params={"next": given}))

    assert goes_to(mira.sign_in(path=path)) == leads
    if leads != "/":
        mira.cookies.clear()
        assert mira.sign_in("wrong", path).status_code == 401
        again = mira.send(LexborHTMLParser(mira.sign_in("wrong", path).text), password=PASSWORD)
        assert goes_to(again) == leads, "after a wrong password too"


def test_a_wrong_password(mira: Browser) -> None:
    answer = mira.sign_in("wrong password")

    assert answer.status_code == 401
    assert "wrong password" not in answer.text
    tree = LexborHTMLParser(answer.text)
    assert "password is wrong" in words(tree, "#errors")
    assert one(tree, "input[name=login]").attributes["value"] == mira.person.name
    assert mira.cookies == {}
    nobody = mira.send(mira.page("/login"), login="nobody_at_all", password="x")
    assert words(nobody, "#errors") == words(tree, "#errors")


def test_too_many_attempts_show_the_waiting_time(mira: Browser) -> None:
    for _ in range(4):
        assert mira.sign_in("wrong").status_code == 401
    answer = mira.sign_in()

    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "900"
    assert "15 minutes" in words(answer, "#errors")


def test_suspended_account_is_informed(mira: Browser) -> None:
    mira.person.server.run(mira.person.server.runtime.db.transact(suspend_account, mira.person.name))

    answer = mira.sign_in()
    assert answer.status_code == 403
    assert "suspended" in words(answer, "#errors")
    assert mira.sign_in("wrong").status_code == 401


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_the_sign_up_is_named_where_it_is_open(local_server: Any, mode: str) -> None:
    server = local_server(SIGNUP=mode)
    tree = LexborHTMLParser(httpx.get(f"{server.base_url}/login").text)
    links = [node.attributes.get("href") for node in tree.css("main a")]

    assert ("/signup" in links) is (mode == "open")


@pytest.mark.parametrize("path", ["/login", "/login/code", "/login/confirm", "/logout"])
def test_another_site_cannot_send_it(guarded: Browser, path: str) -> None:
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        data = {"login": guarded.person.name, "password": PASSWORD, "code": present(guarded)}
        answer = guarded.ask("POST", path, data=data, headers=headers)
        assert (answer.status_code, guarded.cookies) == (403, {})


def test_a_code_comes_on_its_own_page(guarded: Browser) -> None:
    answer = guarded.sign_in(path=f"/login?next={SECURITY}")

    assert goes_to(answer) == "/login/code?next=/settings/security"
    (cookie,) = answer.headers.get_list("set-cookie")
    parts = cookie.split("; ")
    assert set(parts[1:]) == {"Path=/login", "HttpOnly", "SameSite=Strict", "Max-Age=600"}
    assert guarded.cookies.keys() == {"sign_in"}
    token = guarded.cookies["sign_in"]
    assert len(token) == 43

    tree = guarded.page(goes_to(answer))
    assert token not in tree.html  # type: ignore[operator]  # a page that was parsed has text
    assert one(tree, "input[name=code]").attributes["autocomplete"] == "one-time-code"
    refused = guarded.send(tree, code=wrong(guarded))
    assert refused.status_code == 401
    assert "code is wrong" in words(refused, "#errors")
    done = guarded.send(LexborHTMLParser(refused.text), code=present(guarded))
    assert goes_to(done) == SECURITY
    assert guarded.cookies.keys() == {"session"}
    assert guarded.page(SECURITY)
    guarded.cookies = {"sign_in": token}
    assert goes_to(guarded.ask("GET", "/login/code")) == "/login?done=code-too-late", "the token is used up"
    assert token not in guarded.person.server.stream.getvalue()


def test_a_recovery_code_does_too_once(guarded: Browser) -> None:
    recovery = guarded.recovery[0]
    assert goes_to(guarded.send(guarded.page(goes_to(guarded.sign_in())), code=recovery)) == "/"
    guarded.cookies.clear()
    assert guarded.send(guarded.page(goes_to(guarded.sign_in())), code=recovery).status_code == 401
    assert recovery not in guarded.person.server.stream.getvalue()


def test_a_right_password_does_not_renew_the_guesses(guarded: Browser) -> None:
    for _ in range(4):
        guarded.cookies.clear()
        assert guarded.send(guarded.page(goes_to(guarded.sign_in())), code=wrong(guarded)).status_code == 401
    answer = guarded.send(guarded.page("/login/code"), code=present(guarded))
    assert answer.status_code == 429
    assert "15 minutes" in words(answer, "#errors")
    assert guarded.sign_in().status_code == 401, "in the same count, which sign-ins do not show"
    guarded.person.server.clock.advance(15 * MINUTE)
    guarded.cookies.clear()
    assert goes_to(guarded.send(guarded.page(goes_to(guarded.sign_in())), code=present(guarded))) == "/"


def test_a_sign_in_waits_ten_minutes_for_its_code(guarded: Browser) -> None:
    path = goes_to(guarded.sign_in(path="/login?next=/settings/keys"))
    tree = guarded.page(path)
    guarded.person.server.clock.advance(10 * MINUTE)

    late = guarded.send(tree, code=present(guarded))
    assert goes_to(late) == "/login?next=/settings/keys&done=code-too-late"
    assert guarded.cookies == {}
    assert "time for the code has passed" in words(guarded.page(goes_to(late)), "#done")
    assert goes_to(guarded.ask("GET", "/login/code")) == "/login?done=code-too-late"
    for data in ({}, {"code": ""}, {"code": "x" * 100}, {"code": "1", "other": "1"}):
        assert goes_to(guarded.ask("POST", "/login/code", data=data)) == "/login?done=code-too-late"
    for token in ("", "x" * 43, "x" * 5000, "é"):
        guarded.cookies = {"sign_in": token} if token.isascii() else {}
        assert goes_to(guarded.ask("POST", "/login/code", data={"code": "1"})) == "/login?done=code-too-late"


def test_a_suspension_ends_the_wait(guarded: Browser) -> None:
    tree = guarded.page(goes_to(guarded.sign_in()))
    guarded.person.server.run(guarded.person.server.runtime.db.transact(suspend_account, guarded.person.name))

    assert goes_to(guarded.send(tree, code=present(guarded))) == "/login?done=code-too-late"
    answer = guarded.sign_in()
    assert answer.status_code == 403
    assert "suspended" in words(answer, "#errors")


def stale(browser: Browser) -> None:
    """Signs in, and lets the password grow old."""
    assert goes_to(browser.sign_in()) == "/"
    browser.person.server.clock.advance(31 * MINUTE)


def test_a_page_asks_for_the_password_first(mira: Browser) -> None:
    stale(mira)
    tree = mira.page("/settings/keys/new?replace=x")
    assert "Confirm your password" in words(tree, "h1")

    refused = mira.send(tree, password="wrong")
    assert refused.status_code == 401
    assert "not your password" in words(refused, "#errors")
    done = mira.send(LexborHTMLParser(refused.text), password=PASSWORD)
    assert goes_to(done) == "/settings/keys/new?replace=x"
    assert "Confirm" not in words(mira.page("/settings/keys/new"), "h1")
    assert goes_to(mira.ask("GET", "/login/confirm?next=/settings/keys")) == "/settings/keys"


def test_a_form_asks_in_place_and_goes_on(mira: Browser) -> None:
    assert goes_to(mira.sign_in()) == "/"
    form = mira.page("/settings/keys/new")
    mira.person.server.clock.advance(31 * MINUTE)
    typed = {"label": 'Night <desk> & "co"', "scopes": ["posts:write", "media:write"], "ipAllowlist": "10.0.0.0/8\r\n"}

    asked = mira.send(form, **typed)
    assert asked.status_code == 403
    tree = LexborHTMLParser(asked.text)
    assert "Confirm your password" in words(tree, "h1")
    assert one(tree, "main form").attributes["action"] == "/settings/keys/new"
    refused = mira.send(tree, confirmed_password="wrong")
    assert refused.status_code == 401
    assert "wrong" not in [node.attributes.get("value") for node in LexborHTMLParser(refused.text).css("input")]
    made = mira.send(LexborHTMLParser(refused.text), confirmed_password=PASSWORD)

    assert made.status_code == 200
    assert re.search(r"svc_live_[0-9A-Za-z]{38}", made.text)
    assert PASSWORD not in made.text
    again = mira.send(LexborHTMLParser(refused.text), confirmed_password=PASSWORD)
    assert "shown once" in words(again), "it acts once"
    (key,) = body_of(mira.ask("GET", "/api/auth/api-keys"))["apiKeys"]
    assert key["label"] == typed["label"]
    assert sorted(key["scopes"]) == sorted(typed["scopes"])
    assert key["ipAllowlist"] == ["10.0.0.0/8"]


def test_hostile_text_is_kept_as_text(mira: Browser) -> None:
    stale(mira)
    data = {"label": HOSTILE, "scopes": "posts:write", HOSTILE: HOSTILE}

    asked = mira.ask("POST", "/settings/keys/new", data=data)
    tree = LexborHTMLParser(asked.text)
    assert tree.css_first("main script") is None
    kept = {
        node.attributes.get("name"): node.text() if node.tag == "textarea" else node.attributes.get("value")
        for node in tree.css("main form [name]")
    }
    assert str(kept["label"]).replace("\r", "") == HOSTILE.replace("\r", "")


def test_wrong_passwords_there_are_failed_sign_ins(mira: Browser) -> None:
    stale(mira)
    for _ in range(4):
        asked = mira.ask("POST", "/settings/keys/new", data={"label": "x", "confirmed_password": "wrong"})
        assert asked.status_code == 401
    asked = mira.ask("POST", "/settings/keys/new", data={"label": "x", "confirmed_password": PASSWORD})
    assert asked.status_code == 429
    assert "15 minutes" in words(asked, "#errors")
    assert mira.send(mira.page("/settings/keys/new"), password=PASSWORD).status_code == 429
    assert mira.person.sign_in().status_code == 401, "in the same count, which sign-ins do not show"


def test_a_recent_session_ignores_the_password_field(mira: Browser) -> None:
    assert goes_to(mira.sign_in()) == "/"
    tree = mira.page("/settings/keys/new")

    made = mira.send(tree, label="One", scopes="posts:write", confirmed_password="whatever")
    assert "svc_live_" in made.text


def test_form_sent_after_sign_out_redirects_to_sign_in(mira: Browser) -> None:
    stale(mira)
    tree = mira.page("/settings/keys/new")
    mira.cookies.clear()

    answer = mira.send(tree, password=PASSWORD)
    assert urlsplit(goes_to(answer)).path == "/login"
    assert parse_qs(urlsplit(goes_to(answer)).query)["next"] == ["/settings/keys/new"]


@needs_chromium
@needs_axe
def test_both_steps_in_a_browser(guarded: Browser, open_tab: OpenTab) -> None:
    tab = open_tab(guarded.person.server)
    tab.open(f"/login?next={SECURITY}")
    tab.page.fill("[name=login]", guarded.person.name)
    tab.page.fill("[name=password]", PASSWORD)
    tab.page.click("[data-show-password]")
    assert tab.page.input_value("input[type=text][name=password]") == PASSWORD
    tab.page.press("[name=password]", "Enter")
    tab.page.wait_for_url("**/login/code**")
    for width in (1280, 320):
        for dark in (False, True):
            tab.show(width, dark=dark)
            assert list(Inspection(tab.page).complaints()) == []
            assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    tab.page.keyboard.type(present(guarded))
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url(f"**{SECURITY}")
    tab.page.click("header summary")
    tab.page.click("header button")
    tab.page.wait_for_url(re.compile("done=signed-out"))


def test_pages_ignore_the_password_of_a_proxy(alice: Actor) -> None:
    assert alice.web.get("/settings/keys", headers={"Authorization": "Basic YTpi"}).status_code == 200
    assert alice.web.get("/settings/keys", headers={"Authorization": "Bearer x"}).status_code == 401


def test_a_nul_is_refused_before_the_password_is_asked_for(mira: Browser) -> None:
    """The question would keep it in a hidden field, and browsers read another character there."""
    stale(mira)

    for typed in ({"label": "a\0b"}, {"label": "One", "scopes": "posts:write\0"}, {"label": "One", "expiryAt": "\0"}):
        refused = mira.ask("POST", "/settings/keys/new", data={"scopes": "posts:write", "expiry": "90d", **typed})
        assert refused.status_code == 400
        assert "Confirm your password" not in words(refused)
