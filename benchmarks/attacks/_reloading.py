"""Connections that request the same pages again and again, for attacks by costly pages."""

import asyncio
import itertools
from collections.abc import Iterable

from aiohttp import ClientSession

from benchmarks.attacks import Stage, get

CONNECTIONS = 4


async def reload(stage: Stage, http: ClientSession, paths: Iterable[str]) -> None:
    """Requests the pages in turn, over four connections, until it is cancelled."""
    pages = itertools.cycle(paths)

    async def request() -> None:
        while True:
            await get(http, stage.url(next(pages)))

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(request())
