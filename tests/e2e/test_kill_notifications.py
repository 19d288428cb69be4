"""The server dies while people like, comment, bounce, quote and follow: each hears of each act, and once."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from random import Random
from typing import Any

from tests.e2e.kills import STORY_SECONDS, kill_server_often
from tests.harness.crowd import miscounts
from tests.harness.heard import unheard
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.stories import Sender
from tests.harness.wire import Request, ask
from tests.services.postgres import PostgresServer

MakeServer = Callable[..., ServerProcess]

PEOPLE = 4


class Neighbour(Sender):
    """Somebody signed in who acts upon one post of each other. `newest` is the last comment under the own one."""

    def __init__(self, server: ServerProcess, owner: Owner, name: str) -> None:
        super().__init__(server, name, {"Cookie": owner.cookie})
        answer = ask(Request(server.port, "POST", "/api/posts", {"Cookie": owner.cookie}, {"content": name}))
        self.post: str = answer.json()["id"]
        self.newest: str | None = None
        self.done = 0

    async def visit(self, other: "Neighbour", *, stays: bool) -> None:
        """Likes, bounces and follows, and takes that back unless it `stays`; replies and quotes."""
        post, follow = f"/api/posts/{other.post}", f"/api/accounts/{other.name}/follow"
        await self.act("POST", f"{post}/like")
        await self.act("POST", follow)
        comment = await self.act("POST", f"{post}/comments", {"content": "Yes", "parentId": other.newest})
        other.newest = comment["id"]
        await self.act("POST", f"{post}/bounce", {"content": "Look"})
        bounce = await self.act("POST", f"{post}/bounce")
        await self.act("DELETE", f"/api/posts/{bounce['id']}")
        if not stays:
            await self.act("DELETE", f"{post}/like")
            await self.act("DELETE", follow)
        self.done += 1

    async def act(self, method: str, path: str, body: dict[str, str | None] | None = None) -> Any:
        """Sends a write under an Idempotency-Key that no other has; its answer."""
        self._number += 1
        return await self.write(method, path, body)


def test_everybody_hears_once_through_kills_on_sqlite(roomy_server: MakeServer, seed: int) -> None:
    visit_through_kills(roomy_server().start(), 12, seed)


def test_everybody_hears_once_through_kills_on_postgres(
    roomy_server: MakeServer, postgres_server: PostgresServer, seed: int
) -> None:
    visit_through_kills(
        roomy_server(DATABASE_URL=postgres_server.create_database("kill_notifications")).start(), 6, seed
    )


def visit_through_kills(server: ServerProcess, kills: int, seed: int) -> None:
    """People visit each other while the server dies so often; then acts and notifications are compared."""
    people = [Neighbour(server, Owner(server, f"person{number}"), f"person{number}") for number in range(PEOPLE)]
    chance = Random(seed)

    asyncio.run(_visit(people, kill_server_often(server, kills, chance), chance))

    assert server.stop() == 0, server.output()
    story = f"PRESSROOM_TEST_SEED={seed}; {sum(each.unanswered for each in people)} attempts unanswered"
    assert all(each.done for each in people), story
    assert [*unheard(server), *miscounts(server)] == [], story
    twice = "SELECT account_id, post_id FROM notifications WHERE type IN ('like', 'bounce') GROUP BY 1, 2, type"
    assert rows(server, f"{twice} HAVING count(*) > 1") == [], story
    print(story)


async def _visit(people: Sequence[Neighbour], disaster: Coroutine[None, None, None], chance: Random) -> None:
    over = asyncio.Event()

    async def visit(who: Neighbour) -> None:
        while not over.is_set() or not who.done:
            other = chance.choice([each for each in people if each is not who])
            await who.visit(other, stays=chance.random() < 0.3)
        who.hang_up()

    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
        for who in people:
            group.create_task(visit(who))
        try:
            await disaster
        finally:
            over.set()
