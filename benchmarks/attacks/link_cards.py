"""One session publishes links to hosts that hang; strangers link to a page that answers at once."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, web

from benchmarks.attacks import Attack, Measure, Stage, call, make_key, publish, sign_up, usual
from benchmarks.processes import free_port

AT_ONCE = 400
"""Links of the attacker that wait together."""

PAUSE = 8.0
"""Seconds from one link to the next of each: hanging links are the attack, not the requests."""


class LinkCards(Attack):
    """400 links at a time, each to an address of its own that accepts and never answers."""

    name = "link cards"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        stage.notes["attacker"] = await sign_up(http, stage, "mallory")
        _, stage.notes["stranger"] = await make_key(http, stage, await sign_up(http, stage, "stranger"))
        stage.notes |= {"hanging": free_port(), "page": free_port()}

    async def run(self, stage: Stage, http: ClientSession) -> None:
        numbers = itertools.count()
        server = await asyncio.start_server(_hang, "0.0.0.0", stage.notes["hanging"], backlog=1024)  # noqa: S104
        async with server, asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(_link(stage, http, numbers))

    @asynccontextmanager
    async def strangers(self, stage: Stage, http: ClientSession) -> AsyncGenerator[dict[str, Measure]]:
        app = web.Application()
        app.router.add_get("/{number}", _page)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", stage.notes["page"]).start()
        numbers = itertools.count()
        try:
            yield usual(stage, http) | {"a post's link card": lambda: _card(stage, http, next(numbers))}
        finally:
            await runner.cleanup()


async def _hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        await reader.read()
    writer.close()


async def _page(request: web.Request) -> web.Response:
    return web.Response(text=f"<title>Page {request.path}</title>", content_type="text/html")


async def _link(stage: Stage, http: ClientSession, numbers: "itertools.count[int]") -> None:
    while True:
        number = next(numbers)
        rested = asyncio.create_task(asyncio.sleep(PAUSE))
        host = f"127.{1 + number // 60_000 % 250}.{number // 240 % 250}.{number % 240 + 1}"
        await publish(http, stage, stage.notes["attacker"], f"http://{host}:{stage.notes['hanging']}/{number}")
        await rested


async def _card(stage: Stage, http: ClientSession, number: int) -> None:
    """A post whose card is in the answer, or is waited for."""
    link = f"http://127.0.0.1:{stage.notes['page']}/{stage.port}-{id(http)}-{number}"
    post = await call(http, stage, "/api/posts", {"content": link}, stage.notes["stranger"])
    while post["linkPreview"] is None:
        await asyncio.sleep(0.1)
        async with http.get(stage.url(f"/api/posts/{post['id']}")) as answer:
            post = await answer.json()


ATTACK = LinkCards
