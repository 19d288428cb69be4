"""One session posts dense text as often as it may."""

import asyncio
from typing import ClassVar

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, sign_up

SECONDS = 1.0
"""Between two posts: 60 in a minute are what a session may write."""

TEXT = ("#\ufdfa " * 1_667)[:5_000]


class DensePosts(Attack):
    """Posts that are hashtags from end to end."""

    name = "dense posts of one session"
    settings: ClassVar[dict[str, object]] = {"SESSION_WRITES_PER_MINUTE": 60}

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        stage.notes["session"] = await sign_up(http, stage, "dense")

    async def run(self, stage: Stage, http: ClientSession) -> None:
        while True:
            body = {"content": TEXT}
            async with http.post(stage.url("/api/posts"), json=body, headers=stage.notes["session"]) as answer:
                await answer.read()
            await asyncio.sleep(SECONDS)


ATTACK = DensePosts
