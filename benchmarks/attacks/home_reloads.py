"""One account reloads its home, its timeline and a search, and follows as fast as its limit lets it."""

import asyncio
import itertools
from typing import ClassVar, Final

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, call, make_key, publish, sign_up

FOLLOWED: Final = 20
CONNECTIONS: Final = 4
POSTS: Final = 10
TEXT: Final = "The harbour bridge opens again on Monday: https://example.org/harbour, says @mira. #harbour #bridge"
PATHS: Final = ("/", "/api/timeline", "/search?q=harbour+bridge+-closed", "/api/explore")


class HomeReloads(Attack):
    """The pages of a reader who follows accounts that publish."""

    name = "reloads of a home, and searches"
    settings: ClassVar[dict[str, object]] = {"SIGNUPS_PER_HOUR": 1_000}

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        stage.notes["session"] = session = await sign_up(http, stage, "homely")
        for number in range(FOLLOWED):
            author = await sign_up(http, stage, f"author{number}")
            _, key = await make_key(http, stage, author)
            for _ in range(POSTS):
                await publish(http, stage, key, TEXT)
            await call(http, stage, f"/api/accounts/author{number}/follow", None, session)

    async def run(self, stage: Stage, http: ClientSession) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(_reload(stage, http))
            group.create_task(_follow(stage, http))


async def _reload(stage: Stage, http: ClientSession) -> None:
    for path in itertools.cycle(PATHS):
        async with http.get(stage.url(path), headers=stage.notes["session"]) as answer:
            await answer.read()


async def _follow(stage: Stage, http: ClientSession) -> None:
    """Follows and unfollows; beyond its limit the session is refused."""
    for number in itertools.cycle(range(FOLLOWED)):
        path = stage.url(f"/api/accounts/author{number}/follow")
        for method in ("DELETE", "POST"):
            async with http.request(method, path, headers=stage.notes["session"]) as answer:
                await answer.read()


ATTACK = HomeReloads
