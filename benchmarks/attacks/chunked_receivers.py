"""One account's 25 endpoints answer 200 with 70,000 chunks of one byte, and it publishes once a second."""

import asyncio

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, call, make_key, publish, sign_up
from benchmarks.attacks._answering import answering
from benchmarks.processes import free_port

KEYS = 5
ENDPOINTS_OF_KEY = 5
PAUSE_SECONDS = 1.0
ANSWER = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 70_000 + b"0\r\n\r\n"


class ChunkedReceivers(Attack):
    """Answers that are nearly all framing: each chunk costs the reader as much time as a large one."""

    name = "receivers that answer in tiny chunks"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        stage.notes["port"] = free_port()
        session = await sign_up(http, stage, "mallory")
        for key in range(KEYS):
            key_id, stage.notes["key"] = await make_key(http, stage, session)
            for endpoint in range(ENDPOINTS_OF_KEY):
                url = f"http://127.0.0.1:{stage.notes['port']}/{key}/{endpoint}"
                body = {"url": url, "events": ["post.created"]}
                await call(http, stage, f"/api/auth/api-keys/{key_id}/webhooks", body, session)

    async def run(self, stage: Stage, http: ClientSession) -> None:
        async with answering(stage.notes["port"], lambda _path, _body: ANSWER):
            while True:
                await publish(http, stage, stage.notes["key"], "Told to 25 endpoints.")
                await asyncio.sleep(PAUSE_SECONDS)


ATTACK = ChunkedReceivers
