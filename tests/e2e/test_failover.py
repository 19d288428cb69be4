"""The database's primary dies: acknowledged writes stay, nothing is there twice, and no server is restarted."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.failovers import Access, Wanderer, Way, access, longest_pause, why_not
from tests.e2e.lives import Crowd
from tests.harness import histories
from tests.harness.histories import History
from tests.harness.observations import observe
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.publishers import told
from tests.harness.records import disagreements
from tests.harness.roomy import ROOMY
from tests.harness.wire import ask
from tests.services import postgres
from tests.services.postgres_cluster import PostgresCluster, PostgresNode
from tests.services.process import wait_until
from tests.services.redis import RedisServer
from tests.services.session import run_folder

MakeServer = Callable[..., ServerProcess]

pytestmark = [
    pytest.mark.skipif(postgres.available() is not None, reason=str(postgres.available())),
    pytest.mark.skipif(histories.available() is not None, reason=str(histories.available())),
]

POSTS = int(os.environ.get("PRESSROOM_TEST_FAILOVER_POSTS", "300"))
WAYS: dict[Way, str] = {
    "direct": "directly",
    "session": "through PgBouncer, session mode",
    "transaction": "through PgBouncer, transaction mode",
    "resets": "with 10 % of connections reset",
}
DATABASE = "service"
POSTS_OF_CROWD = 8
KEYS = 4
CALLS_BEFORE = 60
STORY_SECONDS = 300.0
OUTAGE = 1.0
"""Seconds from the primary's death to the promotion of a standby."""


@pytest.fixture
def cluster(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresCluster]:
    """A primary and two standbys, one of which has each commit."""
    # Without it only clients write, so that numbers of transactions tell whether any did.
    settings = {"autovacuum": "off"}
    cache = run_folder(tmp_path_factory.getbasetemp())
    with PostgresCluster.start(tmp_path / "cluster", settings=settings, cache=cache) as started:
        yield started


@pytest.mark.parametrize("way", WAYS)
def test_a_primary_that_is_killed_costs_a_pause_and_no_post(
    way: Way, process_server: MakeServer, cluster: PostgresCluster, redis_server: RedisServer, tmp_path: Path
) -> None:
    if reason := why_not(way):
        pytest.skip(reason)
    history = History(tmp_path / "history.jsonl")
    cluster.primary.create_database(DATABASE)
    with access(way, cluster, DATABASE, tmp_path) as opened:
        shared = {**ROOMY, **opened.settings, "REDIS_URL": redis_server.url, "BLOBS_URL": f"file://{tmp_path}/blobs"}
        process_server(DATABASE_URL=cluster.primary.database_url(DATABASE)).migrate()
        servers = [process_server(**shared).start() for _ in range(2)]
        pids = [server.pid for server in servers]
        keys = [owner.key(label) for owner in owners(servers[0]) for label in ("first", "second")]
        publishers = [Wanderer(servers, keys[n % len(keys)], f"program{n}", history) for n in range(8)]
        old = cluster.primary

        with opened.disturbed():
            asyncio.run(publish_through(publishers, lose_the_primary(cluster, opened, publishers)))

        # It begins by when the new primary alone is there, and so knows it; the next test has one that does not.
        newcomer = process_server(**shared).start()
        old.start_again()
        written = transactions(old)
        latecomers = [Wanderer([newcomer], keys[0], "late", history)]
        latecomers += [Wanderer(servers, key, f"later{n}", history) for n, key in enumerate(keys)]
        asyncio.run(publish_all(latecomers, POSTS // 10))

        assert [(server.pid, server.ended) for server in servers] == [(pid, False) for pid in pids]
        assert transactions(old) == written, "the primary that came back was written to"
    everyone = [*publishers, *latecomers]
    by_itself = process_server(DATABASE_URL=cluster.primary.database_url(DATABASE))
    assert disagreements(by_itself, everyone) == [], told(everyone)
    assert history.faults() == [], told(everyone)
    kept = sum(len(each.acknowledged) for each in everyone)
    observe(
        f"PostgreSQL's primary killed with -9, a standby promoted after 1 s; reached {WAYS[way]}",
        f"{kept} posts acknowledged, none lost, none twice, quotas and counters exact; no server restarted; "
        "recovery is the longest time without any answer; the old primary comes back and is not written to",
        longest_pause(publishers),
        "the last answer before",
    )


def test_an_old_primary_that_is_all_a_server_can_reach_acknowledges_nothing(
    process_server: MakeServer, cluster: PostgresCluster, redis_server: RedisServer
) -> None:
    """Nothing tells such a server that there is another primary; but no standby follows, so that no COMMIT returns."""
    old = cluster.primary
    old.create_database(DATABASE)
    url = old.database_url(DATABASE)
    settings = {**ROOMY, "DATABASE_URL": url, "DATABASE_STATEMENT_TIMEOUT_SECONDS": 3, "REDIS_URL": redis_server.url}
    server = process_server(**settings).migrate().start()
    key = Owner(server).key()
    assert ask(publish(server, key, "before", "before")).status == 201
    old.crash()
    cluster.fail_over()
    old.start_again()
    assert wait_until(lambda: ask(who_am_i(server, key)).status == 200), "it does not reach the old primary"

    answers = [ask(publish(server, key, "after", "after")) for _ in range(3)]

    assert {answer.status for answer in answers} == {503}
    assert all("retry-after" in answer.headers for answer in answers)
    assert ask(who_am_i(server, key)).status == 200, "it was the old primary that could not be reached"
    observe(
        "An old primary comes back by itself after a fail-over, and a server can reach no other",
        "every write, retries included, is a 503: the old primary asks for a standby and none follows it, so that no "
        "COMMIT returns in time; reads show what is old",
        "once it reaches the new primary, as in the rows of a killed primary",
    )


def test_start_without_a_writable_host_reports_each_refusal(
    process_server: MakeServer, cluster: PostgresCluster
) -> None:
    standby = cluster.standbys[0]
    url = standby.database_url("postgres").replace(f":{standby.port}", f":{standby.port},127.0.0.1:1")
    server = process_server(DATABASE_URL=url)
    server.launch()
    said = f"takes writes: 127.0.0.1:{standby.port}: it only reads; 127.0.0.1:1: [Errno 111]"
    assert wait_until(lambda: said in server.output()), server.output()
    assert '"waiting for the database' in server.output()
    server.kill()


def test_answers_through_a_fail_over_are_linearizable(
    process_server: MakeServer, cluster: PostgresCluster, redis_server: RedisServer, tmp_path: Path
) -> None:
    history = History(tmp_path / "history.jsonl")
    cluster.primary.create_database(DATABASE)
    process_server(DATABASE_URL=cluster.primary.database_url(DATABASE)).migrate()
    shared = {**ROOMY, "DATABASE_URL": cluster.url(DATABASE), "REDIS_URL": redis_server.url}
    servers = [process_server(**shared, BLOBS_URL=f"file://{tmp_path}/blobs").start() for _ in range(2)]
    crowd = Crowd(servers, history)
    keys = crowd.new_keys(KEYS)

    async def story() -> None:
        async with asyncio.timeout(STORY_SECONDS):
            before = asyncio.create_task(crowd.live(POSTS_OF_CROWD, keys[::2]))
            while history.length < CALLS_BEFORE:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(cluster.primary.crash)
            amid = asyncio.create_task(crowd.live(POSTS_OF_CROWD, keys[1::2]))
            await asyncio.sleep(OUTAGE)
            await asyncio.to_thread(cluster.fail_over)
            await asyncio.gather(before, amid)

    asyncio.run(story())

    assert history.faults() == []
    observe(
        "PostgreSQL's primary killed with -9 amid edits, deletes, likes and revocations",
        f"{history.length} calls of clients that retry: all as if done one after the other",
        history.longest_silence(),
        "the last answer before",
    )


def owners(server: ServerProcess) -> list[Owner]:
    """Two accounts."""
    return [Owner(server, "alice"), Owner(server, "bob")]


async def publish_through(publishers: Sequence[Wanderer], disaster: Coroutine[None, None, None]) -> None:
    """All publish while the disaster takes its course."""
    async with asyncio.TaskGroup() as group:
        group.create_task(publish_all(publishers, POSTS // len(publishers)))
        group.create_task(disaster)


async def publish_all(publishers: Sequence[Wanderer], number: int) -> None:
    """Each publishes so many posts."""
    async with asyncio.timeout(STORY_SECONDS):
        await asyncio.gather(*(each.publish(each.some(number)) for each in publishers))


async def lose_the_primary(cluster: PostgresCluster, opened: Access, publishers: Sequence[Wanderer]) -> None:
    """Kills the primary amid the posts, and has a standby take its place."""
    while sum(len(each.acknowledged) for each in publishers) < POSTS // 3:
        await asyncio.sleep(0.01)
    await asyncio.to_thread(cluster.primary.crash)
    await asyncio.sleep(OUTAGE)
    await asyncio.to_thread(cluster.fail_over)
    opened.follow(cluster)


def transactions(node: PostgresNode) -> str:
    """The number that the next transaction gets that writes anything in the service's database or another."""
    return node.query("SELECT pg_snapshot_xmax(pg_current_snapshot())")
