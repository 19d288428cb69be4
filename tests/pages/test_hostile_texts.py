"""Whatever people write, no route holds the event loop: every renderer of people's text, at the longest lists."""

import re
from collections.abc import Iterator
from itertools import chain

import pytest

from pressroom.domains.accounts.models import Caller
from pressroom.server.routes import ROUTES
from pressroom.server.slow_steps import SlowStep
from pressroom.web.routing import Route
from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor, one_engine
from tests.fuzz.slow_steps import REASONS, found_each_time, watch
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "DEV": 1, "SESSION_WRITES_PER_MINUTE": 100_000}

UNITS = {
    "ligatures": "#\ufdfa ",
    "mentions": "@abc ",
    "links": "http://a ",
    "signs": "&<>\"'",
    "marks": "a" + "\u0301" * 30,
    "lines": "\n\n\ta",
}
READ = [
    route
    for route in ROUTES
    if route.method == "GET" and not re.search(r"/static/|/avatars/|/docs|{(token|mediaId|deliveryId)}", route.path)
]


class Writer:
    """An admin whose posts, quotes, comments, profile, hub and reports are all one kind of text."""

    def __init__(self, person: Actor, other: Actor, unit: str, posts: int = 50) -> None:
        self.person = person
        dense = (unit * 5_000)[:5_000].strip()
        short = (unit * 500)[:500].strip()
        body_of(person.web.patch("/api/auth/me", json={"bio": short}))
        hub = body_of(person.web.post("/api/hubs", json={"name": "Wall", "slug": person.account.username}), 201)
        hook = f"/api/auth/api-keys/{person.record.id}/webhooks"
        endpoint = body_of(
            person.web.post(hook, json={"url": "http://127.0.0.1:9/hook", "events": ["post.created"]}), 201
        )
        for _ in range(posts):
            self.post = publish(person, dense, hubId=hub["id"])
            body_of(person.api.post(f"/api/posts/{self.post['id']}/bounce", json={"content": dense}), 201)
            body_of(person.web.post(f"/api/posts/{self.post['id']}/save"))
        comments = [
            body_of(other.api.post(f"/api/posts/{self.post['id']}/comments", json={"content": short}), 201)
            for _ in range(2 * posts)
        ]
        names = {
            "{username}": person.account.username,
            "{slug}": hub["slug"],
            "{name}": "\ufdfa",
            "{keyId}": person.record.id,
            "{webhookId}": endpoint["id"],
        }
        self.ids = {"/api/hubs/": hub["id"], "/comment/": comments[-1]["id"]}
        self.names = names

    def path(self, route: Route[Caller]) -> str:
        """The address of a route, with as long a list as it takes."""
        path = re.sub(r"{\w+}", lambda found: self.names.get(found[0], found[0]), route.path)
        id_ = next((each for start, each in self.ids.items() if path.startswith(start)), self.post["id"])
        path = path.replace("{id}", id_)
        if path == "/oembed":
            return f"/oembed?url={self.post['permalink']}"
        return f"{path}?limit=100" if route.paged else path


@pytest.fixture
def watched(server: LocalServer) -> Iterator[list[SlowStep]]:
    """The server's slow steps."""
    with watch(server) as found:
        yield found


@one_engine
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_no_text_makes_any_route_hold_the_loop(actor: MakeActor, watched: list[SlowStep], unit: str) -> None:
    list(read_all(Writer(actor().become_admin(), actor(), unit, posts=1)))  # Templates are compiled at their first use.

    def find() -> set[str]:
        watched.clear()
        writer = Writer(actor().become_admin(), actor(), unit)
        slow: set[str] = set()
        for name in chain(["writing"], read_all(writer), work(writer)):
            slow |= {f"{name}: {step.function}" for step in watched if step.function not in REASONS}
            watched.clear()
        return slow

    assert found_each_time(find) == set()


def work(writer: Writer) -> Iterator[str]:
    """Makes a copy of the account, and delivers its events; yields the name of each work once it is done."""
    body_of(writer.person.web.post("/api/auth/export"), 202)
    writer.person.server.do_jobs()
    yield "jobs"
    writer.person.server.deliver()
    yield "deliveries"


def read_all(writer: Writer) -> Iterator[str]:
    """Reads every page and list, signed in and by key; yields each route once it was read."""
    for route in READ:
        path = writer.path(route)
        for client in (writer.person.web, writer.person.api):
            assert client.get(path).status_code < 500, path
        yield route.path
