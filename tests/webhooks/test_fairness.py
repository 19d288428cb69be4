"""Who waits for whom: as few as can be."""

import pytest

from pressroom.clock import SECOND
from pressroom.domains.webhooks import slots
from pressroom.domains.webhooks.models import Speed
from pressroom.domains.webhooks.slots import SlotPool
from tests.api.actors import Actor, body_of
from tests.api.conftest import MakeActor
from tests.harness.behaviours import Behaviour
from tests.harness.local import LocalServer
from tests.harness.receiver import Received, Receiver, answer, hold
from tests.webhooks.clocked import post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint, let_go
from tests.webhooks.workers import Worker, settling

SETTINGS = DELIVERING


def test_an_endpoint_has_eight_deliveries_in_flight_at_the_most(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    hook.behave(*[hold()] * 8, answer(200))
    post(alice, 40)
    with settling(server):
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 8)
        let_go(hook)
    assert len({request.id for request in hook.received}) == len(hook.received) == 40
    assert hook.receiver.most_in_flight[hook.path] == 8


def test_a_worker_has_a_bounded_number_in_flight_in_all(
    alice: Actor, receiver: Receiver, endpoint: MakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "POOLS", dict.fromkeys(Speed, SlotPool(10, of_account=10, of_host=10)))
    monkeypatch.setattr(slots, "SLOW_SECONDS", 3600.0)
    together: list[int] = []

    def count(_: Received) -> Behaviour:
        together.append(sum(receiver.in_flight.values()))
        return hold() if len(together) <= 9 else answer(200)

    hooks = [endpoint("post.created") for _ in range(4)]
    post(alice)  # so that none of them is new
    alice.server.deliver()
    for hook in hooks:
        hook.behave(count)
    post(alice, 20)
    with settling(Worker(alice.server)):
        receiver.wait(lambda receiver: receiver.count() == 13)  # the last slot is for the next endpoint
        for hook in hooks:
            receiver.release(hook.path)
    assert receiver.count() == 84
    assert 9 <= max(together) <= 10


def test_long_queue_of_one_endpoint_delays_no_other(
    actor: MakeActor, server: LocalServer, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "POOLS", dict.fromkeys(Speed, SlotPool(1, of_account=1, of_host=1)))
    busy, *quiet = hooks = [Endpoint.add(actor(), receiver, "post.created") for _ in range(4)]
    for hook in hooks:  # once each, so that none of them is new
        post(hook.owner)
    server.deliver()
    assert receiver.count() == 4
    post(busy.owner, 200)
    server.clock.advance(SECOND)
    for hook in quiet:
        post(hook.owner)
    server.clock.advance(SECOND)
    server.deliver()
    paths = [request.path for request in receiver.received[4:]]
    assert paths.count(busy.path) == 200
    for hook in quiet:
        assert paths.index(hook.path) <= 64 + 2, "after one turn of the busy one at the most"


def test_hanging_receiver_delays_no_other(alice: Actor, actor: MakeActor, receiver: Receiver) -> None:
    owners = [alice, actor()]
    hooks = [Endpoint.add(owner, receiver, "post.created") for owner in owners for _ in range(5)]
    hanging, *others = hooks
    hanging.behave(hold())
    post(alice, 8)
    with Worker(alice.server):
        receiver.wait(lambda receiver: receiver.in_flight[hanging.path] == 8)
        for _ in range(10):
            post(owners[0])
            post(owners[1])
        expected = {hook.path: 18 if hook.owner is alice else 10 for hook in others}
        receiver.wait(lambda receiver: all(receiver.count(path) == count for path, count in expected.items()))
        assert receiver.in_flight[hanging.path] == 8
        assert receiver.count(hanging.path) == 8
        let_go(hanging)
        receiver.wait(lambda receiver: receiver.count(hanging.path) == 18)


def test_new_events_are_sent_while_other_receivers_hang(alice: Actor, actor: MakeActor, receiver: Receiver) -> None:
    hanging = [Endpoint.add(alice, receiver, "post.created") for _ in range(5)]
    for hook in hanging:
        hook.behave(hold())
    post(alice, 8)
    with Worker(alice.server):
        receiver.wait(lambda receiver: sum(receiver.in_flight.values()) == 40)
        late = Endpoint.add(actor(), receiver, "post.created")
        body_of(late.test(), 202)
        post(late.owner)
        receiver.wait(lambda receiver: receiver.count(late.path) == 2)
        assert sum(receiver.in_flight[hook.path] for hook in hanging) == 40
        let_go(*hanging)
