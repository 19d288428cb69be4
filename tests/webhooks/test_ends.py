"""What stops deliveries at once, those of a turn that is under way included."""

import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from pressroom.clock import DAY
from pressroom.db import DatabaseAway
from pressroom.domains.webhooks import batch
from pressroom.domains.webhooks.actions import leasing
from pressroom.domains.webhooks.queries.leases import PendingDelivery
from tests.api.actors import Actor, body_of
from tests.harness.receiver import answer, hold
from tests.webhooks.clocked import post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint

SETTINGS = DELIVERING

End = Callable[[Endpoint], None]


def remove(hook: Endpoint) -> None:
    body_of(hook.remove())


def revoke(hook: Endpoint) -> None:
    body_of(hook.owner.web.delete(f"/api/auth/api-keys/{hook.key_id}"))


ends = pytest.mark.parametrize("end", [remove, revoke])


@contextmanager
def turn_under_way(hook: Endpoint, arrived: int) -> Generator[None]:
    """Holds a turn up once so many deliveries arrived, for as long as the block lasts; then lets it end."""
    with ThreadPoolExecutor(1) as pool:
        delivering = pool.submit(hook.owner.server.deliver)
        try:
            hook.receiver.wait(lambda receiver: receiver.count(hook.path) == arrived)
            yield
        finally:
            hook.behave(answer(200))
            hook.receiver.release(hook.path)
            delivering.result(120)


@ends
def test_pending_deliveries_are_not_sent(alice: Actor, endpoint: MakeEndpoint, end: End) -> None:
    hook, other = endpoint("post.created"), endpoint("post.created", owner=alice)
    post(alice, 3)
    end(hook)
    alice.server.deliver()
    assert hook.received == []
    assert len(other.received) == (3 if end is remove else 0)


@ends
def test_rest_of_a_batch_is_not_sent_after_the_end_of_the_endpoint(
    alice: Actor, endpoint: MakeEndpoint, end: End
) -> None:
    hook = endpoint("post.created")
    hook.behave(hold())
    post(alice, 30)
    with turn_under_way(hook, 8):
        end(hook)
    alice.server.clock.advance(DAY)
    alice.server.deliver()
    assert len(hook.received) == 8


@ends
def test_deliveries_read_ahead_are_not_sent(
    alice: Actor, endpoint: MakeEndpoint, monkeypatch: pytest.MonkeyPatch, end: End
) -> None:
    monkeypatch.setattr(batch, "FRESH_SECONDS", 0.0)
    hook = endpoint("post.created")
    # Seven lanes hang; the eighth goes on, reads the next portion, and hangs with the first of that.
    hook.behave(*[hold()] * 7, answer(200), hold())
    post(alice, 30)
    with turn_under_way(hook, 9):
        end(hook)
    assert len(hook.received) == 9


def test_revocation_is_the_last_event_of_a_key_s_endpoint(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    hook.behave(hold())
    post(alice, 30)
    with turn_under_way(hook, 8):
        revoke(hook)
    assert hook.heard == ["post.created"] * 8 + ["apikey.revoked"]
    states = hook.states()
    assert states[0] == "delivered"
    assert sorted(states) == ["cancelled"] * 22 + ["delivered"] * 9
    post(alice)
    alice.server.deliver()
    assert len(hook.received) == 9


def test_revocation_event_is_retried_like_any_other(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    hook.behave(answer(500))
    post(alice, 3)
    alice.server.deliver()
    revoke(hook)
    hook.behave(answer(200))
    tried = len(hook.received)
    alice.server.clock.advance(DAY)
    alice.server.deliver()
    assert hook.heard[tried:] == ["apikey.revoked"]
    assert hook.states() == ["delivered", "cancelled", "cancelled", "cancelled"]


def test_failure_ends_the_batch_for_deliveries_read_ahead(
    alice: Actor, endpoint: MakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "BATCH_SECONDS", 60.0)  # the batch must not end for another reason on a slow machine
    monkeypatch.setattr(batch, "FRESH_SECONDS", 60.0)
    hook = endpoint("post.created")
    hook.behave(*[answer(200)] * 4, hold(500))
    post(alice, 40)
    # The four that succeed are followed by four of the next eight that are read.
    with turn_under_way(hook, 12):
        pass
    assert len(hook.received) == 12
    assert hook.states().count("delivered") == 4
    assert hook.show()["consecutiveFailures"] == 1


def test_endpoint_removed_before_its_410_is_not_reported_as_disabled(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(410))
    post(alice)
    with turn_under_way(hook, 1):
        remove(hook)
    told = body_of(alice.web.get("/api/notifications"))["notifications"]
    assert told == [], "nobody is told that what they removed was disabled"


def test_delivery_in_flight_at_an_outage_is_not_sent_twice(
    alice: Actor, endpoint: MakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = endpoint("post.created")
    refill, failed = leasing.refill, threading.Event()

    async def refill_at_the_second_time(*arguments: Any) -> list[PendingDelivery]:
        if not failed.is_set():
            failed.set()
            raise DatabaseAway("The database cannot be reached right now.")
        return await refill(*arguments)

    monkeypatch.setattr(leasing, "refill", refill_at_the_second_time)
    hook.behave(*[hold()] * 7, answer(200))
    post(alice, 30)
    with turn_under_way(hook, 8):
        assert failed.wait(60)
        for _ in range(20):
            hook.show()
    assert len({request.id for request in hook.received}) == len(hook.received) == 30
    assert hook.receiver.most_in_flight[hook.path] == 8
    assert hook.states() == ["delivered"] * 30
    assert [len(each["attempts"]) for each in hook.deliveries()] == [1] * 30


def test_rest_of_a_batch_is_signed_with_the_new_secret(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(hold())
    post(alice, 30)
    with turn_under_way(hook, 8):
        secret = body_of(hook.rotate())["secret"]
    for request in hook.received[:8]:
        hook.verify(request)
    for request in hook.received[8:]:
        hook.verify(request, secret)
