"""Coming in without a password: sign-up, a forgotten password, and the links in mails, as forms without script."""

import itertools

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.db import Query
from pressroom.domains.sign_in.links import issue_reset
from pressroom.domains.sign_in.tokens import Purpose, issue_token
from tests.api.actors import Actor, nobody
from tests.harness.local import LocalServer

SETTINGS = {"DEV": 1, "TRUSTED_PROXIES": "127.0.0.1/32"}
PASSWORD = "nine plums and a kettle"
OTHER = "ten plums and a kettle"

_numbers = itertools.count(1)


def parse(answer: httpx.Response, status: int = 200) -> LexborHTMLParser:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    return LexborHTMLParser(answer.text)


def text(page: LexborHTMLParser, selector: str = "main") -> str:
    found = page.css_first(selector)
    assert found is not None, f"there is no {selector}"
    return " ".join(found.text().split())


def get(server: LocalServer, path: str, cookie: str = "") -> httpx.Response:
    return nobody.get(server.base_url + path, headers={"Cookie": cookie} if cookie else {})


def send(server: LocalServer, path: str, cookie: str = "", client: str = "", **fields: str) -> httpx.Response:
    headers = {"X-Forwarded-For": client or f"198.51.100.{next(_numbers) % 250}", "Sec-Fetch-Site": "same-origin"}
    headers |= {"Cookie": cookie} if cookie else {}
    return nobody.post(server.base_url + path, data=fields, headers=headers)


def session_of(answer: httpx.Response) -> str:
    cookie = answer.headers["set-cookie"].partition(";")[0]
    assert len(cookie) == len("session=") + 43
    return cookie


def newcomer() -> dict[str, str]:
    name = f"comer{next(_numbers)}"
    return {"username": name, "email": f"{name}@example.org", "password": PASSWORD, "displayName": ""}


def latest(server: LocalServer, page: str, email: str) -> str:
    """The path of the link in the newest mail to an address, as /dev/mail shows it."""
    server.do_jobs()
    letters = [each for each in parse(get(server, "/dev/mail")).css(".letter") if email in each.text()]
    found = letters[0].css_first("a")
    assert found is not None
    link = found.attributes["href"] or ""
    assert link.startswith(f"{server.base_url}/{page}/")
    return link.removeprefix(server.base_url)


def test_somebody_signs_up_and_confirms_the_address(server: LocalServer) -> None:
    page = parse(get(server, "/signup"))
    assert [each.attributes.get("autocomplete") for each in page.css("form input:not([type=hidden])")] == [
        *("username", "email", "new-password", "name"),
    ]
    body = newcomer()
    made = send(server, "/signup", **body)
    assert (made.status_code, made.headers["location"]) == (303, "/?done=signed-up")
    cookie = session_of(made)
    home = parse(get(server, "/?done=signed-up", cookie))
    assert "Your account is made" in text(home, "#done")
    assert f"We do not know yet that {body['email']} is yours" in text(home)

    link = latest(server, "verify", body["email"])
    for _ in range(2):
        assert "Confirm your e-mail address" in text(parse(get(server, link)))
    assert get(server, link).headers["referrer-policy"] == "origin"
    confirmed = send(server, link)
    assert (confirmed.status_code, confirmed.headers["location"]) == (303, "/?done=email-confirmed")
    assert "We do not know" not in text(parse(get(server, "/", cookie)))
    assert "does not work any more" in text(parse(get(server, link), 404))
    assert "does not work any more" in text(parse(send(server, link), 422))
    assert link.rpartition("/")[2] not in server.stream.getvalue()


def test_errors_of_a_sign_up_stand_beside_their_fields(server: LocalServer) -> None:
    sent = {"username": "a b", "email": "<b>@x", "password": "short", "displayName": "\u202e<i>"}
    page = parse(send(server, "/signup", **sent), 400)
    assert {each.attributes.get("id") for each in page.css("[aria-invalid=true]")} == {
        *("f-username", "f-email", "f-password", "f-displayName"),
    }
    assert {each.attributes.get("href") for each in page.css("#errors a")} == {
        *("#f-username", "#f-email", "#f-password", "#f-displayName"),
    }
    shown = {each.attributes.get("name"): each.attributes.get("value") for each in page.css("form input")}
    assert (shown["username"], shown["email"], shown["password"]) == ("a b", "<b>@x", None)
    assert "short" not in page.html  # type: ignore[operator]  # a page has a text

    body = newcomer()
    send(server, "/signup", **body)
    taken = parse(send(server, "/signup", **{**body, "email": "another@example.org"}), 409)
    assert f"The user name {body['username']} is taken." in text(taken, "#errors")


def test_signing_up_goes_on_where_it_was(server: LocalServer) -> None:
    page = parse(get(server, "/login?next=/settings/keys"))
    path = next(
        each.attributes["href"] or "" for each in page.css("main a") if "signup" in (each.attributes["href"] or "")
    )
    form = parse(get(server, path)).css_first("main form")
    assert form is not None
    done = send(server, form.attributes["action"] or "", **newcomer())
    assert done.headers["location"] == "/settings/keys?done=signed-up"


def test_a_form_of_sign_up_sent_after_another_tab_signed_up_leads_to_the_front_page(server: LocalServer) -> None:
    body = newcomer()
    cookie = session_of(send(server, "/signup", **body))
    assert get(server, "/signup?next=/settings/keys", cookie).headers["location"] == "/settings/keys"
    accounts = count_accounts(server)
    for each in (body, newcomer(), {**newcomer(), "password": "short"}):
        again = send(server, "/signup", cookie, **each)
        assert (again.status_code, again.headers["location"]) == (303, "/?done=signed-in-already")
    assert "sign out first" in text(parse(get(server, "/?done=signed-in-already", cookie)), "#done")
    assert count_accounts(server) == accounts, "no second one"


def count_accounts(server: LocalServer) -> int:
    counted = Query(int, "SELECT count(*) FROM accounts")
    return server.run(server.runtime.db.one(counted)) or 0


@pytest.mark.parametrize("by", ["JSON", "sign-up by JSON", "link by JSON", "form", "link"])
def test_signing_in_anew_ends_the_session_before(server: LocalServer, by: str) -> None:
    body = newcomer()
    before = session_of(send(server, "/signup", **body))
    other = newcomer()
    send(server, "/signup", **other)
    login = {"login": other["username"], "password": PASSWORD}
    link = server.run(server.runtime.db.transact(issue_token, server.account().id, Purpose.SIGN_IN))

    def by_json(path: str, **sent: str) -> httpx.Response:
        headers = {"Cookie": before, "X-Forwarded-For": f"198.51.100.{next(_numbers) % 250}"}
        return nobody.post(server.base_url + path, json=sent, headers=headers)

    assert send(server, "/login", before, **{**login, "password": OTHER}).status_code == 401
    assert get(server, "/api/auth/me", before).status_code == 200, "what fails ends nothing"
    answer = {
        "JSON": lambda: by_json("/api/auth/login", **login),
        "sign-up by JSON": lambda: by_json("/api/auth/signup", **{**newcomer(), "displayName": "x"}),
        "link by JSON": lambda: by_json("/api/auth/login/link", token=link),
        "form": lambda: send(server, "/login", before, **login),
        "link": lambda: send(server, f"/login/link/{link}", before),
    }[by]()

    assert answer.status_code in (200, 201, 303), answer.text
    assert get(server, "/api/auth/me", session_of(answer)).status_code == 200
    assert get(server, "/api/auth/me", before).status_code == 401


def test_a_sign_up_sent_twice_signs_in(server: LocalServer) -> None:
    body = newcomer()
    made, again = (send(server, "/signup", **body) for _ in range(2))
    assert {(each.status_code, each.headers["location"]) for each in (made, again)} == {(303, "/?done=signed-up")}
    assert body["email"] in text(parse(get(server, "/", session_of(again))))
    for other in ({"password": OTHER}, {"email": "other@example.org"}):
        assert send(server, "/signup", **{**body, **other}).status_code == 409
    server.clock.advance(5 * MINUTE + 1)
    assert send(server, "/signup", **body).status_code == 409


def test_form_of_a_link_sent_twice_gets_the_same_answer(server: LocalServer) -> None:
    account = server.account()

    def link(page: str, purpose: Purpose) -> str:
        return (
            f"/{page}/{server.run(server.runtime.db.transact(issue_token, account.id, purpose, email=account.email))}"
        )

    def sent_twice(path: str, **fields: str) -> str:
        key = one_key(server, path)
        first, second = (send(server, path, idempotency_key=key, **fields) for _ in range(2))
        assert first.status_code == second.status_code == 303
        assert first.headers["location"] == second.headers["location"]
        assert send(server, path, idempotency_key="another", **fields).status_code == 422
        assert send(server, path, **fields).status_code == 422
        return key

    sent_twice(link("verify", Purpose.VERIFY))
    path = link("reset", Purpose.RESET)
    key = sent_twice(path, password=OTHER)
    assert send(server, path, idempotency_key=key, password=PASSWORD).status_code == 422, "it set another password"
    server.clock.advance(HOUR)
    assert send(server, path, idempotency_key=key, password=OTHER).status_code == 422


def test_the_sign_in_link_s_form_sent_twice_signs_in_for_a_minute(server: LocalServer) -> None:
    account = server.account()
    path = f"/login/link/{server.run(server.runtime.db.transact(issue_token, account.id, Purpose.SIGN_IN))}"
    key = one_key(server, path)
    sessions = {session_of(send(server, path, idempotency_key=key)) for _ in range(2)}
    for cookie in sessions:
        assert account.email in text(parse(get(server, "/", cookie)))
    assert send(server, path, idempotency_key="another").status_code == 422
    server.clock.advance(MINUTE)
    assert send(server, path, idempotency_key=key).status_code == 422


def one_key(server: LocalServer, path: str) -> str:
    """The key that the form of a page holds."""
    field = parse(get(server, path)).css_first("[name=idempotency_key]")
    assert field is not None
    return field.attributes["value"] or ""


def test_exceeded_limit_names_its_time(server: LocalServer) -> None:
    client = f"203.0.113.{next(_numbers)}"
    email = f"limited{next(_numbers)}@example.org"
    for _ in range(3):
        assert send(server, "/forgot", client=client, email=email).status_code == 303
    limited = send(server, "/forgot", client=client, email=email)
    page = parse(limited, 429)
    assert "3 mails an hour" in text(page, "#errors")
    assert text(page, "#errors").lower().count("try again in") == 1, "the wait is told once"
    field = page.css_first("#f-email")
    assert field is not None
    assert field.attributes["value"] == email


def test_a_forgotten_password(server: LocalServer) -> None:
    body = newcomer()
    cookie = session_of(send(server, "/signup", **body))
    server.do_jobs()
    answers = [send(server, "/forgot", email=email) for email in (body["email"], "nobody@nowhere.example")]
    assert [(answer.status_code, answer.headers["location"]) for answer in answers] == [
        (303, "/forgot?done=reset-asked")
    ] * 2
    assert "If there is an account" in text(parse(get(server, "/forgot?done=reset-asked")), "#done")

    link = latest(server, "reset", body["email"])
    shown = parse(get(server, link))
    assert "signed out" in text(shown)
    assert not [each for each in shown.css("[action]") if link in (each.attributes["action"] or "")]
    again = parse(send(server, link, password="short"), 400)
    assert "10" in text(again, "#f-password-error")
    done = send(server, link, password=OTHER)
    assert (done.status_code, done.headers["location"]) == (303, "/login?done=password-set")
    assert get(server, "/api/auth/me", cookie).status_code == 401
    login = {"login": body["username"], "password": OTHER}
    assert nobody.post(f"{server.base_url}/api/auth/login", json=login).status_code == 200
    assert "does not work any more" in text(parse(send(server, link, password=PASSWORD), 422))
    assert "does not work any more" in text(parse(get(server, link), 404))
    server.runtime.log.flush()
    assert link.rpartition("/")[2] not in server.stream.getvalue()
    assert "/reset/[token]" in server.stream.getvalue()


def test_the_first_link_signs_in_by_its_button_alone(server: LocalServer) -> None:
    account = server.account()
    token = server.run(server.runtime.db.transact(issue_token, account.id, Purpose.SIGN_IN))
    for _ in range(2):
        assert "set-cookie" not in get(server, f"/login/link/{token}").headers
    done = send(server, f"/login/link/{token}")
    assert (done.status_code, done.headers["location"]) == (303, "/?done=signed-in")
    assert account.email in text(parse(get(server, "/", session_of(done))))
    assert send(server, f"/login/link/{token}").status_code == 422


@pytest.mark.parametrize("page", ["reset", "verify", "login/link"])
def test_another_site_cannot_send_the_form(server: LocalServer, page: str) -> None:
    account = server.account()
    purpose = {"reset": Purpose.RESET, "verify": Purpose.VERIFY, "login/link": Purpose.SIGN_IN}[page]
    token = server.run(server.runtime.db.transact(issue_token, account.id, purpose, email=account.email))
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}):
        answer = nobody.post(f"{server.base_url}/{page}/{token}", data={"password": OTHER}, headers=headers)
        assert answer.status_code == 403
    assert send(server, f"/{page}/{token}", password=OTHER).status_code in (303, 400)


def test_the_confirmation_is_sent_again_three_times_an_hour(server: LocalServer) -> None:
    cookie = session_of(send(server, "/signup", **newcomer()))
    for _ in range(2):
        answer = send(server, "/verify/send", cookie)
        assert (answer.status_code, answer.headers["location"]) == (303, "/?done=verification-sent")
    limited = parse(send(server, "/verify/send", cookie), 429)
    assert "3 mails an hour" in text(limited, "#errors")
    assert send(server, "/verify/send").headers["location"].startswith("/login")


def test_confirmation_sent_again_shows_confirmed(server: LocalServer) -> None:
    body = newcomer()
    cookie = session_of(send(server, "/signup", **body))
    assert send(server, latest(server, "verify", body["email"])).status_code == 303
    page = parse(send(server, "/verify/send", cookie), 422)
    assert "Your e-mail address is confirmed already." in text(page, "#errors")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("", 200), ("LOCALHOST:1", 200), ("127.0.0.9", 200), ("[::1]:8000", 200)),
        *(("rebound.example", 404), ("127.0.0.1.example:8000", 404), ("10.0.0.1", 404), ("[", 404), ("[::2]", 404)),
    ],
)
def test_the_mail_of_development_mode_shows_under_no_foreign_name(server: LocalServer, host: str, status: int) -> None:
    headers = {"Host": host} if host else {}
    assert nobody.get(f"{server.base_url}/dev/mail", headers=headers).status_code == status


def test_the_mail_of_development_mode_shows_under_the_base_address(local_server: type[LocalServer]) -> None:
    dev = local_server(DEV=1, BASE_URL="http://10.1.2.3:8000")  # type: ignore[call-arg]  # the fixture makes servers
    for host, status in (("10.1.2.3:8000", 200), ("127.0.0.1", 200), ("evil.example", 404)):
        answer = nobody.get(f"http://127.0.0.1:{dev.port}/dev/mail", headers={"Host": host})
        assert answer.status_code == status, host


def test_closed_server_without_mail_shows_both(local_server: type[LocalServer]) -> None:
    plain = local_server(SIGNUP="closed")  # type: ignore[call-arg]  # the fixture makes servers
    assert "Sign-up is closed" in text(parse(get(plain, "/signup"), 404))
    assert "Sign-up is closed" in text(parse(send(plain, "/signup", **newcomer()), 404))
    forgot = parse(get(plain, "/forgot"))
    assert "sends no mail" in text(forgot)
    assert "pressroom account reset" in text(forgot)
    assert forgot.css_first("form") is None
    assert "Sign-up is closed" in text(parse(send(plain, "/signup", username="?"), 404))
    for email in ("a@example.org", "?"):
        assert "sends no mail" in text(parse(send(plain, "/forgot", email=email), 404))
    assert "does not work any more" in text(parse(send(plain, "/reset/absent", password="short"), 422))
    assert get(plain, "/dev/mail").status_code == 404
    assert "Make an account" not in text(parse(get(plain, "/")))
    name = plain.account().username
    token = plain.run(plain.runtime.db.transact(issue_reset, name))
    assert send(plain, f"/reset/{token}", password=OTHER).status_code == 303
    plain.clock.advance(DAY)


def test_front_page_describes_the_service(server: LocalServer) -> None:
    page = parse(get(server, "/"))
    links = {each.attributes.get("href") for each in page.css("main a")}
    assert {"/signup", "/docs"} <= links
    assert page.css("script") == []


def test_front_page_ticks_finished_steps(server: LocalServer, actor: object) -> None:
    account = server.account()
    token = server.run(server.runtime.db.transact(issue_token, account.id, Purpose.SIGN_IN))
    cookie = session_of(send(server, f"/login/link/{token}"))

    def ticked() -> list[bool]:
        steps = parse(get(server, "/", cookie)).css(".steps > li")
        return ["done" in (each.attributes.get("class") or "").split() for each in steps]

    assert ticked() == [False, False, False]
    _, key = server.key(account)
    assert ticked() == [True, False, False]
    headers = {"Authorization": f"Bearer {key}"}
    assert nobody.post(f"{server.base_url}/api/posts", json={"content": "One"}, headers=headers).status_code == 201
    assert ticked() == [True, True, False]
    keys = get(server, "/api/auth/api-keys", cookie).json()["apiKeys"]
    endpoint = {"url": "http://127.0.0.1:9/hook", "events": ["post.created"]}
    made = nobody.post(
        f"{server.base_url}/api/auth/api-keys/{keys[0]['id']}/webhooks", json=endpoint, headers={"Cookie": cookie}
    )
    assert made.status_code == 201
    assert ticked() == [], "all is done, and nothing is said of it any more"


def test_somebody_signed_in_needs_no_sign_up(server: LocalServer, alice: Actor) -> None:
    answer = alice.web.get("/signup")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
