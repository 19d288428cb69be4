"""One account searches as fast as it is answered, over sixteen connections, for what takes longest to find."""

import asyncio
import itertools
from urllib.parse import quote

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, make_key, publish, sign_up

CONNECTIONS = 16
POSTS = 5_000
TOGETHER = 16

SEARCHES = (
    "secret",  # in posts that the attacker may not see
    '"even odd"',  # words that never follow each other
    "even odd -word",
    "from:author -word",
    " ".join(f"w{number}" for number in range(24)),
    "字" * 25,
)


class Searches(Attack):
    """Searches that find nothing among thousands of posts with each of their words."""

    name = "searches"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        author, attacker = await sign_up(http, stage, "author"), await sign_up(http, stage, "attacker")
        _, key = await make_key(http, stage, author)
        numbers = iter(range(POSTS))

        async def fill() -> None:
            for number in numbers:
                words = " ".join(f"w{number % 60 + place}" for place in range(20))
                text = f"word {'even' if number % 2 else 'odd'} secret {words} 字字字字"
                await publish(http, stage, key, text, visibility="PRIVATE" if number % 4 else "PUBLIC")

        async with asyncio.TaskGroup() as group:
            for _ in range(TOGETHER):
                group.create_task(fill())
        await asyncio.sleep(10)  # until all of them are indexed
        stage.notes["session"] = attacker

    async def run(self, stage: Stage, http: ClientSession) -> None:
        searches = itertools.cycle(SEARCHES)
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(_search(stage, http, searches))


async def _search(stage: Stage, http: ClientSession, searches: "itertools.cycle[str]") -> None:
    while True:
        url = stage.url(f"/api/search?q={quote(next(searches))}")
        async with http.get(url, headers=stage.notes["session"]) as answer:
            await answer.read()
            answer.raise_for_status()


ATTACK = Searches
