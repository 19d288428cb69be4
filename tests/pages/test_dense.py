"""The densest pages that the limits allow: each is bounded, and nobody waits for the whole of one.

Work is counted, in characters of HTML that are made in one round of the event loop; no clock is read.
"""

import asyncio
import threading
from collections.abc import Iterable, Iterator

import feedparser
import pytest

from pressroom.web.templating import Slices
from tests.api.actors import Actor, Json, body_of, publish
from tests.api.conftest import one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import fetch, turned, visit

SETTINGS = {**ROOMY, "SESSION_WRITES_PER_MINUTE": 100_000}

POST = 5_000
COMMENT = 500
UNITS = {"tags": "#a ", "ligatures": "#ﷺ ", "mentions": "@abc ", "links": "http://a ", "signs": "&<>\"'"}


def dense(unit: str, length: int) -> str:
    return (unit * length)[:length].strip()


class Wall:
    """An account whose pages are as dense as can be.

    `post` and `quote` are the newest; `old` and `old_quote` are on no first page, so that a test may change them.
    """

    def __init__(self, author: Actor, unit: str) -> None:
        self.author, self.server, self.unit = author, author.server, unit
        hub = body_of(author.web.post("/api/hubs", json={"name": "Wall", "slug": author.account.username}), 201)
        body_of(author.web.patch("/api/auth/me", json={"bio": dense(unit, COMMENT)}))
        content, posts, quotes = dense(unit, POST), list[Json](), list[Json]()
        for _ in range(20):
            posts.append(body_of(author.api.post("/api/posts", json={"content": content, "hubId": hub["id"]}), 201))
            bounce = author.api.post(f"/api/posts/{posts[-1]['id']}/bounce", json={"content": content})
            quotes.append(body_of(bounce, 201))
        self.lists = [f"/@{author.account.username}", f"/hub/{hub['slug']}"]
        self.post, self.quote = posts[-1], quotes[-1]
        self.old, self.old_quote = posts[0], quotes[0]

    @property
    def permalinks(self) -> list[str]:
        return [f"/post/{self.post['id']}", f"/post/{self.quote['id']}"]

    def discuss(self, post: Json, unit: str, count: int) -> list[str]:
        """Comments under a post; their ids."""
        path = f"/api/posts/{post['id']}/comments"
        made: list[str] = []
        for _ in range(count):
            made.append(body_of(self.author.api.post(path, json={"content": dense(unit, COMMENT)}), 201)["id"])
            self.server.clock.advance(1)
        return made


@pytest.fixture(scope="module", params=UNITS.values(), ids=[*UNITS])
def wall(request: pytest.FixtureRequest, server: LocalServer) -> Iterator[Wall]:
    """The wall of a unit, which takes a second to fill: all tests of the unit share it."""
    author = Actor(server)
    yield Wall(author, request.param)
    for client in author.clients():
        client.close()


@one_engine
def test_a_list_shows_the_beginnings_of_its_posts(wall: Wall) -> None:
    unit = wall.unit
    for path in wall.lists:
        page = visit(wall.server, path)
        assert len(page.posts) == 20
        for text in page.texts(".card .text"):
            assert len(text) <= 1_001
            assert text.endswith("…")
            assert dense(unit, POST).startswith(text[:-1])
        assert len(page.links(".card .text")) <= 50 * len(page.texts(".card .text"))
        reads_on = [href for said, href in page.links(".card .more") if said == "Read on"]
        assert len(reads_on) == len(page.texts(".card .text"))
        assert wall.lists[0] != path or f"{wall.server.base_url}{wall.permalinks[1]}" in reads_on
        assert len(page.html) < 500_000
    whole = visit(wall.server, wall.permalinks[0])
    assert whole.texts(".post > .text") == [dense(unit, POST)]


@one_engine
def test_feed_is_at_most_twice_its_page(wall: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {path: len(fetch(wall.server, path).content) for path in wall.lists}
    most = Most(wall.server, monkeypatch)

    feeds = {path: fetch(wall.server, f"{path}/feed.atom") for path in wall.lists}

    assert most.stop() < 32_768
    for path, feed in feeds.items():
        assert feed.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
        assert 5_000 < len(feed.content) <= 2 * pages[path]
        entries = feedparser.parse(feed.content).entries
        assert len(entries) == 20
        assert f'<a href="{entries[0].link}">Read on</a>' in entries[0].content[0].value
    assert most.made > 0
    made = most.made
    again = [fetch(wall.server, f"{path}/feed.atom").content for path in wall.lists]
    assert again == [feed.content for feed in feeds.values()]
    assert most.made > made, "joined anew"


@one_engine
def test_a_page_of_comments_ends_before_it_is_too_much(wall: Wall) -> None:
    unit = wall.unit
    made = wall.discuss(wall.post, unit, 120)

    pages = list(turned(wall.server, wall.post))

    shown = [each for page in pages for each in page.values("li.comment", "id")]
    assert shown == [f"comment-{each}" for each in made], "each comment stands on one page, in order"
    for page in pages:
        assert page.texts(".comment .text") == [dense(unit, COMMENT)] * len(page.texts(".comment .text"))
        assert len(page.links(".comment .text")) <= 3_000
        assert len(page.html) < 900_000


@one_engine
def test_comments_as_people_write_them_are_a_hundred_to_a_page(alice: Actor) -> None:
    post = publish(alice)
    words = "The harbour bridge opens again: https://example.org/harbour, says @mira. #harbour " + "x" * 420
    for _ in range(101):
        body_of(alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": words[:COMMENT]}), 201)
        alice.server.clock.advance(1)

    assert [len(page.texts(".comment .text")) for page in turned(alice.server, post)] == [100, 1]


@one_engine
def test_long_page_gives_way_to_other_requests(wall: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    author, path = wall.author, f"/api/posts/{wall.old['id']}"
    wall.discuss(wall.old, wall.unit, 30)
    for number in range(30):
        body_of(author.web.patch(path, json={"content": dense(wall.unit, POST - 10 * number)}))
    permalinks = [f"/post/{wall.old['id']}", f"/post/{wall.old_quote['id']}"]
    most = Most(wall.server, monkeypatch)

    readers = [
        threading.Thread(target=fetch, args=(wall.server, path, author)) for path in [*wall.lists, *permalinks] * 3
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()

    assert most.stop() < 32_768
    assert most.made > 204_800


class Most:
    """Counts the HTML that is rendered on the server's loop, and the most of it in any one round of the loop."""

    def __init__(self, server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0
        self._before = 0
        self._most = 0
        self._server = server
        join = Slices.join

        async def counted(slices: Slices, pieces: Iterable[str]) -> str:
            return await join(slices, self._count(pieces))

        monkeypatch.setattr(Slices, "join", counted)
        self._handle: asyncio.Handle
        server.run(self._begin())

    def stop(self) -> int:
        """The most characters in one round."""
        self._server.run(self._end())
        return self._most

    def _count(self, pieces: Iterable[str]) -> Iterator[str]:
        for piece in pieces:
            self.made += len(piece)
            yield piece

    def _beat(self) -> None:
        self._most = max(self._most, self.made - self._before)
        self._before = self.made
        self._handle = asyncio.get_running_loop().call_soon(self._beat)

    async def _begin(self) -> None:
        self._beat()

    async def _end(self) -> None:
        self._handle.cancel()
