"""The pages of profile, password, e-mail address, sessions and log, without script."""

from collections.abc import Iterator

import pytest

from pressroom.clock import MINUTE
from tests.api.actors import body_of
from tests.api.people import Person, token_of
from tests.harness.local import LocalServer
from tests.pages.without_script import Browser, goes_to, one, words

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "DEV": 1,
    "SIGNUP": "open",
    "SESSION_WRITES_PER_MINUTE": 1_000,
}
SECURITY = "/settings/security"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
NEW = "seven boats by the pier"


@pytest.fixture
def mira(server: LocalServer) -> Iterator[Browser]:
    """Somebody who is signed in."""
    browser = Browser(Person(server))
    with browser.web:
        browser.sign_in()
        yield browser


def test_edited_profile_shows_a_notice(mira: Browser) -> None:
    fields = {"displayName": "Mira Okafor", "bio": "Ink <b>& paper</b>", "isPrivate": "true"}
    assert goes_to(mira.send(mira.page("/settings/profile"), **fields)) == "/settings/profile?done=profile-saved"

    page = mira.page("/settings/profile?done=profile-saved")
    assert "Your profile is saved." in words(page)
    assert one(page, "textarea[name=bio]").text().strip() == "Ink <b>& paper</b>"
    assert "checked" in one(page, "input[name=isPrivate]").attributes
    assert "checked" in one(page, "input[name=discoverable]").attributes
    goes_to(mira.send(page, bio="", discoverable=[]))
    me = body_of(mira.person.me(mira.cookies["session"]))
    assert (me["displayName"], me["bio"], me["isPrivate"], me["discoverable"]) == ("Mira Okafor", None, True, False)


def test_taken_name_comes_back_with_typed_values(mira: Browser) -> None:
    other = Person(mira.person.server)
    answer = mira.send(mira.page("/settings/profile"), username=other.name.upper(), bio="Kept")
    assert answer.status_code == 409
    assert f"The user name {other.name.upper()} is taken." in words(answer)
    assert "Kept" in answer.text


def test_a_password_is_changed_and_other_browsers_are_signed_out(mira: Browser) -> None:
    elsewhere = token_of(mira.person.sign_in())
    assert goes_to(mira.send(mira.page(f"{SECURITY}/password"), password=NEW)) == f"{SECURITY}?done=password-changed"
    assert "Every other session has ended." in words(mira.page(f"{SECURITY}?done=password-changed"))
    assert mira.person.me(elsewhere).status_code == 401
    assert mira.person.sign_in().status_code == 401
    assert mira.person.sign_in(NEW).status_code == 200


def test_an_older_session_gives_the_password_first(mira: Browser) -> None:
    page = mira.page(f"{SECURITY}/password")
    mira.person.server.clock.advance(31 * MINUTE)
    question = mira.send(page, password=NEW)
    assert question.status_code == 403
    assert NEW not in question.text
    assert mira.person.sign_in().status_code == 200


def test_an_address_is_changed_and_waits_to_be_confirmed(mira: Browser) -> None:
    page = mira.page(f"{SECURITY}/email")
    assert f"{mira.person.name}@example.org gets a notice" in words(page)
    taken = mira.send(page, email=f"{Person(mira.person.server).name}@example.org")
    assert taken.status_code == 409
    email = f"{mira.person.name}@new.example"
    assert goes_to(mira.send(page, email=email)) == f"{SECURITY}?done=email-changed"
    shown = words(mira.page(SECURITY))
    assert f"{email} Not confirmed" in shown


def test_sessions_are_shown_and_ended_one_and_all(mira: Browser) -> None:
    first, second, third = (
        token_of(mira.person.sign_in(headers={"User-Agent": agent})) for agent in (FIREFOX, "x", "<script>alert(1)")
    )
    page = mira.page(SECURITY)
    cards = [" ".join(card.text(separator=" ").split()) for card in page.css("li.card")]
    assert sum("This one" in card for card in cards) == 1
    assert any(card.startswith("Firefox on Linux") for card in cards)
    end = next(card for card in page.css("li.card") if "Firefox" in card.text())
    path = str(one(end, "form").attributes["action"])

    assert goes_to(mira.ask("POST", path, data={})) == f"{SECURITY}?done=session-ended"
    assert mira.person.me(first).status_code == 401
    assert mira.ask("POST", path, data={}).status_code == 404
    assert goes_to(mira.ask("POST", f"{SECURITY}/sessions/end-others", data={})) == f"{SECURITY}?done=sessions-ended"
    assert [mira.person.me(token).status_code for token in (second, third)] == [401, 401]
    assert mira.person.me(mira.cookies["session"]).status_code == 200


def test_somebody_else_s_session_is_not_there(mira: Browser) -> None:
    other = Person(mira.person.server)
    session_id = body_of(other.request("GET", "/api/auth/sessions", token=other.token))["sessions"][0]["id"]
    assert mira.ask("POST", f"{SECURITY}/sessions/{session_id}/end", data={}).status_code == 404
    assert other.me(other.token).status_code == 200


def test_log_shows_actor_time_and_address(mira: Browser) -> None:
    assert mira.person.sign_in("wrong", address="203.0.113.66").status_code == 401
    body = {"label": "<b>Ferry</b> bot", "scopes": ["posts:write"]}
    body_of(mira.person.request("POST", "/api/auth/api-keys", token=mira.cookies["session"], json=body), 201)
    page = mira.page("/settings/log")
    lines = [" ".join(row.text(separator=" ").split()) for row in page.css("tbody tr")]
    assert lines[0].startswith("API key made Key: <b>Ferry</b> bot")
    assert f"You {mira.person.address}" in lines[0]
    assert lines[1].startswith("Failed to sign in")
    assert lines[1].endswith("Somebody 203.0.113.66")
    assert lines[-1].startswith("Account made")


def test_a_long_log_goes_on_on_further_pages(mira: Browser) -> None:
    token = mira.cookies["session"]
    for number in range(55):
        body_of(mira.person.request("PATCH", "/api/auth/me", token=token, json={"bio": str(number)}))
    page = mira.page("/settings/log")
    assert len(page.css("tbody tr")) == 50
    further = str(one(page, "a[rel=next]").attributes["href"])
    rest = mira.page(further)
    assert 5 <= len(rest.css("tbody tr")) <= 10
    assert one(rest, "nav.pager a").attributes["href"] == "/settings/log"


def test_it_asks_for_the_sign_in(mira: Browser) -> None:
    mira.cookies.clear()
    for path in ("/settings/profile", "/settings/log", SECURITY, f"{SECURITY}/password", f"{SECURITY}/email"):
        assert goes_to(mira.ask("GET", path)).startswith("/login?next=")
