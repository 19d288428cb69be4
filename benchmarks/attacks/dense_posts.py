"""One session writes dense posts and quotes at its limit: all of a minute at once, over several connections."""

import asyncio
from typing import ClassVar, Final

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, call, sign_up

WRITES: Final = 60
"""The writes that a session may make in a minute."""

CONNECTIONS: Final = 6
BEFORE: Final = 5.0
"""Seconds until the burst: it falls into the measurement, which begins two or three seconds after the attack."""

TEXT: Final = ("#\ufdfa " * 1_667)[:5_000]


class DensePosts(Attack):
    """Posts and quotes that are hashtags from end to end."""

    name = "dense posts of one session"
    settings: ClassVar[dict[str, object]] = {"SESSION_WRITES_PER_MINUTE": WRITES}

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        stage.notes["session"] = session = await sign_up(http, stage, "dense")
        quoted = await call(http, stage, "/api/posts", {"content": TEXT}, session)
        stage.notes["paths"] = ["/api/posts", f"/api/posts/{quoted['id']}/bounce"]

    async def run(self, stage: Stage, http: ClientSession) -> None:
        while True:
            await asyncio.sleep(BEFORE)
            async with asyncio.TaskGroup() as group:
                for number in range(CONNECTIONS):
                    group.create_task(_write(stage, http, number))
            await asyncio.sleep(60 - BEFORE)


async def _write(stage: Stage, http: ClientSession, first: int) -> None:
    """Sends one connection's part of the burst. Beyond its limit the session is refused."""
    paths, session = stage.notes["paths"], stage.notes["session"]
    for number in range(first, WRITES, CONNECTIONS):
        path = paths[number // CONNECTIONS % len(paths)]
        async with http.post(stage.url(path), json={"content": TEXT}, headers=session) as answer:
            await answer.read()


ATTACK = DensePosts
