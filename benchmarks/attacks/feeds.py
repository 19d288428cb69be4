"""Four connections ask for the feeds of dense posts and quotes, again and again."""

import asyncio
import itertools

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, call, get, make_key, publish, sign_up

CONNECTIONS = 4
POSTS = 10
TEXT = ("#\ufdfa " * 1_667)[:5_000]


class Feeds(Attack):
    """Feeds of an account, a hub and a hashtag."""

    name = "feeds of dense posts"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        session = await sign_up(http, stage, "dense")
        _, key = await make_key(http, stage, session)
        hub = await call(http, stage, "/api/hubs", {"name": "Dense", "slug": "dense"}, session)
        for _ in range(POSTS):
            post = await publish(http, stage, key, f"#dense {TEXT}"[:5_000], hubId=hub["id"])
            await call(http, stage, f"/api/posts/{post}/bounce", {"content": TEXT}, key)
        stage.notes["feeds"] = ["/@dense/feed.atom", "/hub/dense/feed.atom", "/tag/dense/feed.atom"]

    async def run(self, stage: Stage, http: ClientSession) -> None:
        feeds = itertools.cycle(stage.notes["feeds"])
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(_ask(stage, http, feeds))


async def _ask(stage: Stage, http: ClientSession, feeds: "itertools.cycle[str]") -> None:
    while True:
        await get(http, stage.url(next(feeds)))


ATTACK = Feeds
