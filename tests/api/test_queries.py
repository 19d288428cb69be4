"""Query strings: bounded, without NULs (PostgreSQL has no text for them), and under /api without unknown parameters."""

import re

import pytest

from pressroom.ids import new_id
from pressroom.server.routes import API_ROUTES
from pressroom.web.access import Anyone, Keyed, Public
from tests.api.actors import Actor, field_errors
from tests.api.conftest import MakeActor, one_engine
from tests.api.sockets import Wire
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY

API = {
    "/api/admin/accounts?username=%00": "username",
    "/api/admin/accounts?username=a%00b": "username",
    "/api/admin/reports?state=%00": "state",
    "/api/follows/suggestions?prefix=%00": "prefix",
    "/api/posts?cursor=%00": "cursor",
    "/api/posts?%00=x": "query",
    "/api/posts?a%00": "query",
}
PAGES = (
    "/admin/accounts?search=%00",
    "/admin/accounts?search=x%00y",
    "/report?type=post&id=%00",
    "/report?type=comment&id=01K%00",
    "/report?type=account&id=%00",
    "/follows?list=%00",
    "/signup?invite=%00",
    "/login?next=%00",
    "/setup?token=%00",
    "/?before=%00",
    "/?%00",
)


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    """Somebody who finds the admins' addresses too."""
    return actor().become_admin()


@pytest.mark.parametrize(("path", "field"), API.items())
def test_the_api_names_the_parameter(admin: Actor, path: str, field: str) -> None:
    assert field_errors(admin.web.get(path)) == [(field, "invalid_format")]


@pytest.mark.parametrize("path", PAGES)
def test_page_with_a_bad_query_shows_the_errors(admin: Actor, path: str) -> None:
    answer = admin.web.get(path)

    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"].startswith("text/html")


@one_engine
def test_unknown_parameter_is_400_on_every_route(admin: Actor, subtests: pytest.Subtests) -> None:
    for route in API_ROUTES:
        with subtests.test(route.name):
            path = re.sub(r"{\w+}", new_id(admin.server.clock.now()), route.path)
            sender = admin.api if isinstance(route.access, Keyed) and route.access.key_only else admin.web

            answer = sender.request(route.method, f"{path}?colour=red")

            assert field_errors(answer) == [("query.colour", "unknown_field")]
            if not isinstance(route.access, Public | Anyone):
                assert "X-RateLimit-Limit" in admin.api.request(route.method, f"{path}?colour=red").headers


@one_engine
@pytest.mark.parametrize(
    ("query", "message"),
    {
        "limt=5": "There is no such parameter; did you mean limit?",
        "Cursor=": "There is no such parameter; did you mean cursor?",
        "colour=red": "There is no such parameter. This route takes limit, cursor.",
        "limit=5&limit_=5": "There is no such parameter; did you mean limit?",
    }.items(),
)
def test_unknown_parameter_is_answered_with_the_nearest(alice: Actor, query: str, message: str) -> None:
    (detail,) = alice.web.get(f"/api/posts?{query}").json()["details"]

    assert detail["message"] == message


@one_engine
def test_unknown_parameter_of_a_route_without_any_is_named(alice: Actor) -> None:
    (detail,) = alice.api.get("/api/auth/me?limit=5").json()["details"]

    assert (detail["field"], detail["message"]) == (
        "query.limit",
        "There is no such parameter. This route takes none.",
    )


@one_engine
@pytest.mark.parametrize(
    ("query", "faults"),
    {
        "x=%00": [("query.x", "unknown_field")],
        "x=%00&limit=%00": [("query.x", "unknown_field"), ("limit", "invalid_format")],
        "limit=%00&cursor=%00": [("limit", "invalid_format"), ("cursor", "invalid_format")],
        "x=1&%00=1": [("query.x", "unknown_field"), ("query", "invalid_format")],
        "x=1&limit=0": [("query.x", "unknown_field")],
    }.items(),
)
def test_nul_is_named_after_a_parameter_that_the_route_takes(
    alice: Actor, query: str, faults: list[tuple[str, str]]
) -> None:
    assert field_errors(alice.web.get(f"/api/posts?{query}")) == faults


@one_engine
def test_unknown_field_is_answered_with_the_nearest(alice: Actor) -> None:
    answer = alice.api.post("/api/posts", json={"content": "a", "visibilty": "PRIVATE", "location": {"lattitude": 1}})

    messages = {each["field"]: each["message"] for each in answer.json()["details"]}
    assert messages["visibilty"] == "There is no such field; did you mean visibility?"
    assert messages["location.lattitude"] == "There is no such field; did you mean latitude?"


@one_engine
def test_unknown_field_of_a_form_is_answered_with_the_nearest(alice: Actor) -> None:
    names = ["visibilty", "medai", "colour"]
    answer = alice.api.post("/api/posts/upload", files=[(name, (None, b"x")) for name in names])

    messages = {each["field"]: each["message"] for each in answer.json()["details"]}
    assert messages["visibilty"] == "There is no such field; did you mean visibility?"
    assert messages["medai"] == "There is no such field; did you mean media?"
    assert messages["colour"].startswith("There is no such field; the form takes media, content, ")


@one_engine
def test_many_long_names_are_shown_in_part(alice: Actor) -> None:
    names = [f"{number:02}" + "limit" * 14 for number in range(100)]
    answer = alice.api.get("/api/posts?" + "&".join(names))

    assert answer.status_code == 403, "a session-only route comes first"
    shown = alice.web.get("/api/posts?" + "&".join(names))
    assert (shown.status_code, len(shown.json()["details"])) == (400, 100)
    long = alice.web.get("/api/posts?" + "x" * 5_000)
    assert (long.status_code, len(long.content) < 1_000) == (400, True)


@one_engine
@pytest.mark.parametrize("path", ["/api/posts", "/login", "/follows"])
def test_more_than_a_hundred_parameters_are_400(alice: Actor, path: str) -> None:
    assert alice.web.get(f"{path}?" + "&".join(f"before{number}=" for number in range(101))).status_code == 400


@one_engine
def test_parameters_of_a_page_are_not_checked_by_name(alice: Actor) -> None:
    assert alice.web.get("/follows?utm_source=letter").status_code == 200


@one_engine
@pytest.mark.parametrize("path", ["/api/posts", "/api/nothing", "/@nobody", "/healthz", "/openapi.json", "/static/x"])
def test_target_over_8_kib_is_414(server: LocalServer, alice: Actor, path: str) -> None:
    for target in (f"{path}?{'%41&' * 15_500}", f"{path}?".ljust(8_193, "a"), path + "/%41" * 2_100):
        answer = alice.web.get(target)

        assert answer.status_code == 414, target[:40]
        assert answer.headers["X-Request-Id"]
        if path.startswith("/api/"):
            assert answer.json()["error"] == "URI too long"
            assert answer.headers["X-Service-Api-Version"] == "1"
    assert alice.web.get(f"{path}?".ljust(8_192, "a")).status_code != 414


@one_engine
def test_target_beyond_all_bounds_is_refused(server: LocalServer) -> None:
    with Wire(server) as wire:
        wire.send(b"GET /api/posts?" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

        assert wire.reply().status == 414


@pytest.mark.parametrize("subject_id", ["\0", "01K\0", "x", ""])
@pytest.mark.parametrize("subject", ["post", "comment", "account"])
def test_reported_subject_needs_an_id(alice: Actor, subject: str, subject_id: str) -> None:
    answer = alice.web.post("/report", data={"type": subject, "id": subject_id, "reason": "It is an advertisement."})

    assert answer.status_code in (400, 404), answer.text
    assert answer.headers["content-type"].startswith("text/html")
