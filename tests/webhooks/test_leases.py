"""Several workers on one database: their share of work, take-overs, and the state after a stop."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pressroom.clock import SECOND
from pressroom.db import Command, Query, Tx
from pressroom.domains.webhooks import slots
from pressroom.domains.webhooks.delivery import LEASE
from pressroom.domains.webhooks.models import Speed
from pressroom.domains.webhooks.slots import SlotPool
from pressroom.jobs import lease_loop
from pressroom.jobs.keyed_tasks import KeyedTasks
from tests.api.actors import Actor, body_of, rows
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.locks import locked
from tests.harness.receiver import Receiver, answer, hold
from tests.webhooks.clocked import pass_time, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint, let_go
from tests.webhooks.workers import Worker, settling, wait_until

SETTINGS = DELIVERING

on_postgres = pytest.mark.parametrize("server", ["postgres"], indirect=True)

LEASED_UNTIL = Query(int, "SELECT leased_until FROM webhooks WHERE account_id = :account_id AND id = :id")
DUE = Query(int, "SELECT next_due_at FROM webhooks WHERE account_id = :account_id AND id = :id")
SET_DUE = Command("UPDATE webhooks SET next_due_at = :due_at WHERE account_id = :account_id AND id = :id")


@pytest.fixture
def second_server(server: LocalServer, tmp_path: Path) -> Iterator[LocalServer]:
    """Another server on the same database, by the same clock, with a thread and connections of its own."""
    second = LocalServer(tmp_path, **SETTINGS, DATABASE_URL=server.settings.database_url)
    second.clock = server.clock
    second.start()
    yield second
    second.stop()


def leased_until(hook: Endpoint) -> int:
    (until,) = rows(hook.owner.server, LEASED_UNTIL, account_id=hook.owner.account.id, id=hook.id)
    return until


def set_due(hook: Endpoint, due_at: int | None) -> None:
    """Sets when the endpoint is looked after, and wakes nobody."""

    async def write(tx: Tx) -> None:
        await tx.run(SET_DUE, due_at=due_at, account_id=hook.owner.account.id, id=hook.id)

    hook.owner.server.run(hook.owner.server.runtime.db.transact(write))


def counted(receiver: Receiver) -> set[int]:
    """How often envelopes arrived: {1} when each came once."""
    return set(Counter(request.id for request in receiver.received).values())


@on_postgres
def test_two_workers_send_everything_once(
    actor: MakeActor, receiver: Receiver, second_server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "POOLS", dict.fromkeys(Speed, SlotPool(3, of_account=2, of_host=3)))
    owners = [actor() for _ in range(3)]
    hooks = [Endpoint.add(owner, receiver, "post.created") for owner in owners for _ in range(5)]
    with Worker(owners[0].server), Worker(second_server):
        for _ in range(30):
            for owner in owners:
                post(owner)
        receiver.wait(lambda receiver: all(receiver.count(hook.path) >= 30 for hook in hooks))
        for hook in hooks:
            wait_until_delivered(hook)
    assert receiver.count() == 15 * 30
    assert counted(receiver) == {1}


@on_postgres
def test_leased_items_are_left_to_their_worker(
    alice: Actor, server: LocalServer, receiver: Receiver, endpoint: MakeEndpoint, second_server: LocalServer
) -> None:
    hanging, *others = [endpoint("post.created") for _ in range(5)]
    hanging.behave(hold())
    post(alice, 20)
    with settling(server):
        receiver.wait(lambda receiver: receiver.in_flight[hanging.path] == 8)
        receiver.wait(lambda receiver: all(receiver.count(hook.path) == 20 for hook in others))
        post(alice, 20)
        second_server.deliver()
        assert receiver.count(hanging.path) == 8
        let_go(hanging)
    second_server.deliver()
    assert receiver.count() == 5 * 40
    assert counted(receiver) == {1}


def test_a_lease_that_ran_out_is_taken_over(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(500), answer(200))
    post(alice)
    heir = Worker(server)
    with settling(server):
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 1)
        server.clock.advance(LEASE - 1)
        heir.settle()
        assert len(hook.received) == 1
        server.clock.advance(1)
        heir.settle()
        assert len(hook.received) == 2
        hook.receiver.release(hook.path)
    assert len({request.body for request in hook.received}) == 1


def test_results_under_a_lost_lease_are_not_saved(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(*[hold(410)] * 3, answer(200))
    post(alice, 3)
    heir = Worker(server)
    with settling(server):
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 3)
        server.clock.advance(LEASE)
        heir.settle()
        assert set(hook.states()) == {"delivered"}
        hook.receiver.release(hook.path)
    assert set(hook.states()) == {"delivered"}
    assert [len(each["attempts"]) for each in hook.deliveries()] == [1, 1, 1]
    assert (hook.show()["status"], hook.show()["consecutiveFailures"]) == ("enabled", 0)


def test_success_under_a_lost_lease_is_not_saved(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(200), hold(500))
    post(alice)
    heir = Worker(server)
    with settling(server):
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 1)
        server.clock.advance(LEASE)
        with settling(heir):
            hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 2)
            hook.receiver.release(hook.path)
    (found,) = hook.deliveries()
    assert [each["httpCode"] for each in found["attempts"]] == [500]
    assert hook.show()["consecutiveFailures"] == 1


def test_regained_lease_keeps_results_of_others(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook, other = endpoint("post.created"), endpoint("comment.created")
    hook.behave(hold(500), answer(501), hold(200))
    post(alice)
    heir = Worker(server)
    with settling(server):
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 1)
        server.clock.advance(LEASE)
        heir.settle()
        server.clock.advance(66 * SECOND)
        body_of(other.test(), 202)  # the worker of the first attempt looks for due work
        other.receiver.wait(lambda receiver: receiver.count(other.path) == 1)
        assert leased_until(hook) == 0, "it has the first attempt in flight, and does not lease the endpoint again"
        let_go(hook)
    server.deliver()
    (found,) = hook.deliveries()
    assert [each["httpCode"] for each in found["attempts"]] == [501, 200]
    assert (found["state"], hook.show()["consecutiveFailures"]) == ("delivered", 0)


def test_leases_are_renewed_while_a_batch_lasts(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_loop, "RENEWALS", 3_000)
    hook = endpoint("post.created")
    hook.behave(hold())
    post(alice)
    with Worker(server):
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 1)
        for _ in range(4):
            server.clock.advance(LEASE - SECOND)
            wait_until_renewed(hook)
            server.deliver()
        assert len(hook.received) == 1
        let_go(hook)
        wait_until_delivered(hook)
    assert [len(each["attempts"]) for each in hook.deliveries()] == [1]


def test_stop_finishes_deliveries_in_flight_and_begins_none(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook, idle = endpoint("post.created"), endpoint("comment.created")
    hook.behave(hold())
    post(alice, 20)
    with Worker(server) as worker:
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 8)
        worker.stop(20)
        body_of(idle.test(), 202)
        let_go(hook)
        worker.ended()
    assert (len(hook.received), idle.received) == (8, [])
    assert sorted(hook.states()) == ["delivered"] * 8 + ["pending"] * 12
    server.deliver()
    assert (len(hook.received), len(idle.received)) == (20, 1)
    assert counted(hook.receiver) == {1}


def test_a_stop_that_cannot_wait_gives_its_leases_back(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    hook.behave(hold())
    post(alice, 20)
    with Worker(server) as worker:
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 8)
        worker.stop(0)
        worker.ended()
    assert leased_until(hook) == 0
    assert (set(hook.states()), hook.show()["consecutiveFailures"]) == ({"pending"}, 0)
    hook.behave(answer(200))
    server.deliver()
    assert len(hook.received) == 28
    assert len({request.id for request in hook.received}) == 20


def test_a_batch_that_is_cancelled_before_its_first_step_gives_its_lease_back(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = endpoint("post.created")
    post(alice, 3)
    cancelled: list[str] = []
    start = KeyedTasks[Any].start

    def start_and_cancel(tasks: KeyedTasks[Any], key: str, *rest: Any) -> asyncio.Task[None]:
        task = start(tasks, key, *rest)
        if key == hook.id and not cancelled:  # an endpoint of another test may be due as well
            cancelled.append(key)
            task.cancel()
        return task

    monkeypatch.setattr(KeyedTasks, "start", start_and_cancel)
    server.deliver()
    assert cancelled == [hook.id]
    assert leased_until(hook) == 0
    assert hook.states() == ["delivered"] * 3
    assert counted(hook.receiver) == {1}


def test_outcomes_are_written_down_at_a_stop(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(500))
    post(alice)
    with Worker(server) as worker:
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 1)
        worker.stop(20)
        hook.receiver.release(hook.path)
        worker.ended()
    (found,) = hook.deliveries()
    assert (found["state"], [each["httpCode"] for each in found["attempts"]]) == ("pending", [500])
    hook.behave(answer(200))
    pass_time(server, 66 * SECOND)
    assert hook.states() == ["delivered"]


def test_a_signal_wakes_the_worker(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    with Worker(server):
        hook = endpoint("post.created")
        for count in range(1, 4):
            post(alice)
            hook.receiver.wait(lambda receiver, count=count: receiver.count(hook.path) == count)


@on_postgres
def test_a_signal_wakes_the_worker_of_another_process(
    alice: Actor, endpoint: MakeEndpoint, second_server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_loop, "POLL_SECONDS", 3600.0)
    with Worker(second_server):
        hook = endpoint("post.created")
        for count in range(1, 4):
            post(alice)
            hook.receiver.wait(lambda receiver, count=count: receiver.count(hook.path) == count)


def test_polling_finds_deliveries_without_a_signal(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_loop, "POLL_SECONDS", 0.05)
    hook = endpoint("post.created")
    post(alice)
    set_due(hook, None)
    other = endpoint("post.created")
    with Worker(server):
        body_of(other.test(), 202)
        other.receiver.wait(lambda receiver: receiver.count(other.path) == 1)
        assert hook.received == []
        set_due(hook, server.clock.now())
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 1)
        server.clock.advance(SECOND)
        wait_until_delivered(hook)
    assert rows(server, DUE, account_id=alice.account.id, id=hook.id) == [None]


def test_workers_that_settle_at_once_leave_nothing_waiting(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hooks = [endpoint("post.created") for _ in range(5)]
    workers = [Worker(server) for _ in range(4)]
    with ThreadPoolExecutor(len(workers)) as pool:
        for _ in range(5):
            post(alice, 4)
            for done in [pool.submit(worker.settle) for worker in workers]:
                done.result(120)
    assert {hook.path: len(hook.received) for hook in hooks} == {hook.path: 20 for hook in hooks}
    assert counted(hooks[0].receiver) == {1}


@on_postgres
def test_redelivery_waits_for_outcomes_that_are_saved_and_then_queues(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    # They cannot wait in a circle: a worker that saves outcomes skips endpoints that a redelivery has locked.
    hook = endpoint("post.created")
    post(alice)

    saving = "UPDATE deliveries SET tries = tries WHERE state = 'pending'"
    with ThreadPoolExecutor(1) as pool, locked(server.settings.database_url, saving) as waiting:
        redelivered = pool.submit(hook.redelivered)
        wait_until(lambda: waiting() == 1)

    assert redelivered.result() == (1, 0)


def wait_until_renewed(hook: Endpoint) -> None:
    """Until the lease lasts as long from now on as a new one."""
    wait_until(lambda: leased_until(hook) == hook.owner.server.clock.now() + LEASE)


def wait_until_delivered(hook: Endpoint) -> None:
    wait_until(lambda: set(hook.states()) == {"delivered"})
