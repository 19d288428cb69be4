"""The server dies while owners manage keys, endpoints and hubs: each thing happens once, and they hold what counts."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from random import Random

from tests.e2e.kills import STORY_SECONDS, kill_server_often
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.stories import Sender
from tests.harness.writes import ENDPOINT, SETTINGS
from tests.services.postgres import PostgresServer

MakeServer = Callable[..., ServerProcess]


class Keeper(Sender):
    """An owner who makes keys, endpoints and hubs, rotates, tests, and takes keys back; remembers the answers."""

    def __init__(self, server: ServerProcess, owner: Owner) -> None:
        super().__init__(server, owner.id, {"Cookie": owner.cookie})
        self.labels: dict[str, str] = {}
        self.slugs: set[str] = set()
        self.secrets: dict[str, str] = {}
        self.revoked: set[str] = set()

    async def round(self) -> None:
        """A hub, a key, its endpoint, another secret for that, a test of it, and the key's end."""
        self._number += 1
        slug = f"{self.name.lower()}-{self._number}"
        self.slugs.add((await self.write("POST", "/api/hubs", {"name": "Club", "slug": slug}))["slug"])
        key = await self.write("POST", "/api/auth/api-keys", {"label": slug, "scopes": ["posts:write"]})
        self.labels[key["id"]] = key["label"]
        path = f"/api/auth/api-keys/{key['id']}"
        endpoint = await self.write("POST", f"{path}/webhooks", ENDPOINT)
        place = f"{path}/webhooks/{endpoint['id']}"
        self.secrets[endpoint["id"]] = (await self.write("POST", f"{place}/rotate", None))["secret"]
        await self.write("POST", f"{place}/test", None)
        self.revoked.add((await self.write("DELETE", path, None))["id"])


def test_a_killed_server_lets_owners_do_everything_once_on_sqlite(roomy_server: MakeServer, seed: int) -> None:
    keep_through_kills(roomy_server(**SETTINGS).start(), 8, seed)


def test_a_killed_server_lets_owners_do_everything_once_on_postgres(
    roomy_server: MakeServer, postgres_server: PostgresServer, seed: int
) -> None:
    database = postgres_server.create_database("kill_owners")
    keep_through_kills(roomy_server(DATABASE_URL=database, **SETTINGS).start(), 5, seed)


def keep_through_kills(server: ServerProcess, kills: int, seed: int) -> None:
    """Four owners go on while the server dies so often; then all is looked at."""
    keepers = [Keeper(server, Owner(server, f"owner{n}")) for n in range(4)]

    asyncio.run(_keep(keepers, kill_server_often(server, kills, Random(seed))))

    assert server.stop() == 0, server.output()
    story = f"PRESSROOM_TEST_SEED={seed}; {sum(keeper.unanswered for keeper in keepers)} attempts unanswered"
    assert all(keeper.revoked for keeper in keepers), story
    assert [*_broken(server, keepers)] == [], story
    print(story)


async def _keep(keepers: Sequence[Keeper], disaster: Coroutine[None, None, None]) -> None:
    over = asyncio.Event()

    async def keep(keeper: Keeper) -> None:
        while not over.is_set():
            await keeper.round()
        keeper.hang_up()

    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
        for keeper in keepers:
            group.create_task(keep(keeper))
        try:
            await disaster
        finally:
            over.set()


def _broken(server: ServerProcess, keepers: Sequence[Keeper]) -> Iterator[str]:
    """Every promise that was not kept, and everything that happened twice or to nobody's knowledge."""
    labels = {key: label for keeper in keepers for key, label in keeper.labels.items()}
    if (kept := dict(rows(server, "SELECT id, label FROM api_keys WHERE label <> 'First key'"))) != labels:
        yield f"keys {kept} where {labels} were acknowledged"
    slugs = {slug for keeper in keepers for slug in keeper.slugs}
    if (hubs := {slug for (slug,) in rows(server, "SELECT slug FROM hubs")}) != slugs:
        yield f"hubs {hubs ^ slugs} are known to one side alone"
    secrets = {endpoint: secret for keeper in keepers for endpoint, secret in keeper.secrets.items()}
    for endpoint, secret in rows(server, "SELECT id, secret FROM webhooks"):
        if secrets.pop(endpoint, None) != secret:
            yield f"endpoint {endpoint} signs with a secret that its owner does not hold"
    yield from (f"endpoint {endpoint} is gone" for endpoint in secrets)
    yield from (f"{table} happened twice" for table in _twice(server, keepers))
    stored = rows(server, "SELECT body FROM idempotent_answers WHERE path = '/api/auth/api-keys'")
    yield from (f"a stored answer shows a key: {body}" for (body,) in stored if json.loads(body)["key"] is not None)


def _twice(server: ServerProcess, keepers: Sequence[Keeper]) -> Iterator[str]:
    """The events that do not stand once for each thing that was acknowledged."""
    for kind, expected, named in (
        ("apikey.revoked", {key for keeper in keepers for key in keeper.revoked}, lambda data: data["apiKey"]["id"]),
        ("webhook.test", {each for keeper in keepers for each in keeper.secrets}, lambda data: data["webhookId"]),
    ):
        events = rows(server, f"SELECT data FROM events WHERE type = '{kind}'")  # noqa: S608  # our own names
        if Counter(named(json.loads(data)) for (data,) in events) != Counter(expected):
            yield kind
