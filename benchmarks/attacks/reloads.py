"""Four anonymous connections reload an ordinary page."""

import asyncio

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, get, make_key, publish, sign_up

CONNECTIONS = 4
POSTS = 20
TEXT = "The harbour bridge opens again on Monday: https://example.org/harbour, says @mira. #harbour #bridge"


class Reloads(Attack):
    """The profile of an account with posts as people write them."""

    name = "reloads of an ordinary page"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        session = await sign_up(http, stage, "ordinary")
        _, key = await make_key(http, stage, session)
        for _ in range(POSTS):
            await publish(http, stage, key, TEXT)

    async def run(self, stage: Stage, http: ClientSession) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(_reload(stage, http))


async def _reload(stage: Stage, http: ClientSession) -> None:
    while True:
        await get(http, stage.url("/@ordinary"))


ATTACK = Reloads
