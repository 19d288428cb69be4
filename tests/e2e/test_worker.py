"""`pressroom worker`: it delivers what others queued, shares the load, stops in good order and outlives PostgreSQL."""

import contextlib
import os
import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import apsw
import psutil
import pytest

from tests.e2e.processes import LONGEST_STOP, one_line
from tests.harness.beside import api_alone, worker
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint, left_over, wait_until_settled
from tests.harness.owners import Owner, publish
from tests.harness.process import DEADLINE, ServerProcess
from tests.harness.receiver import Behaviour, Received, Receiver, answer, hold, never
from tests.harness.records import Row, rows, sqlite_file
from tests.harness.wire import Request, ask, in_turn
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

SETTLING_SECONDS = 120.0


@dataclass
class Desk:
    """An API that delivers nothing itself, somebody who publishes there, and the receiver of their endpoints."""

    api: ServerProcess
    receiver: Receiver
    owner: Owner
    key_id: str
    key: str

    def endpoint(self, path: str = "/hook") -> Endpoint:
        """Adds an endpoint for posts."""
        return Endpoint(self.api, self.owner, self.key_id, self.receiver.url(path), (POST,))

    def publish(self, number: int = 1) -> None:
        """Publishes so many posts, one after the other."""
        posts = [publish(self.api, self.key, f"post {n}") for n in range(number)]
        assert [reply.status for reply in in_turn([posts])] == [201] * number

    def settle(self) -> None:
        """Waits until all is delivered."""
        wait_until_settled(self.api, SETTLING_SECONDS)

    def times(self, path: str = "/hook") -> Counter[int]:
        """How many envelopes came how often on a path."""
        return Counter(Counter(request.id for request in self.receiver.of(path)).values())


def open_desk(settings: ServerProcess) -> Iterator[Desk]:
    """A desk whose API has these settings."""
    with Receiver() as receiver, api_alone(settings) as api:
        owner = Owner(api)
        made = owner.new_key().json()
        yield Desk(api, receiver, owner, made["id"], made["key"])


@pytest.fixture
def desk(roomy_server: MakeServer, postgres_server: PostgresServer, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A desk on a new database."""
    url = postgres_server.create_database(f"{request.node.name}_{os.getpid()}"[-60:])
    yield from open_desk(roomy_server(DATABASE_URL=url, **QUICK_RETRIES))


@pytest.fixture
def mortal_desk(roomy_server: MakeServer, mortal_postgres: PostgresServer) -> Iterator[Desk]:
    """A desk on a PostgreSQL that the test may stop."""
    yield from open_desk(roomy_server(DATABASE_URL=mortal_postgres.create_database("mortal"), **QUICK_RETRIES))


def until(condition: Callable[[], object], what: str) -> None:
    """Waits for something that nobody tells of."""
    assert wait_until(lambda: bool(condition()), DEADLINE), f"not within {DEADLINE:g} s: {what}"


def queue(desk: Desk) -> list[Row]:
    """States of deliveries and how often each was tried, with how many there are of that."""
    return rows(desk.api, "SELECT state, tries, count(*) FROM deliveries GROUP BY state, tries ORDER BY state")


def leases(desk: Desk) -> int:
    """How many endpoints are leased."""
    return int(rows(desk.api, "SELECT count(*) FROM webhooks WHERE lease_token IS NOT NULL OR leased_until > 0")[0][0])


def test_an_api_alone_delivers_nothing_and_a_worker_does(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.publish(10)
    # This is written once a second: by then any deliverer would have looked.
    until(lambda: rows(desk.api, "SELECT 1 FROM api_keys WHERE last_used_at IS NOT NULL"), "the key's last use")
    assert (desk.receiver.count(), queue(desk), leases(desk)) == (0, [("pending", 0, 10)], 0)
    assert '"delivering"' not in desk.api.output()

    with worker(desk.api) as sender:
        desk.settle()
        assert desk.times() == {1: 10}
        assert endpoint.states() == {"delivered": 10}
        assert sender.stop() == 0


def test_a_worker_with_nothing_to_do_is_woken(desk: Desk) -> None:
    desk.endpoint()
    with worker(desk.api):
        for number in range(1, 6):
            desk.publish()
            desk.receiver.wait(lambda receiver, number=number: receiver.count() == number)
            desk.settle()
    assert desk.times() == {1: 5}


def test_a_worker_needs_postgres(process_server: MakeServer) -> None:
    line = one_line(process_server(), "worker")
    assert "PRESSROOM_DATABASE_URL" in line
    assert "PostgreSQL" in line
    assert line == one_line(process_server(), "serve", "--only", "worker")


def test_no_more_is_under_way_than_the_concurrency(desk: Desk) -> None:
    at_once: list[int] = []

    def note(_: Received) -> Behaviour:
        at_once.append(desk.receiver.in_flight.total())
        return hold()

    paths = [f"/hook{n}" for n in range(3)]
    for path in paths:
        desk.endpoint(path)
        desk.receiver.behave(path, note)
    desk.publish(3)

    with worker(desk.api, "--concurrency", "1"):
        for number in range(9):
            desk.receiver.wait(lambda receiver, number=number: receiver.count() > number)
            for path in paths:
                desk.receiver.release(path)
        desk.settle()
    assert set(at_once) == {1}


@pytest.mark.parametrize("number", ["0", "-1", "10001", "many", "1.5"])
def test_invalid_concurrency_is_reported(process_server: MakeServer, number: str) -> None:
    assert "Invalid value for '--concurrency'" in one_line(process_server(), "worker", "--concurrency", number)


def test_stop_finishes_running_work_and_begins_nothing(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.receiver.behave("/hook", hold())
    desk.publish(20)

    with worker(desk.api) as sender:
        desk.receiver.wait(lambda receiver: receiver.in_flight["/hook"] == 8)
        sender.terminate()
        desk.publish(1)
        desk.receiver.release("/hook")
        assert sender.wait(LONGEST_STOP) == 0

    assert desk.receiver.count() == 8
    assert queue(desk) == [("delivered", 1, 8), ("pending", 0, 13)]
    assert leases(desk) == 0
    assert endpoint.show()["consecutiveFailures"] == 0

    desk.receiver.behave("/hook", answer(200))
    with worker(desk.api):
        desk.settle()
    assert desk.times() == {1: 21}


def test_a_stop_does_not_wait_for_a_receiver_that_never_answers(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.receiver.behave("/hook", never())
    desk.publish(3)

    with worker(desk.api) as sender:
        desk.receiver.wait(lambda receiver: receiver.in_flight["/hook"] == 3)
        sender.terminate()
        assert sender.wait(LONGEST_STOP) == 0

    assert queue(desk) == [("pending", 0, 3)]
    assert leases(desk) == 0
    assert endpoint.show()["consecutiveFailures"] == 0

    desk.receiver.behave("/hook", answer(200))
    with worker(desk.api):
        desk.settle()
    assert desk.times() == {2: 3}
    assert [len(delivery["attempts"]) for delivery in endpoint.deliveries()] == [1, 1, 1]


def test_two_workers_share_the_load_without_a_duplicate(desk: Desk) -> None:
    paths = [f"/hook{n}" for n in range(5)]
    for path in paths:
        desk.endpoint(path)

    with worker(desk.api), worker(desk.api):
        desk.publish(100)
        desk.settle()

    assert [desk.times(path) for path in paths] == [{1: 100}] * 5


def test_worker_takes_work_that_another_leaves(desk: Desk) -> None:
    """The first is halted in the middle of a request; the second delivers all but the first one's lease."""
    desk.endpoint("/first")
    desk.receiver.behave("/first", hold())

    with worker(desk.api) as first:
        desk.publish(1)
        desk.receiver.wait(lambda receiver: receiver.in_flight["/first"] == 1)
        os.kill(first.pid, signal.SIGSTOP)
        desk.endpoint("/second")
        with worker(desk.api):
            desk.publish(1)
            desk.receiver.wait(lambda receiver: receiver.count("/second") == 1)
            assert desk.receiver.count("/first") == 1
            os.kill(first.pid, signal.SIGCONT)
            desk.receiver.behave("/first", answer(200))
            desk.receiver.release("/first")
            desk.settle()

    assert (desk.times("/first"), desk.times("/second")) == ({1: 2}, {1: 1})


def test_a_worker_outlives_a_restart_of_postgres(mortal_desk: Desk, mortal_postgres: PostgresServer) -> None:
    mortal_desk.endpoint()
    mortal_desk.receiver.behave("/hook", hold())

    with worker(mortal_desk.api) as sender:
        pid = sender.pid
        mortal_desk.publish(1)
        mortal_desk.receiver.wait(lambda receiver: receiver.in_flight["/hook"] == 1)
        mortal_postgres.kill()
        mortal_desk.receiver.behave("/hook", answer(200))
        mortal_desk.receiver.release("/hook")
        sender.wait_for("deliveries wait for the database")
        mortal_postgres.restart()
        mortal_desk.settle()
        assert mortal_desk.times() == {1: 1}

        publish_once_it_is_back(mortal_desk)
        mortal_desk.receiver.wait(lambda receiver: receiver.count() == 2)
        mortal_desk.settle()
        assert (sender.pid, sender.ended) == (pid, False)
        assert sender.stop() == 0
    assert mortal_desk.times() == {1: 2}
    assert left_over(mortal_desk.api) == []


def test_a_stop_does_not_wait_for_a_postgres_that_does_not_answer(
    mortal_desk: Desk, mortal_postgres: PostgresServer
) -> None:
    mortal_desk.endpoint()
    mortal_desk.receiver.behave("/hook", never())

    with worker(mortal_desk.api) as sender:
        mortal_desk.publish(1)
        mortal_desk.receiver.wait(lambda receiver: receiver.in_flight["/hook"] == 1)
        with halted(mortal_postgres):
            sender.terminate()
            assert sender.wait(LONGEST_STOP) == 0


@contextlib.contextmanager
def halted(database: PostgresServer) -> Generator[None]:
    """All processes of a PostgreSQL stand still: it takes connections and never answers."""
    postmaster = psutil.Process(database.pid)
    processes = [postmaster, *postmaster.children(recursive=True)]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


def publish_once_it_is_back(desk: Desk) -> None:
    """Publishes one post, as often as it takes."""
    request: Request = publish(desk.api, desk.key, "after the restart", "after-the-restart")
    until(lambda: ask(request).status in (200, 201), "the API is back")


def test_a_server_whose_file_was_locked_at_its_start_delivers_all_the_same(roomy_server: MakeServer) -> None:
    server = roomy_server(**QUICK_RETRIES).start()
    with Receiver() as receiver:
        owner = Owner(server)
        key = owner.new_key().json()
        Endpoint(server, owner, key["id"], receiver.url("/hook"), (POST,))
        assert server.stop() == 0
        with contextlib.closing(apsw.Connection(str(sqlite_file(server)))) as other:
            other.execute("BEGIN IMMEDIATE")
            server.restart()
            # Once it says so, a write has waited for the other program as long as any does.
            assert wait_until(lambda: "rate limits cannot be taken over yet" in server.output()), server.output()
        request: Request = publish(server, key["key"], "after the lock", "after-the-lock")
        until(lambda: ask(request).status in (200, 201), "it counts limits, and publishes")
        receiver.wait(lambda receiver: receiver.count() == 1)
    assert server.stop() == 0, server.output()
