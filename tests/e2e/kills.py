"""Kills of a server amid its work."""

import asyncio
from random import Random

from tests.harness.process import ServerProcess

STORY_SECONDS = 300.0
"""How long a whole story may take before it is given up."""


async def kill_server_often(server: ServerProcess, times: int, chance: Random, pause: float = 0.4) -> None:
    """Kills the server `times` times while it serves, within `pause` seconds, and now and then while it starts."""
    for number in range(times):
        await asyncio.sleep(chance.uniform(0, pause))
        server.kill()
        if number % 5 == 4:
            server.launch()
            await asyncio.sleep(chance.uniform(0, 0.5))
            server.kill()
        await asyncio.to_thread(server.restart)
