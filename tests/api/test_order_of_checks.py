"""The answer to a request with several faults: key, address, limits, scope, body, replay, quota."""

import httpx
import pytest

from pressroom.clock import DAY
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy, Scope
from tests.api.actors import NOTHING, Actor, field_errors, nobody
from tests.api.conftest import MakeActor, one_engine

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "REQUESTS_PER_MINUTE": 5,
    "POSTS_PER_MINUTE": 4,
    "DAILY_CONTENT_QUOTA": 2,
}

INSIDE, OUTSIDE = {"X-Forwarded-For": "203.0.113.7"}, {"X-Forwarded-For": "198.51.100.7"}
ALLOWED = ("203.0.113.0/24",)
BAD = {"visibilty": "PRIVATE"}


def label(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


def exhaust(actor: Actor, **headers: str) -> None:
    """Uses up the key's minute."""
    answers = [actor.api.get("/api/auth/me", headers=headers) for _ in range(5)]
    assert answers[-1].headers["X-RateLimit-Remaining"] == "0"


def test_a_dead_key_is_refused_before_its_address_is_looked_at(actor: MakeActor) -> None:
    revoked = actor(ips=ALLOWED)
    revoked.server.run(revoked.server.runtime.db.transact(revoke_key, revoked.record.id, RevokedBy.ADMIN, "test"))
    expired = actor(ips=ALLOWED, expires_at=revoked.server.clock.now())

    for dead, error in ((revoked, "API key revoked"), (expired, "API key expired")):
        answer = dead.api.post("/api/posts", json=BAD, headers=OUTSIDE)
        assert label(answer) == (401, error)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert not [name for name in answer.headers if name.startswith("x-ratelimit")]


def test_a_wrong_address_comes_before_the_limits_and_costs_nothing(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_DELETE, ips=ALLOWED)

    for _ in range(7):
        answer = alice.api.post("/api/posts", json=BAD, headers=OUTSIDE)
        assert label(answer) == (403, "IP address not allowed")
        assert answer.headers["X-RateLimit-Remaining"] == "5"
    exhaust(alice, **INSIDE)
    answer = alice.api.post("/api/posts", json=BAD, headers=OUTSIDE)
    assert label(answer) == (403, "IP address not allowed")
    assert answer.headers["X-RateLimit-Remaining"] == "0"


def test_a_limit_comes_before_the_kind_of_route_the_scope_and_the_body(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_DELETE)
    exhaust(alice)

    for method, path in (("POST", "/api/posts"), ("GET", "/api/auth/api-keys"), ("POST", "/api/auth/login")):
        answer = alice.api.request(method, path, json=BAD)
        assert label(answer) == (429, "Rate limit exceeded")
        assert answer.headers["X-RateLimit-Remaining"] == "0"


SESSION_ROUTES = [
    ("PATCH", "/api/auth/me"),
    ("POST", "/api/auth/logout"),
    ("POST", "/api/auth/login"),
    ("POST", "/api/auth/signup"),
    ("GET", "/api/auth/api-keys"),
    ("POST", "/api/auth/api-keys"),
    ("GET", "/api/auth/api-keys/any"),
    ("DELETE", "/api/auth/api-keys/any"),
]


@one_engine
@pytest.mark.parametrize(("method", "path"), SESSION_ROUTES, ids=" ".join)
def test_a_key_on_a_route_for_people_is_a_request_that_is_refused(alice: Actor, method: str, path: str) -> None:
    answer = alice.api.request(method, path, json=BAD, headers={"Cookie": alice.cookie})

    assert label(answer) == (403, "Session required")
    assert answer.headers["X-RateLimit-Remaining"] == "4"
    assert alice.api.get("/api/auth/me").headers["X-RateLimit-Remaining"] == "3"


@one_engine
@pytest.mark.parametrize(("method", "path"), SESSION_ROUTES, ids=" ".join)
def test_no_key_on_a_route_for_people_is_no_key(alice: Actor, method: str, path: str) -> None:
    headers = {"Authorization": "Bearer svc_live_nonsense", "Cookie": alice.cookie}

    assert label(alice.web.request(method, path, json=BAD, headers=headers)) == (401, "Invalid API key")


def test_a_missing_scope_comes_before_the_body(actor: MakeActor) -> None:
    alice = actor(*(scope for scope in Scope if scope is not Scope.POSTS_WRITE))

    for content, kind in ((b"{", "application/json"), (b"a", "text/plain"), (b" " * 300_000, "application/json")):
        answer = alice.api.post("/api/posts", content=content, headers={"Content-Type": kind})
        assert label(answer) == (403, "Missing required scope")
        assert answer.json()["requiredScope"] == "posts:write"
        assert answer.headers["X-RateLimit-Limit"] == "5"
        alice.server.clock.advance(60_000)
    assert alice.written() == NOTHING


def test_the_smallest_scopes_suffice(actor: MakeActor) -> None:
    assert actor(Scope.POSTS_WRITE).post().status_code == 201
    assert actor(Scope.CLIPS_WRITE).api.get("/api/auth/me").status_code == 200


def test_unknown_parameter_comes_before_header_and_body(alice: Actor) -> None:
    header = {"Idempotency-Key": ""}

    for kind in ("application/json", "text/plain"):
        answer = alice.api.post("/api/posts?visibilty=x", content=b"{", headers={**header, "Content-Type": kind})
        assert field_errors(answer) == [("query.visibilty", "unknown_field")]
    assert field_errors(alice.api.post("/api/posts", json=BAD, headers=header)) == [
        ("header.Idempotency-Key", "invalid_format"),
        ("visibilty", "unknown_field"),
        ("content", "required"),
    ]
    assert alice.written() == NOTHING


def test_the_body_comes_before_the_replay(alice: Actor) -> None:
    assert alice.post("once", "k").status_code == 201

    answer = alice.api.post("/api/posts", json=BAD, headers={"Idempotency-Key": "k"})

    assert label(answer) == (400, "Validation failed")
    assert alice.post("again", "k").status_code == 200


def test_the_replay_comes_before_the_quota_and_the_quota_last(alice: Actor) -> None:
    midnight = (alice.server.clock.now() // DAY + 1) * DAY
    first = alice.post("first", "k")
    assert alice.post("second").status_code == 201

    replay, third, bad = alice.post("first", "k"), alice.post("third"), alice.api.post("/api/posts", json=BAD)

    assert (replay.status_code, replay.content) == (200, first.content)
    assert label(third) == (429, "Daily content quota exceeded")
    assert third.json()["retryAfter"] == -(-(midnight - alice.server.clock.now()) // 1000)
    assert third.headers["Retry-After"] == str(third.json()["retryAfter"])
    assert third.headers["X-RateLimit-Remaining"] == "1"
    assert label(bad) == (429, "Rate limit exceeded"), "five posts were sent, four are allowed in a minute"
    assert alice.written() == (2, 2, 2, 1)


def test_a_stranger_s_session_is_none_before_it_is_cross_origin(alice: Actor) -> None:
    elsewhere = {"Origin": "https://elsewhere.example"}

    url, cookie = f"{alice.server.base_url}/api/auth/logout", {"Cookie": "session=x"}
    stranger = nobody.post(url, headers={**elsewhere, **cookie})
    somebody = alice.web.patch("/api/auth/me", json=BAD, headers=elsewhere)

    assert label(stranger) == (401, "Not signed in")
    assert label(somebody) == (403, "Cross-origin request refused")
