"""Four workers on one PostgreSQL: two are killed, one is frozen past its leases, some endpoints hang.

PRESSROOM_TEST_FULL=1 has 300 endpoints and 20,000 deliveries, and waits until the leases run out by themselves.
"""

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import asyncpg
import psutil
import pytest

from pressroom.clock import SECOND
from pressroom.domains.webhooks.delivery import LEASE
from tests.e2e.processes import LONGEST_STOP
from tests.harness.beside import Command, worker
from tests.harness.databases import in_database, migrated_database, settings_of
from tests.harness.deliveries import QUICK_RETRIES, wait_until_settled
from tests.harness.observations import NONE_NEEDED, observe
from tests.harness.process import ServerProcess
from tests.harness.queued import fill, publish_events
from tests.harness.receiver import Receiver, answer, hold, never
from tests.harness.records import rows
from tests.services.postgres import PostgresServer
from tests.services.session import run_folder

MakeServer = Callable[..., ServerProcess]

FULL = bool(os.environ.get("PRESSROOM_TEST_FULL"))
ACCOUNTS, EVENTS, CONCURRENCY = (60, 67, 64) if FULL else (6, 17, 8)
ENDPOINTS = 5
"""Endpoints of one account. All of them together are more than three workers can have in hand."""

WORKERS = 4
PATIENCE = 600.0 if FULL else 60.0


class Office:
    """Accounts with endpoints on a receiver, and workers that deliver to them."""

    def __init__(self, server: ServerProcess, receiver: Receiver, accounts: int) -> None:
        self.server = server
        self.receiver = receiver
        self.paths = [f"/{account}/{number}" for account in range(accounts) for number in range(ENDPOINTS)]
        shares = [self.paths[first : first + ENDPOINTS] for first in range(0, len(self.paths), ENDPOINTS)]
        urls = [[receiver.url(path) for path in share] for share in shares]
        in_database(settings_of(server.settings), lambda db: fill(db, urls, 0))

    def publish(self, events: int) -> None:
        """Has so many events happen to each account."""
        in_database(settings_of(self.server.settings), lambda db: publish_events(db, events))

    def behave(self, paths: Sequence[str], *, held: bool) -> None:
        """Has requests on these paths be held, or answered and let go."""
        for path in paths:
            self.receiver.behave(path, hold() if held else answer(200))
            if not held:
                self.receiver.release(path)

    def envelopes(self, condition: str) -> set[str]:
        """The ids of deliveries for which a condition holds on their rows `d` and those of their endpoints, `w`."""
        joined = "deliveries d JOIN webhooks w ON w.account_id = d.account_id AND w.id = d.webhook_id"
        return {id_ for (id_,) in rows(self.server, f"SELECT d.envelope_id FROM {joined} WHERE {condition}")}  # noqa: S608  # the test's own words

    def received(self) -> Counter[str]:
        """How often each envelope came."""
        return Counter(request.id for request in self.receiver.received)

    def leases(self) -> dict[str, str]:
        """Who holds the lease of each path on which requests are in flight."""
        leased = rows(self.server, "SELECT url, lease_token FROM webhooks WHERE lease_token IS NOT NULL")
        in_flight = +self.receiver.in_flight
        held = {url.removeprefix(self.receiver.url("")): token for url, token in leased}
        return {path: token for path, token in held.items() if in_flight[path]}


@pytest.fixture
def settings(
    roomy_server: MakeServer, postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> ServerProcess:
    """The settings of workers on a new database."""
    folder = run_folder(tmp_path_factory.getbasetemp())
    url = migrated_database(postgres_server, folder, f"many_workers_{os.getpid()}_{time.monotonic_ns()}")
    return roomy_server(DATABASE_URL=url, **QUICK_RETRIES)


@pytest.fixture
def workers(settings: ServerProcess) -> Iterator[list[Command]]:
    """Four workers, at work."""
    with ExitStack() as stack:
        made = [worker(settings, "--concurrency", str(CONCURRENCY)) for _ in range(WORKERS)]
        for each in made:
            stack.callback(each.kill)
            each.launch()
        for each in made:
            each.wait_for('"delivering"')
        yield made


def token_of(sender: Command) -> str:
    """The token of a worker's leases, as its log says."""
    (line,) = (line for line in sender.output().splitlines() if '"delivering"' in line)
    return str(json.loads(line)["leases"])


def freeze(sender: Command) -> None:
    """Stops a worker outside of every transaction: one that it has open keeps what it has locked from all others."""
    ports = [each.laddr.port for each in psutil.Process(sender.pid).net_connections("tcp4")]
    url = str(sender.settings["DATABASE_URL"])
    while True:
        os.kill(sender.pid, signal.SIGSTOP)
        if not asyncio.run(_in_transaction(url, ports)):
            return
        os.kill(sender.pid, signal.SIGCONT)


async def _in_transaction(url: str, ports: Sequence[int]) -> bool:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(  # pyright: ignore[reportUnknownMemberType]  # asyncpg's own
            "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE client_port = ANY($1) AND xact_start IS NOT NULL)",
            ports,
        )
    finally:
        await connection.close()


def run_out(settings: ServerProcess, tokens: Sequence[str]) -> None:
    """Has the leases of these workers be as old as they get."""
    if FULL:
        time.sleep(LEASE / SECOND)
        return
    listed = ", ".join(f"'{token}'" for token in tokens)
    rows(settings, f"UPDATE webhooks SET leased_until = leased_until - {LEASE} WHERE lease_token IN ({listed})")  # noqa: S608  # the test's own tokens


def test_two_killed_and_one_frozen_lose_nothing_and_repeat_leased_work(
    settings: ServerProcess, workers: Sequence[Command]
) -> None:
    tokens = [token_of(each) for each in workers]
    with Receiver() as receiver:
        office = Office(settings, receiver, ACCOUNTS)
        office.publish(EVENTS // 2)
        half = len(office.paths) * (EVENTS // 2)
        receiver.wait(lambda receiver: receiver.count() >= half, PATIENCE)

        office.behave(office.paths, held=True)
        office.publish(EVENTS - EVENTS // 2)
        receiver.wait(lambda _: set(office.leases().values()) == set(tokens), PATIENCE)
        freeze(workers[2])
        for each in workers[:2]:
            each.kill()
        late = next(path for path, token in office.leases().items() if token == tokens[2])
        in_hand = office.envelopes("d.state = 'pending'") & office.received().keys()
        frozen = office.envelopes(f"d.state = 'pending' AND w.lease_token = '{tokens[2]}'")
        held_late = {request.id for request in receiver.of(late)} & frozen

        # The frozen worker is answered, and another one is sending the same when it wakes.
        receiver.release(late)
        receiver.wait(lambda receiver: receiver.in_flight[late] == 0)
        office.behave([path for path in office.paths if path != late], held=False)
        run_out(settings, tokens[:3])
        ran_out = time.monotonic()
        receiver.wait(lambda receiver: receiver.in_flight[late] > 0, PATIENCE)
        recovered = time.monotonic() - ran_out
        workers[2].terminate()
        os.kill(workers[2].pid, signal.SIGCONT)
        assert workers[2].wait(LONGEST_STOP) == 0, workers[2].output()

        assert held_late
        assert held_late <= office.envelopes("d.state = 'pending'"), "a late outcome was saved"

        office.behave([late], held=False)
        wait_until_settled(settings, PATIENCE)
        received = office.received()
        assert received.keys() == office.envelopes("d.state = 'delivered'")
        assert len(received) == len(office.paths) * EVENTS
        again = {id_ for id_, times in received.items() if times > 1}
        assert again <= in_hand | frozen
        assert len(again) <= len(in_hand) + CONCURRENCY
        observe(
            "2 of 4 workers killed with -9, 1 frozen past its leases and woken",
            f"all of {len(received):,} deliveries arrived, {len(again)} of them twice ({len(in_hand)} were in hand);"
            f" what the woken one had to save was refused; leases last {LEASE / SECOND:g} s",
            recovered,
            "the end of their leases",
        )


def test_endpoints_that_hang_keep_nobody_waiting(settings: ServerProcess) -> None:
    with Receiver() as receiver, worker(settings), worker(settings):
        office = Office(settings, receiver, 8)
        hanging, rest = office.paths[:30], office.paths[30:]
        office.publish(2)
        wait_until_settled(settings, PATIENCE)
        for path in hanging:
            receiver.behave(path, never())

        office.publish(5)

        receiver.wait(lambda receiver: all(receiver.count(path) >= 7 for path in rest), PATIENCE)
        receiver.wait(lambda receiver: any(receiver.in_flight[path] for path in hanging), PATIENCE)
        hung = " OR ".join(f"w.url = '{receiver.url(path)}'" for path in hanging)
        assert len(office.envelopes(f"d.state = 'delivered' AND ({hung})")) == len(hanging) * 2
        observe(
            f"{len(hanging)} of {len(office.paths)} webhook endpoints hang",
            "the others got all of theirs meanwhile",
            NONE_NEEDED,
        )
