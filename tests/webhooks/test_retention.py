"""How long sent deliveries are kept, and rows that are never removed too early."""

import pytest

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.db import Query
from pressroom.domains.webhooks.actions.retention import purge_deliveries, purge_events, sweep_endpoints
from pressroom.jobs.sweeps import BATCH
from tests.api.actors import Actor, body_of, rows
from tests.harness.local import LocalServer
from tests.harness.receiver import answer
from tests.webhooks.clocked import later, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint
from tests.webhooks.purges import clean_up, one_batch

SETTINGS = DELIVERING


DELIVERIES = Query(int, "SELECT count(*) FROM deliveries WHERE account_id = :account_id AND webhook_id = :webhook_id")
ENDPOINTS = Query(int, "SELECT count(*) FROM webhooks WHERE account_id = :account_id AND id = :webhook_id")
EVENTS = Query(int, "SELECT count(*) FROM events WHERE account_id = :account_id")


def kept(hook: Endpoint) -> int:
    """Rows of the endpoint's deliveries, for every reader."""
    (count,) = rows(hook.owner.server, DELIVERIES, account_id=hook.owner.account.id, webhook_id=hook.id)
    return count


def stands(hook: Endpoint) -> bool:
    """Whether there is a row of the endpoint itself."""
    return rows(hook.owner.server, ENDPOINTS, account_id=hook.owner.account.id, webhook_id=hook.id) == [1]


def events(owner: Actor) -> int:
    (count,) = rows(owner.server, EVENTS, account_id=owner.account.id)
    return count


def test_a_delivery_is_kept_for_30_days_after_it_arrived(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    post(alice)
    server.deliver()
    later(alice, 5 * MINUTE)
    server.deliver()
    assert hook.states() == ["delivered"]
    later(alice, 30 * DAY - 1)
    clean_up(server)
    assert hook.states() == ["delivered"], "30 days after it happened, but not after it arrived"
    later(alice, 1)
    clean_up(server)
    assert hook.states() == []
    assert stands(hook)


def test_failed_delivery_is_kept_for_30_days(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(410))
    body_of(hook.test(), 202)
    server.deliver()
    assert hook.states() == ["failed"]
    later(alice, 30 * DAY - 1)
    clean_up(server)
    assert hook.states() == ["failed"]
    later(alice, 1)
    clean_up(server)
    assert hook.states() == []


def test_pending_deliveries_arrive(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    post(alice, 3)
    later(alice, 400 * DAY)
    clean_up(server)
    assert (hook.states(), events(alice)) == (["pending"] * 3, 3)
    server.deliver()
    assert len(hook.received) == 3
    clean_up(server)
    assert (hook.states(), events(alice)) == (["delivered"] * 3, 0)


def test_an_event_is_kept_for_30_days(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    post(alice, 2)
    later(alice, 30 * DAY - 1)
    clean_up(server)
    hook = endpoint("post.created")
    assert (events(alice), hook.redelivered()) == (2, (2, 0))
    server.deliver()
    later(alice, 1)
    clean_up(server)
    assert (hook.redelivered(), hook.states()) == ((0, 0), ["delivered"] * 2)
    later(alice, HOUR)
    clean_up(server)
    assert events(alice) == 0


def test_an_event_that_one_endpoint_still_waits_for_stays(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    quick, slow = endpoint("post.created"), endpoint("post.created")
    slow.behave(answer(503, {"Retry-After": "9" * 9}))
    for _ in range(3):
        post(alice)
        later(alice, 30 * DAY)
        server.deliver()
        clean_up(server)
        assert slow.show()["status"] == "enabled"
    assert (events(alice), slow.states(), quick.states()) == (3, ["pending"] * 3, ["delivered"])
    slow.behave(answer(200))
    later(alice, DAY)
    server.deliver()
    clean_up(server)
    assert slow.states() == ["delivered"] * 3
    assert events(alice) == 0


@pytest.mark.parametrize("size", [1, 7, BATCH])
def test_a_removed_endpoint_goes_batch_by_batch(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint, size: int
) -> None:
    clean_up(server)
    hook, other = endpoint("post.created"), endpoint("post.created")
    post(alice, 5)
    server.deliver()
    post(alice, 6)
    body_of(hook.remove())
    later(alice, 30 * DAY - 1)
    assert one_batch(server, sweep_endpoints, size) == 0, "one that continues it would find its envelopes"
    later(alice, 1)
    left = []
    while stands(hook):
        assert one_batch(server, sweep_endpoints, size) == size
        left.append(kept(hook))
    assert left == [max(0, 11 - size * count) for count in range(1, 11 // size + 2)]
    assert one_batch(server, sweep_endpoints, size) == 0
    server.deliver()
    assert other.states() == ["delivered"] * 11


def test_held_deliveries_are_removed_after_30_days(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(410))
    post(alice, 20)
    server.deliver()
    assert "held" in hook.states()
    later(alice, 30 * DAY - 1)
    clean_up(server)
    assert kept(hook) == 20
    later(alice, 1)
    clean_up(server)
    assert hook.states() == []
    later(alice, HOUR)
    clean_up(server)
    assert events(alice) == 0
    assert hook.show()["status"] == "disabled"
    body_of(hook.remove())
    later(alice, 30 * DAY)
    clean_up(server)
    assert not stands(hook)


def test_cancelled_deliveries_are_removed_after_30_days(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    post(alice, 3)
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))
    server.deliver()
    later(alice, 30 * DAY - 1)
    clean_up(server)
    assert hook.states() == ["cancelled"] * 3
    later(alice, 1)
    clean_up(server)
    assert (hook.states(), hook.received) == ([], [])


def test_redelivered_delivery_is_kept_for_another_30_days(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    post(alice)
    server.deliver()
    later(alice, 29 * DAY)
    server.deliver()
    assert hook.redelivered() == (1, 0)
    later(alice, 2 * DAY)
    server.deliver()
    clean_up(server)
    assert hook.states() == ["delivered"]
    later(alice, 28 * DAY)
    server.deliver()
    clean_up(server)
    assert hook.states() == ["delivered"]
    later(alice, 2 * DAY)
    server.deliver()
    clean_up(server)
    assert hook.states() == []


def test_deliveries_and_events_go_batch_by_batch(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    post(alice, 10)
    server.deliver()
    later(alice, 30 * DAY + HOUR)
    for purge, left in ((purge_deliveries, lambda: kept(hook)), (purge_events, lambda: events(alice))):
        before = left()
        assert before == 10
        while one_batch(server, purge, 4):
            assert 0 <= before - left() <= 4
            before = left()
        assert before == 0
