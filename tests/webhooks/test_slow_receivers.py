"""Receivers that are slow, or never answer, delay nobody else's deliveries."""

from collections.abc import Callable

import pytest

from pressroom.clock import SECOND
from pressroom.db import Query
from pressroom.domains.webhooks import slots
from pressroom.domains.webhooks.models import Speed
from pressroom.domains.webhooks.slots import SlotPool
from tests.api.actors import Actor, body_of, rows
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.receiver import Receiver, hold
from tests.webhooks.clocked import post
from tests.webhooks.endpoints import DELIVERING, Endpoint, let_go
from tests.webhooks.workers import Worker, wait_until

SETTINGS = DELIVERING

NARROW = SlotPool(8, of_account=8, of_host=8)
NEVER_SLOW = 3600.0

SPEEDS = Query(str, "SELECT speed FROM webhooks WHERE account_id = :account_id")
LEASED = Query(int, "SELECT count(*) FROM webhooks WHERE account_id = :account_id AND lease_token IS NOT NULL")

Limit = Callable[..., None]


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Limit:
    """Gives workers fewer slots, NARROW lanes but for those given, and says from when on an attempt is slow."""

    def limit(slow_seconds: float = NEVER_SLOW, **lanes: SlotPool) -> None:
        given = {Speed(name): lane for name, lane in lanes.items()}
        monkeypatch.setattr(slots, "POOLS", {**dict.fromkeys(Speed, NARROW), **given})
        monkeypatch.setattr(slots, "SLOW_SECONDS", slow_seconds)

    return limit


def proven(hooks: list[Endpoint]) -> None:
    """Has each endpoint be sent something, and answer at once."""
    for hook in hooks:
        body_of(hook.test(), 202)
    hooks[0].owner.server.deliver()


def speeds(owner: Actor) -> set[str]:
    return set(rows(owner.server, SPEEDS, account_id=owner.account.id))


def test_new_endpoints_that_all_hang_leave_the_slots_of_the_quick(
    actor: MakeActor, receiver: Receiver, limit: Limit
) -> None:
    limit()
    quick = Endpoint.add(actor(), receiver, "post.created")
    proven([quick])
    assert speeds(quick.owner) == {"quick"}
    attackers = [actor() for _ in range(4)]
    hanging = [Endpoint.add(owner, receiver, "post.created") for owner in attackers for _ in range(5)]
    for hook in hanging:
        hook.behave(hold())
    for owner in attackers:
        post(owner, 3)
    with Worker(quick.owner.server):
        receiver.wait(lambda receiver: sum(receiver.in_flight.values()) == NARROW.slots)
        for number in range(10):
            post(quick.owner)
            receiver.wait(lambda receiver, number=number: receiver.count(quick.path) == number + 2)
        assert sum(receiver.in_flight[hook.path] for hook in hanging) == NARROW.slots
        assert sum(rows(owner.server, LEASED, account_id=owner.account.id)[0] for owner in attackers) <= NARROW.slots
        let_go(*hanging)
        receiver.wait(lambda receiver: all(receiver.count(hook.path) == 3 for hook in hanging))


def test_endpoints_that_proved_slow_wait_for_slots_of_their_own(
    actor: MakeActor, receiver: Receiver, server: LocalServer, limit: Limit
) -> None:
    limit(slow_seconds=0.0, new=SlotPool(64, of_account=64, of_host=64))
    attackers = [actor() for _ in range(4)]
    slow = [Endpoint.add(owner, receiver, "post.created") for owner in attackers for _ in range(5)]
    proven(slow)
    assert [speeds(owner) for owner in attackers] == [{"slow"}] * 4
    limit()
    others = [Endpoint.add(actor(), receiver, "post.created") for _ in range(3)]
    proven(others)
    for hook in slow:
        hook.behave(hold())
    for owner in attackers:
        post(owner, 3)
    server.clock.advance(SECOND)
    with Worker(server):
        receiver.wait(lambda receiver: sum(receiver.in_flight.values()) == NARROW.slots)
        new = Endpoint.add(actor(), receiver, "post.created")
        for hook in [*others, new]:
            post(hook.owner)
        receiver.wait(lambda receiver: all(receiver.count(hook.path) == 2 for hook in others))
        receiver.wait(lambda receiver: receiver.count(new.path) == 1)
        assert sum(receiver.in_flight[hook.path] for hook in slow) == NARROW.slots
        let_go(*slow)
        receiver.wait(lambda receiver: all(receiver.count(hook.path) == 4 for hook in slow))


def test_quick_endpoints_that_hang_give_up_their_slots(
    actor: MakeActor, receiver: Receiver, server: LocalServer, limit: Limit
) -> None:
    limit(slow_seconds=0.05)
    traitors = [Endpoint.add(owner, receiver, "post.created") for owner in [actor(), actor()] for _ in range(5)]
    stranger = Endpoint.add(actor(), receiver, "post.created")
    limit()
    proven([*traitors, stranger])
    limit(slow_seconds=0.05)
    for hook in traitors:
        hook.behave(hold())
    for owner in {id(hook.owner): hook.owner for hook in traitors}.values():
        post(owner, 8)
    server.clock.advance(SECOND)
    with Worker(server) as worker:
        receiver.wait(lambda receiver: all(receiver.in_flight[hook.path] for hook in traitors))
        wait_until(lambda: worker.uses(Speed.QUICK) == 0)
        assert sum(receiver.in_flight.values()) > NARROW.slots, "more hang than there are slots of the quick"
        limit()  # or this machine could make the stranger a slow one
        for number in range(3):
            post(stranger.owner)
            receiver.wait(lambda receiver, number=number: receiver.count(stranger.path) == number + 2)
        assert all(receiver.in_flight[hook.path] for hook in traitors)
        let_go(*traitors)
        receiver.wait(lambda receiver: all(receiver.count(hook.path) == 9 for hook in traitors))


def test_slow_endpoint_that_answers_at_once_is_quick_again(
    actor: MakeActor, receiver: Receiver, server: LocalServer, limit: Limit
) -> None:
    limit(slow_seconds=0.0)
    hook = Endpoint.add(actor(), receiver, "post.created")
    proven([hook])
    assert speeds(hook.owner) == {"slow"}
    again = hook.again("post.created")
    assert speeds(hook.owner) == {"slow"}, "to be removed and added again makes nobody quicker"
    limit()
    post(hook.owner)
    server.deliver()
    assert rows(server, SPEEDS, account_id=again.owner.account.id).count("quick") == 1


def test_account_and_host_have_a_share_of_a_pool(
    actor: MakeActor, receiver: Receiver, server: LocalServer, limit: Limit
) -> None:
    limit(new=SlotPool(8, of_account=3, of_host=6))
    owners = [actor() for _ in range(3)]
    hooks = [Endpoint.add(owner, receiver, "post.created") for owner in owners for _ in range(4)]
    for hook in hooks:
        hook.behave(hold())
    with Receiver() as elsewhere:
        stranger = Endpoint.add(actor(), elsewhere, "post.created")
        for owner in owners:
            post(owner)
        with Worker(server):
            receiver.wait(lambda receiver: sum(receiver.in_flight.values()) == 6)
            post(stranger.owner)
            elsewhere.wait(lambda elsewhere: elsewhere.count() == 1)
            of_owners = [
                sum(receiver.in_flight[hook.path] for hook in hooks if hook.owner is owner) for owner in owners
            ]
            assert (sum(of_owners), max(of_owners)) == (6, 2), "the accounts take turns"
            let_go(*hooks)
            receiver.wait(lambda receiver: receiver.count() == 12)
