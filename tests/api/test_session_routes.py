"""Who may call which route: shown for every route of the API, as it is declared."""

import re
from collections.abc import Iterator

import httpx
import msgspec
import pytest

from pressroom.domains.accounts.models import Caller
from pressroom.domains.keys.models import Scope
from pressroom.ids import new_id
from pressroom.server.routes import API_ROUTES
from pressroom.web.access import Anyone, Keyed, SessionOnly
from pressroom.web.routing import Route
from tests.api.actors import Actor, new_client, refusal
from tests.api.conftest import one_engine
from tests.api.tables import held
from tests.harness.local import LocalServer

SETTINGS = {"REQUESTS_PER_MINUTE": 1_000_000, "REQUESTS_PER_DAY": 1_000_000}
LIMITS = {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"}
FROM_ELSEWHERE = (
    {"Origin": "https://elsewhere.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
)


def scope_of(route: Route[Caller]) -> str | None:
    """The scope that the route demands of a key."""
    return route.access.scope if isinstance(route.access, Keyed) else None


ROUTES = list(API_ROUTES)
FOR_PEOPLE = [route for route in ROUTES if isinstance(route.access, SessionOnly | Anyone)]
FOR_THE_SIGNED_IN = [route for route in ROUTES if isinstance(route.access, SessionOnly)]
FOR_KEYS = [route for route in ROUTES if isinstance(route.access, Keyed)]
FOR_KEYS_ALONE = [route for route in FOR_KEYS if not (isinstance(route.access, Keyed) and route.access.anyone)]
WITH_A_SCOPE = [route for route in FOR_KEYS if scope_of(route)]
UNSAFE = [route for route in ROUTES if route.method != "GET"]


class Door:
    """Alice and her keys, and nobody, before the routes of a server."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.alice = Actor(server)
        self.nobody = new_client(base_url=server.base_url)

    def refused(self, route: Route[Caller], client: httpx.Client, **headers: str) -> httpx.Response:
        """The answer to a request that has nothing wrong but its caller; it wrote nothing."""
        before = held(self.server)
        body = msgspec.json.encode(route.example) if route.example else b""
        path = re.sub(r"{\w+}", new_id(self.server.clock.now()), route.path)
        answer = client.request(route.method, path, content=body, headers=headers)
        assert held(self.server) == before
        return answer


@pytest.fixture(scope="module")
def door(server: LocalServer) -> Iterator[Door]:
    """The same for all tests."""
    door = Door(server)
    yield door
    for client in (*door.alice.clients(), door.nobody):
        client.close()


def limits_of(answer: httpx.Response) -> set[str]:
    """Which of the headers of a key's limits the answer bears, each with a number."""
    return {name for name in LIMITS if answer.headers.get(name, "").isdigit()}


def test_every_route_demands_something_that_is_tried_here() -> None:
    assert {route.name for route in ROUTES} == {route.name for route in (*FOR_PEOPLE, *FOR_KEYS)}
    assert {scope_of(route) for route in WITH_A_SCOPE} <= {scope.value for scope in Scope}
    assert all((FOR_PEOPLE, FOR_THE_SIGNED_IN, FOR_KEYS, WITH_A_SCOPE, UNSAFE))


def test_key_with_any_scopes_is_no_session(door: Door, subtests: pytest.Subtests) -> None:
    for route in FOR_PEOPLE:
        with subtests.test(route.name):
            for headers in ({}, {"Cookie": door.alice.cookie}, {"Origin": "https://elsewhere.example"}):
                answer = door.refused(route, door.alice.api, **headers)
                assert refusal(answer) == (403, "Session required")
                assert set(answer.json()) == {"error", "message"}
                assert limits_of(answer) == LIMITS


def test_session_routes_require_sign_in(door: Door, subtests: pytest.Subtests) -> None:
    cookies = ({}, {"Cookie": "session="}, {"Cookie": f"session={'A' * 43}"}, {"Cookie": f"other={door.alice.token}"})
    cookies = ({}, {"Cookie": "session="}, {"Cookie": f"session={'A' * 43}"}, {"Cookie": f"other={door.alice.token}"})
    for route in FOR_THE_SIGNED_IN:
        with subtests.test(route.name):
            for headers in (*cookies, {"Origin": "https://elsewhere.example"}):
                answer = door.refused(route, door.nobody, **headers)
                assert refusal(answer) == (401, "Not signed in")
                assert limits_of(answer) == set()


def test_another_site_cannot_act_with_a_session(door: Door, subtests: pytest.Subtests) -> None:
    for route in UNSAFE:
        with subtests.test(route.name):
            callers = [door.alice.web, door.nobody] if isinstance(route.access, Anyone) else [door.alice.web]
            for headers in FROM_ELSEWHERE:
                answers = [door.refused(route, caller, **headers) for caller in callers]
                assert [refusal(answer) for answer in answers] == [(403, "Cross-origin request refused")] * len(callers)


def test_a_key_needs_the_one_scope(door: Door, subtests: pytest.Subtests) -> None:
    for route in WITH_A_SCOPE:
        with subtests.test(route.name):
            others = [scope for scope in Scope if scope != scope_of(route)]
            _, key = door.server.key(door.server.account(), *others)

            answer = door.refused(route, door.nobody, Authorization=f"Bearer {key}")

            assert refusal(answer) == (403, "Missing required scope")
            assert answer.json()["requiredScope"] == scope_of(route)
            assert limits_of(answer) == LIMITS


def test_unknown_account_has_no_key(door: Door, subtests: pytest.Subtests) -> None:
    for route in FOR_KEYS_ALONE:
        with subtests.test(route.name):
            for headers in ({}, {"Cookie": f"session={'A' * 43}"}, {"Origin": "https://elsewhere.example"}):
                answer = door.refused(route, door.nobody, **headers)
                assert refusal(answer) == (401, "Missing API key")
                assert answer.headers["WWW-Authenticate"] == "Bearer"
                assert limits_of(answer) == set()


@one_engine
def test_invalid_key_is_401_even_with_a_session(door: Door, subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        with subtests.test(route.name):
            for authorization in ("Bearer", "Bearer svc_live_nonsense", f"Basic {door.alice.key}"):
                answer = door.refused(route, door.alice.web, Authorization=authorization)
                assert refusal(answer) == (401, "Invalid API key")
