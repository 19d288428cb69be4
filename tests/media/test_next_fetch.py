"""A right to a file that ends has ended for the next request, at each server, while everybody fetches and publishes.

What ends and what stays, one way at a time and on each store, is in tests/media/test_audience_narrowed.py.
"""

from collections.abc import Callable
from functools import partial

from tests.api.actors import Actor, body_of, publish
from tests.api.onlookers import Change, Reader, Twins, end_one_after_the_other
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.readers import Case, remove, suspend, unfollow
from tests.media.uploads import media_of, path_of

SETTINGS = ROOMY


def delete_post(case: Case) -> None:
    """The post is no more."""
    body_of(case.author.web.delete(f"/api/posts/{case.post['id']}"))


WAYS: list[tuple[str, Callable[[Case], object]]] = [
    ("PUBLIC", lambda case: case.edit("FOLLOWERS")),
    ("PUBLIC", lambda case: suspend(case.author)),
    ("FOLLOWERS", lambda case: case.edit("PRIVATE")),
    ("FOLLOWERS", lambda case: remove(case.author, case.reader)),
    ("FOLLOWERS", delete_post),
    ("CONNECTIONS", lambda case: unfollow(case.author, case.reader)),
    ("CUSTOM", lambda case: case.allow()),
    ("CUSTOM", lambda case: suspend(case.reader)),
]
"""How a reader's right to a post of this visibility ends."""


def test_a_right_that_ended(twins: Twins) -> None:
    cases = [Case(twins[0], visibility) for visibility, _ in WAYS]
    given = [path_of(media_of(body_of(case.reader.web.get(f"/api/posts/{case.post['id']}")))["url"]) for case in cases]
    readers = {(server, path): Reader(server, path) for server in twins for path in given}
    writer = Actor(twins[0])

    def ask(server: LocalServer, place: int) -> int:
        return readers[server, given[place]]().status_code

    ends: list[Change] = [partial(cut, case) for (_, cut), case in zip(WAYS, cases, strict=True)]
    end_one_after_the_other(twins, ends, ask, after=404, beside=[partial(publish, writer)])
