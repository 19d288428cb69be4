"""The server dies while a thousand drafts come due within a minute: each is published once, and its event told once."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

from tests.e2e.kills import kill_server_often
from tests.harness.days import bring_forward
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import Request, in_turn
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

PEOPLE, EACH = 4, 250
MINUTE = 60.0
KILLS = 20
IN_TIME = 120.0
"""On PostgreSQL a job of a killed worker waits for the end of its lease."""

WAITING = "SELECT count(*) FROM drafts WHERE state = 'scheduled'"
STATES = "SELECT state, count(*) FROM drafts GROUP BY 1"
TWICE = "SELECT content FROM posts GROUP BY 1 HAVING count(*) > 1"
UNTOLD = "SELECT count(*) FROM posts p WHERE (SELECT count(*) FROM events e WHERE e.data LIKE '%' || p.id || '%') <> 1"
UNKNOWN = "SELECT count(*) FROM drafts d LEFT JOIN posts p ON p.id = d.post_id WHERE p.id IS NULL"
QUOTA = "SELECT account_id, CAST(sum(used_signed_in) AS BIGINT) FROM content_quotas GROUP BY 1"
LATEST = "SELECT max(p.created_at - d.publish_at) FROM drafts d JOIN posts p ON p.id = d.post_id"


def test_scheduled_drafts_are_published_once_through_kills_on_sqlite(roomy_server: MakeServer, seed: int) -> None:
    publish_through_kills(roomy_server().start(), seed)


def test_scheduled_drafts_are_published_once_through_kills_on_postgres(
    roomy_server: MakeServer, postgres_server: PostgresServer, seed: int
) -> None:
    publish_through_kills(roomy_server(DATABASE_URL=postgres_server.create_database("kill_drafts")).start(), seed)


def publish_through_kills(server: ServerProcess, seed: int) -> None:
    """Schedules drafts, kills the server often while they come due, and compares posts, events and drafts."""
    chance = Random(seed)
    owners = [Owner(server, f"person{number}") for number in range(PEOPLE)]
    begin = datetime.now(UTC) + timedelta(hours=1)  # however long the machine takes to schedule all
    answers = in_turn([[_draft(server, owner, number, begin, chance) for number in range(EACH)] for owner in owners])
    assert [answer for answer in answers if answer.status != 201] == []
    assert server.stop() == 0, server.output()
    bring_forward(server, begin)
    server.restart()

    asyncio.run(kill_server_often(server, KILLS, chance, pause=MINUTE / KILLS))

    story = f"PRESSROOM_TEST_SEED={seed}"
    assert wait_until(lambda: rows(server, WAITING) == [(0,)], IN_TIME), (story, rows(server, STATES), server.output())
    assert server.stop() == 0, server.output()
    assert rows(server, STATES) == [("published", PEOPLE * EACH)], story
    assert rows(server, "SELECT count(*) FROM posts") == rows(server, "SELECT count(*) FROM events"), story
    assert rows(server, TWICE) == [], story
    assert rows(server, UNTOLD) == rows(server, UNKNOWN) == [(0,)], story
    assert sorted(rows(server, QUOTA)) == sorted((owner.id, EACH) for owner in owners), story
    assert rows(server, "SELECT count(*) FROM jobs WHERE kind = 'scheduled post'") == [(0,)], story
    print(story, "- the latest came", rows(server, LATEST)[0][0], "ms after its time")


def _draft(server: ServerProcess, owner: Owner, number: int, begin: datetime, chance: Random) -> Request:
    """The request that schedules a draft for a moment of the minute from `begin`."""
    at = begin + timedelta(seconds=chance.uniform(0, MINUTE))
    body = {"content": f"{owner.id} {number}", "publishAt": at.isoformat(timespec="milliseconds")}
    return Request(server.port, "POST", "/api/drafts", {"Cookie": owner.cookie}, body)
