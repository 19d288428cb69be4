"""One address in a hundred posts at once is fetched once: in one process and over two on one PostgreSQL."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressroom.domains.previews.cards import Cards
from tests.api.actors import Actor
from tests.conftest import database_settings
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.previews.fetches import Poster, publish_at_once, status, title
from tests.services.process import wait_until

POSTS = 100


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that requests have begun to wait for, each time."""
    begun: list[str] = []
    begin = Cards._begin

    def noted(cards: Cards, url: str, account_id: str, *, bounded: bool = True) -> asyncio.Task[None]:
        begun.append(url)
        return begin(cards, url, account_id, bounded=bounded)

    monkeypatch.setattr(Cards, "_begin", noted)
    return begun


@pytest.fixture(params=["sqlite", "postgres", "two on postgres"])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[LocalServer]]:
    """One server, or two on one database and one store."""
    count = 2 if request.param.startswith("two") else 1
    settings = database_settings(request, request.param.rpartition(" ")[2])
    made = [
        LocalServer(tmp_path / f"{number}", **{**ROOMY, "DEV": 1, "DATA_DIR": tmp_path / "data", **settings}).start()
        for number in range(count)
    ]
    yield made
    for server in made:
        server.stop()


def test_a_hundred_posts_cause_one_fetch(servers: list[LocalServer], site: Site, begun: list[str]) -> None:
    author, url = Actor(servers[0]), site.url("/a")
    site.page("/a", og("title", "A"))
    site.hang("/a")
    posters = [Poster(servers[place % len(servers)].base_url, author.key) for place in range(POSTS)]

    def release() -> None:
        assert wait_until(lambda: len(begun) == POSTS), len(begun)
        site.release("/a")

    answers = publish_at_once(posters, url, release)

    assert [answer.status_code for answer in answers] == [201] * POSTS
    assert {title(answer.json()) for answer in answers} == {"A"}
    assert site.requests == {"/a": 1}
    assert status(servers[-1], url) == "READY"
    for server in servers:
        server.do_jobs()
    assert site.requests == {"/a": 1}
