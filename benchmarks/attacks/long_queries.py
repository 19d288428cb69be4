"""Four connections send request targets that are long, and slow to decode."""

import asyncio
import itertools

from aiohttp import ClientSession
from yarl import URL

from benchmarks.attacks import Attack, Stage

CONNECTIONS = 4
TARGETS = ("/@bystander?" + "%41&" * 15_500, "/healthz?" + "%00=%41&" * 7_700)


class LongQueries(Attack):
    """Queries of 62,000 bytes, with every parameter escaped."""

    name = "long queries"

    async def run(self, stage: Stage, http: ClientSession) -> None:
        targets = itertools.cycle(URL(stage.url(target), encoded=True) for target in TARGETS)
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(_send(http, targets))


async def _send(http: ClientSession, targets: "itertools.cycle[URL]") -> None:
    while True:
        async with http.get(next(targets)) as answer:
            await answer.read()


ATTACK = LongQueries
