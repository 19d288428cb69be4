"""Forty accounts have a thousand endpoints that answer after 9.5 seconds, and events never stop."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Measure, Stage, call, make_key, publish, sign_up, usual
from benchmarks.attacks._answering import answering
from benchmarks.processes import free_port

ACCOUNTS = 40
KEYS = 5
ENDPOINTS_OF_KEY = 5
SLOW_SECONDS = 9.5
PAUSE_SECONDS = 2.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class SlowReceivers(Attack):
    """Endpoints that take nearly as long as they may, beside a stranger's that answers at once."""

    name = "slow receivers"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        slow, quick = free_port(), free_port()
        stage.notes |= {"slow": slow, "quick": quick, "keys": []}
        for number in range(ACCOUNTS):
            session = await sign_up(http, stage, f"slow_{number}")
            made = [await make_key(http, stage, session) for _ in range(KEYS)]
            for place, (key_id, _) in enumerate(made):
                for endpoint in range(ENDPOINTS_OF_KEY):
                    url = f"http://127.0.0.1:{slow}/{number}/{place}/{endpoint}"
                    await _add(http, stage, session, key_id, url)
            stage.notes["keys"].append(made[-1][1])
        session = await sign_up(http, stage, "quick")
        key_id, stage.notes["quick_key"] = await make_key(http, stage, session)
        await _add(http, stage, session, key_id, f"http://127.0.0.1:{quick}/")

    async def run(self, stage: Stage, http: ClientSession) -> None:
        async with answering(stage.notes["slow"], lambda _path, _body: ANSWER, SLOW_SECONDS):
            while True:
                async with asyncio.TaskGroup() as group:
                    for key in stage.notes["keys"]:
                        group.create_task(publish(http, stage, key, "Told to 25 endpoints."))
                await asyncio.sleep(PAUSE_SECONDS)

    @asynccontextmanager
    async def strangers(self, stage: Stage, http: ClientSession) -> AsyncGenerator[dict[str, Measure]]:
        arrived: dict[str, asyncio.Event] = {}

        def came(_path: bytes, body: bytes) -> bytes:
            for name in [name for name in arrived if name.encode() in body]:
                arrived.pop(name).set()
            return ANSWER

        numbers = iter(range(1_000_000))

        async def publish_and_hear() -> None:
            name, event = f"stranger {next(numbers):06d}.", asyncio.Event()
            arrived[name] = event
            await publish(http, stage, stage.notes["quick_key"], name)
            await event.wait()

        async with answering(stage.notes["quick"], came):
            yield usual(stage, http) | {"publish until the webhook arrives": publish_and_hear}


async def _add(http: ClientSession, stage: Stage, session: dict[str, str], key_id: str, url: str) -> None:
    await call(http, stage, f"/api/auth/api-keys/{key_id}/webhooks", {"url": url, "events": ["post.created"]}, session)


ATTACK = SlowReceivers
