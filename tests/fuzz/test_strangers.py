"""However large a request is that needs no key: no answer is a 5xx, and no step holds the event loop.

Routes are found from their declarations, so a new one is tried by itself.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import httpx
import pytest

from pressroom.domains.accounts.models import Caller
from pressroom.server.routes import ROUTES
from pressroom.web.access import AdminOnly, AdminPage, Anyone, Keyed, Page, Public, SessionOnly, Visitor
from pressroom.web.routing import Route
from tests.api.actors import Actor, body_of, new_client, publish
from tests.fuzz.excess import Parts, Requests, headers, json_bodies, multipart_forms, page_forms, paths, targets
from tests.fuzz.slow_steps import REASONS, found_each_time, watch
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY


def is_open(route: Route[Caller]) -> bool:
    """Whether the route serves somebody who is not signed in. All static files are served alike: they are left out."""
    access = route.access
    is_for_all = isinstance(access, Anyone | Visitor | Public) or (isinstance(access, Keyed) and access.anyone)
    return is_for_all and "/static/" not in route.path


def is_of_accounts(route: Route[Caller]) -> bool:
    """Whether the route serves the session of an ordinary account."""
    return isinstance(route.access, Keyed | SessionOnly | Page) and not isinstance(route.access, AdminOnly | AdminPage)


OPEN = [route for route in ROUTES if is_open(route)]
OF_ACCOUNTS = [route for route in ROUTES if is_of_accounts(route)]
UPLOADS = [route for route in ROUTES if isinstance(route.access, Keyed) and route.form is not None]

Send = Callable[[Route[Caller], httpx.Client, Requests], None]


class Site:
    """A server with a post, a hub and a key, by which the paths of routes are filled."""

    def __init__(self, folder: Path) -> None:
        self.server = LocalServer(folder, **ROOMY, DEV=1).start()
        author = Actor(self.server)
        self._post = publish(author, "A #tag")
        self._hub = body_of(author.web.post("/api/hubs", json={"name": "Wall", "slug": "wall"}), 201)
        self._names = {
            "username": author.account.username,
            "slug": "wall",
            "name": "tag",
            "keyId": author.record.id,
        }
        self.failed: list[str] = []
        self.slow: dict[str, str] = {}
        """Of each function that held the loop the latest request."""

    def path(self, declared: str) -> str:
        """Returns a path with the names of existing things."""
        ids = {"id": self._hub["id"] if declared.startswith("/api/hubs/") else self._post["id"], **self._names}
        return re.sub(r"{(\w+)}", lambda found: ids.get(found[1], found[0]), declared)

    def find_slow(self, send: Callable[[Send], None]) -> set[str]:
        """Returns the functions that held the event loop while `send` sent its requests."""
        with watch(self.server) as found:

            def note(route: Route[Caller], client: httpx.Client, requests: Requests) -> None:
                for name, parts in requests:
                    sent: Parts = {"url": self.path(route.path), **parts}
                    answer = client.request(route.method, **sent)
                    where = f"{route.method} {route.path}, {name}"
                    if answer.status_code >= 500:
                        self.failed.append(f"{where}: {answer.status_code} {answer.text[:200]}")
                    self.slow |= {step.function: where for step in found}

            send(note)
        return {step.function for step in found if step.function not in REASONS}

    def check(self, send: Callable[[Send], None]) -> None:
        """Holds that nothing failed and nothing was slow in what `send` sends."""
        slow = found_each_time(lambda: self.find_slow(send))
        assert self.failed == []
        assert {function: self.slow.get(function) for function in slow} == {}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    yield made
    made.server.stop()


def bodies(route: Route[Caller], *, each_alone: bool) -> Requests:
    """The bodies that a route may be sent."""
    if route.page_form is not None:
        yield from page_forms(route, each_alone=each_alone)
    elif route.form is not None:
        yield from multipart_forms(route.form.signed_in, route.form.signed_in.fields)
    elif route.takes is not None:
        yield from json_bodies(route.takes, each_alone=each_alone)


def test_large_requests_of_strangers_hold_no_step_and_fail_nowhere(site: Site) -> None:
    def send(note: Send) -> None:
        with new_client(base_url=site.server.base_url) as stranger:
            for route in OPEN:
                path = site.path(route.path)
                heads = chain(targets(path), paths(route.path, site.path), headers())
                note(route, stranger, chain(heads, bodies(route, each_alone=True)))

    assert {route.path for route in OPEN} >= {"/login", "/api/auth/signup", "/api/posts/{id}", "/healthz"}
    site.check(send)


@pytest.mark.parametrize("routes", [OF_ACCOUNTS[start::4] for start in range(4)], ids=["1", "2", "3", "4"])
def test_large_requests_of_an_account_hold_no_step_and_fail_nowhere(site: Site, routes: list[Route[Caller]]) -> None:
    def send(note: Send) -> None:
        for route in routes:
            path = site.path(route.path)
            heads = chain(targets(path), headers()) if route.method == "GET" else ()
            with Actor(site.server).web as account:  # One for each route: some end the session.
                note(route, account, chain(heads, bodies(route, each_alone=False)))

    site.check(send)


def test_large_uploads_with_a_key_hold_no_step_and_fail_nowhere(site: Site) -> None:
    def send(note: Send) -> None:
        for route in UPLOADS:
            assert route.form is not None
            with Actor(site.server).api as holder:
                note(route, holder, multipart_forms(route.form.by_key, route.form.by_key.fields))

    assert UPLOADS
    site.check(send)
