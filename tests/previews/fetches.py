"""What tests of fetches look at, and turn."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import httpx
import msgspec
import pytest

from pressroom.db import Command, Query
from pressroom.domains.previews import cards
from tests.api.actors import Actor, Json, body_of, rows
from tests.harness.local import LocalServer
from tests.harness.trust import TRUST
from tests.services.process import wait_until

BUDGET: Final = cards.BUDGET_SECONDS
"""How long a create waits outside of tests."""

CARD = Query(str, "SELECT status FROM link_cards WHERE url = :url")
JOBS = Query(str, "SELECT subject FROM jobs WHERE kind = 'preview' AND subject = :url")
BEGIN = Command(
    "INSERT INTO link_cards (url, status, fetched_at, leased_until, lease_token)"
    " VALUES (:url, 'FETCHING', 0, :until, 'of somebody who was killed')"
)


class Poster(msgspec.Struct):
    """Somebody who publishes on a server."""

    base_url: str
    key: str


def title(post: Json) -> str | None:
    """The title of a post's card."""
    return post["linkPreview"] and post["linkPreview"]["title"]


def status(server: LocalServer, url: str) -> str | None:
    """The stored state of a page."""
    return next(iter(rows(server, CARD, url=url)), None)


def waits(server: LocalServer, url: str) -> bool:
    """Whether a job is to fetch this page."""
    return bool(rows(server, JOBS, url=url))


def begin_and_die(server: LocalServer, url: str, until: int) -> None:
    """Leaves the state of a process that is killed while it fetches a page, leased until then (milliseconds)."""
    server.run(server.runtime.db.transact(lambda tx: tx.run(BEGIN, url=url, until=until)))


def shown(reader: Actor, post: Json) -> str | None:
    """The present title of a post's card."""
    return title(body_of(reader.web.get(f"/api/posts/{post['id']}")))


def shown_in_time(reader: Actor, post: Json, expected: str) -> bool:
    """Whether the post comes to bear this card."""
    return wait_until(lambda: shown(reader, post) == expected)


def publish_at_once(posters: list[Poster], content: str, meanwhile: Callable[[], None]) -> list[httpx.Response]:
    """All of them publish the same together; `meanwhile` is called in a thread while they wait."""

    async def publish() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=len(posters))
        async with httpx.AsyncClient(timeout=30, limits=limits, verify=TRUST) as client:
            sent = [
                client.post(
                    f"{poster.base_url}/api/posts",
                    json={"content": content},
                    headers={"Authorization": f"Bearer {poster.key}"},
                )
                for poster in posters
            ]
            answers, _ = await asyncio.gather(asyncio.gather(*sent), asyncio.to_thread(meanwhile))
            return answers

    return asyncio.run(publish())


@contextmanager
def impatient(patch: pytest.MonkeyPatch, *, budget: float = 0.2, fetch: float = 5.0) -> Generator[None]:
    """Answers wait so many seconds for a card, and a fetch takes at most so many."""
    with patch.context() as narrowed:
        narrowed.setattr(cards, "BUDGET_SECONDS", budget)
        narrowed.setattr(cards, "FETCH_SECONDS", fetch)
        yield
