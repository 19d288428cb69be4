"""A session older than 30 minutes asks for the password before what could lose the account."""

import re

import httpx
import msgspec
import pytest

from pressroom.clock import MINUTE
from pressroom.domains.accounts.models import Caller
from pressroom.domains.moderation.actions import set_admin
from pressroom.ids import new_id
from pressroom.server.routes import API_ROUTES
from pressroom.web.access import AdminOnly, SessionOnly
from pressroom.web.routing import Route
from tests.api.people import PASSWORD, Person, new_address, token_of
from tests.harness.local import LocalServer

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "SIGN_IN_FAILURES_PER_ACCOUNT": 3,
    "SESSION_WRITES_PER_MINUTE": 1_000,
}

RECENT = [route for route in API_ROUTES if isinstance(route.access, SessionOnly) and route.access.recent]
NEW_KEY = {"label": "x", "scopes": ["posts:write"]}


@pytest.fixture
def mira(server: LocalServer) -> Person:
    return Person(server)


def label(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


def make_key(person: Person, token: str = "") -> httpx.Response:
    return person.request("POST", "/api/auth/api-keys", token=token or person.token, json=NEW_KEY)


def confirm(
    person: Person, password: str = PASSWORD, token: str = "", address: str = "", key: str = ""
) -> httpx.Response:
    body, headers = {"password": password}, {"Idempotency-Key": key} if key else {}
    path, token = "/api/auth/confirm", token or person.token
    return person.request("POST", path, token=token, address=address, json=body, headers=headers)


def test_which_acts_ask() -> None:
    assert {route.name for route in RECENT} >= {
        "create_key",
        "create_webhook",
        "rotate_webhook",
        "replace_webhook",
        "begin_two_factor",
        "confirm_two_factor",
        "renew_recovery_codes",
        "remove_two_factor",
        "change_password",
        "change_email",
    }


@pytest.mark.parametrize("route", RECENT, ids=lambda route: route.name)
def test_a_session_that_is_too_old_is_refused(mira: Person, route: Route[Caller]) -> None:
    path = re.sub(r"{\w+}", new_id(mira.server.clock.now()), route.path)
    body = msgspec.json.encode(route.example) if route.example else b""
    if isinstance(route.access, AdminOnly):
        mira.server.run(mira.server.runtime.db.transact(set_admin, mira.name, is_admin=True))
    mira.server.clock.advance(30 * MINUTE + 1)

    answer = mira.request(route.method, path, token=mira.token, content=body)

    assert label(answer) == (403, "Password required")
    assert answer.json()["message"] == "Confirm your password first: POST /api/auth/confirm"
    if route.method != "GET":
        cross = {"Sec-Fetch-Site": "cross-site"}
        refused = mira.request(route.method, path, token=mira.token, content=body, headers=cross)
        assert label(refused) == (403, "Cross-origin request refused")
    assert confirm(mira).json() == {"message": "Password confirmed"}
    assert "Confirm" not in mira.request(route.method, path, token=mira.token, content=body).text


def test_the_password_lasts_thirty_minutes(mira: Person) -> None:
    mira.server.clock.advance(30 * MINUTE)
    assert make_key(mira).status_code == 201
    mira.server.clock.advance(1)
    assert label(make_key(mira)) == (403, "Password required")
    assert confirm(mira).status_code == 200
    mira.server.clock.advance(30 * MINUTE)
    assert make_key(mira).status_code == 201
    mira.server.clock.advance(1)
    assert label(make_key(mira)) == (403, "Password required")
    assert make_key(mira, token_of(mira.sign_in())).status_code == 201, "to sign in anew does as well"


def test_a_replay_confirms_as_well(mira: Person) -> None:
    for wrong in ("", "wrong"):
        mira.server.clock.advance(31 * MINUTE)
        answer = confirm(mira, wrong or PASSWORD, key="once")
        assert answer.status_code == (401 if wrong else 200), "the password is looked at each time"
    assert label(make_key(mira)) == (403, "Password required")
    replay = confirm(mira, key="once")
    assert (replay.status_code, replay.headers["Idempotent-Replayed"]) == (200, "true")
    assert make_key(mira).status_code == 201


def test_it_holds_for_the_one_session(mira: Person) -> None:
    other = token_of(mira.sign_in())
    mira.server.clock.advance(31 * MINUTE)

    assert confirm(mira, token=other).status_code == 200
    assert label(make_key(mira)) == (403, "Password required")
    assert make_key(mira, other).status_code == 201


def test_using_a_session_does_not_keep_it_recent(mira: Person) -> None:
    for _ in range(4):
        mira.server.clock.advance(10 * MINUTE)
        assert mira.me(mira.token).status_code == 200
    assert label(make_key(mira)) == (403, "Password required")


def test_a_wrong_password_is_a_failed_sign_in(mira: Person) -> None:
    mira.server.clock.advance(31 * MINUTE)
    for _ in range(3):
        assert label(confirm(mira, "wrong")) == (401, "Invalid credentials")
    refused = confirm(mira)
    assert label(refused) == (429, "Too many attempts")
    assert refused.headers["Retry-After"] == "900"
    assert label(mira.sign_in()) == (401, "Invalid credentials"), "in the same count, which sign-ins do not show"
    assert label(make_key(mira)) == (403, "Password required")

    elsewhere = new_address()
    assert confirm(mira, address=elsewhere).status_code == 200, "an address that failed nothing"
    mira.server.clock.advance(15 * MINUTE)
    assert [label(confirm(mira, "wrong"))[0] for _ in range(2)] == [401, 401]
    assert confirm(mira).status_code == 200
    assert [label(confirm(mira, "wrong"))[0] for _ in range(2)] == [401, 401], "a right one forgives those before it"


@pytest.mark.parametrize("body", [{}, {"password": 1}, {"password": "x" * 201}, {"password": "", "x": 1}], ids=str)
def test_bodies_that_cannot_be(mira: Person, body: object) -> None:
    answer = mira.request("POST", "/api/auth/confirm", token=mira.token, json=body)
    assert label(answer) == (400, "Validation failed")


def test_password_confirmation_requires_sign_in(mira: Person) -> None:
    assert label(mira.request("POST", "/api/auth/confirm", json={"password": PASSWORD})) == (401, "Not signed in")
