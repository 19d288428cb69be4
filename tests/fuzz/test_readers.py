"""However dense the text is that others wrote: what somebody reads who follows them holds no step of the event loop.

Routes are found from their declarations, so a new one is tried by itself.
"""

from pathlib import Path
from typing import Final

from pressroom.server.routes import ROUTES
from pressroom.web.access import AdminOnly, AdminPage, Keyed, Page, SessionOnly, Visitor
from tests.api.actors import Actor, body_of, publish
from tests.fuzz.slow_steps import REASONS, found_each_time, watch
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

LONGEST: Final = 5_000
TEXTS: Final = tuple((piece * LONGEST)[:LONGEST] for piece in ("#\ufdfa ", "@reader ", "http://x.y/z ", "字", "<&> "))
"""What takes long to find, to escape or to link."""

ADDED: Final = {"/api/search": "q=x.y", "/search": "q=x.y", "/api/timeline/new": f"after={'0' * 26}"}
"""What routes need in their query string."""

READING: Final = [
    route
    for route in ROUTES
    if route.method == "GET"
    and "{" not in route.path
    and isinstance(route.access, Keyed | SessionOnly | Page | Visitor)
    and not isinstance(route.access, AdminOnly | AdminPage)
]


def test_lists_of_dense_posts_hold_no_step(tmp_path: Path) -> None:
    server = LocalServer(tmp_path, **ROOMY, DEV=1).start()
    try:
        reader, author = Actor(server), Actor(server)
        body_of(reader.web.post(f"/api/accounts/{author.account.username}/follow"))
        for number in range(100):
            post = publish(author, TEXTS[number % len(TEXTS)])
            body_of(reader.web.post(f"/api/posts/{post['id']}/save"))
        asked: dict[str, str] = {}

        def find() -> set[str]:
            with watch(server) as found:
                for route in READING:
                    query = "&".join([*(("limit=100",) if route.paged else ()), ADDED.get(route.path, "")]).strip("&")
                    answer = reader.web.get(f"{route.path}?{query}")
                    assert answer.status_code < 500, (route.path, answer.text[:200])
                    asked.update((step.function, route.path) for step in found if step.function not in asked)
            return {step.function for step in found if step.function not in REASONS}

        find()  # templates are compiled when they are first used
        slow = found_each_time(find)
        assert {function: asked.get(function) for function in slow} == {}
    finally:
        server.stop()
