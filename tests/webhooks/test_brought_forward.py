"""What waits for its next attempt is sent now: by a redelivery, and after a test that succeeded."""

from concurrent.futures import ThreadPoolExecutor

from pressroom.clock import MINUTE, SECOND
from pressroom.db import Query
from pressroom.domains.webhooks.delivery import LEASE
from tests.api.actors import Actor, body_of, rows
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.receiver import answer, hold
from tests.services.process import wait_until
from tests.webhooks.clocked import fail_until_disabled, pass_time, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint, disable, let_go
from tests.webhooks.workers import Worker, settling

SETTINGS = DELIVERING

TRIES = Query(int, "SELECT tries FROM deliveries WHERE account_id = :account_id AND webhook_id = :webhook_id")


def tries(hook: Endpoint) -> list[int]:
    """Returns the tries of each delivery of an endpoint, as they are stored."""
    return sorted(rows(hook.owner.server, TRIES, account_id=hook.owner.account.id, webhook_id=hook.id))


def attempts(hook: Endpoint) -> list[list[tuple[int, str]]]:
    """Returns number and status of each attempt of each delivery, newest event first."""
    return [[(each["number"], each["status"]) for each in delivery["attempts"]] for delivery in hook.deliveries()]


def has_failed(hook: Endpoint) -> bool:
    """Returns whether the log tells of a failed attempt."""
    lines = hook.owner.server.stream.getvalue().splitlines()
    return any("delivery failed" in line and hook.id in line for line in lines)


def test_waiting_envelope_is_redelivered_now_and_counts_as_queued(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    post(alice)
    alice.server.deliver()
    assert hook.states() == ["pending"]

    assert hook.redelivered() == (1, 0)
    alice.server.deliver()

    assert (hook.states(), hook.show()["consecutiveFailures"]) == (["delivered"], 0)
    assert attempts(hook) == [[(1, "failed"), (2, "succeeded")]]
    assert tries(hook) == [2]
    assert hook.received[0].body == hook.received[1].body


def test_failing_endpoint_is_probed_by_one_delivery_on_redelivery(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500))
    post(alice)
    alice.server.deliver()
    post(alice, 9)
    alice.server.deliver()
    assert len(hook.received) == 1

    assert hook.redelivered() == (10, 0)
    alice.server.deliver()

    assert len(hook.received) == 2, "the oldest alone is tried"
    assert hook.received[0].id == hook.received[1].id
    assert (hook.show()["consecutiveFailures"], hook.show()["status"]) == (2, "enabled")
    assert attempts(hook)[:9] == [[]] * 9
    hook.behave(answer(200))
    assert hook.redelivered() == (10, 0)
    alice.server.deliver()
    assert hook.states() == ["delivered"] * 10
    assert len(hook.received) == 12


def test_waiting_envelope_is_resent_now(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    post(alice)
    alice.server.deliver()
    wanted = hook.received[0].id

    assert body_of(alice.web.post(f"{hook.base}/deliveries/{wanted}/resend"), 202) == {"id": wanted, "queued": True}
    assert body_of(alice.web.post(f"{hook.base}/deliveries/{wanted}/resend"), 202) == {"id": wanted, "queued": False}
    alice.server.deliver()

    assert attempts(hook) == [[(1, "failed"), (2, "succeeded")]]


def test_redelivery_of_an_envelope_in_flight_sends_it_once_and_keeps_its_attempts(
    endpoint: MakeEndpoint, alice: Actor
) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(500), answer(500), answer(200))
    post(alice)
    beside = Worker(alice.server)

    with settling(alice.server):
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 1)
        assert hook.redelivered() == (1, 0)
        beside.settle()
        assert hook.receiver.count(hook.path) == 1, "the lease is held"
        hook.receiver.release(hook.path)

    assert (hook.states(), attempts(hook), tries(hook)) == (["pending"], [[(1, "failed")]], [1])
    assert hook.redelivered() == (1, 0)
    alice.server.deliver()
    assert (attempts(hook), tries(hook)) == ([[(1, "failed"), (2, "failed")]], [2])
    assert hook.show()["consecutiveFailures"] == 2


def test_redelivery_by_many_calls_at_once_sends_each_envelope_once(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    post(alice)
    alice.server.deliver()
    post(alice, 4)

    with ThreadPoolExecutor(4) as pool:
        assert [each.result(120) for each in [pool.submit(hook.redelivered) for _ in range(4)]] == [(5, 0)] * 4
    alice.server.deliver()

    assert len(hook.received) == 6
    assert len({each.id for each in hook.received}) == 5


def test_test_that_succeeds_brings_waiting_deliveries_forward(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500))
    post(alice)
    alice.server.deliver()
    pass_time(alice.server, int(1.2 * MINUTE))
    post(alice, 9)
    alice.server.deliver()
    assert (len(hook.received), hook.show()["consecutiveFailures"]) == (2, 2)

    hook.behave(answer(200))
    body_of(hook.test(), 202)
    alice.server.deliver()

    assert hook.heard == ["post.created"] * 2 + ["webhook.test"] + ["post.created"] * 10
    assert hook.received[3].id == hook.received[0].id, "the oldest is the probe"
    assert hook.states() == ["delivered"] * 11
    assert hook.show()["consecutiveFailures"] == 0


def test_test_that_succeeds_while_deliveries_still_fail_costs_one_probe(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200), answer(500))
    post(alice)
    alice.server.deliver()
    post(alice, 3)

    body_of(hook.test(), 202)
    alice.server.deliver()

    assert hook.heard == ["post.created", "webhook.test", "post.created"]
    assert (hook.show()["consecutiveFailures"], hook.show()["status"]) == (2, "enabled")
    assert hook.states() == ["delivered"] + ["pending"] * 4
    alice.server.deliver()
    assert len(hook.received) == 3


def test_test_that_fails_brings_nothing_forward(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500))
    post(alice)
    alice.server.deliver()
    before = hook.deliveries()

    body_of(hook.test(), 202)
    alice.server.deliver()

    assert hook.heard == ["post.created", "webhook.test"]
    assert hook.deliveries()[1:] == before
    assert hook.show()["consecutiveFailures"] == 1


def test_delivery_that_waits_at_an_endpoint_that_recovered_is_brought_forward(
    endpoint: MakeEndpoint, alice: Actor
) -> None:
    hook = endpoint("post.created")
    hook.behave(*[hold(500)] * 2, answer(200))
    post(alice, 2)
    with settling(alice.server):
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 2)
        hook.receiver.release(hook.path)
    body_of(hook.test(), 202)
    alice.server.deliver()

    assert hook.states() == ["delivered"] * 3
    assert len(hook.received) == 5


def test_event_is_sent_at_once_while_an_earlier_one_waits_at_a_healthy_endpoint(
    endpoint: MakeEndpoint, alice: Actor
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), hold(200), answer(200))
    post(alice, 2)
    with settling(alice.server):
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 2)
        assert wait_until(lambda: has_failed(hook))
        hook.receiver.release(hook.path)
    assert (sorted(hook.states()), hook.show()["consecutiveFailures"]) == (["delivered", "pending"], 0)

    post(alice)
    alice.server.deliver()

    assert (sorted(hook.states()), len(hook.received)) == (["delivered"] * 2 + ["pending"], 3)


def test_test_beside_a_probe_in_flight_does_not_begin_another(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), hold(500), answer(200))
    post(alice)
    alice.server.deliver()
    post(alice, 3)
    alice.server.clock.advance(int(1.2 * MINUTE))
    beside = Worker(alice.server)

    with settling(alice.server):
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 2)
        body_of(hook.test(), 202)
        beside.settle()
        assert hook.heard == ["post.created"] * 2, "the test waits for the lease"
        hook.receiver.release(hook.path)

    assert hook.heard == ["post.created"] * 2 + ["webhook.test"] + ["post.created"] * 4
    assert hook.states() == ["delivered"] * 5
    assert attempts(hook)[-1] == [(1, "failed"), (2, "failed"), (3, "succeeded")]


def test_test_under_a_lost_lease_brings_nothing_forward(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), hold(200), answer(500))
    post(alice)
    alice.server.deliver()
    body_of(hook.test(), 202)
    heir = Worker(alice.server)

    with settling(alice.server):
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 2)
        alice.server.clock.advance(LEASE)
        heir.settle()
        assert hook.heard == ["post.created", "webhook.test", "webhook.test"]
        before = hook.deliveries()
        hook.receiver.release(hook.path)

    assert hook.deliveries() == before
    assert len(hook.received) == 3


def test_endpoint_removed_or_disabled_amid_a_test_is_sent_nothing_more(
    endpoint: MakeEndpoint, actor: MakeActor, server: LocalServer
) -> None:
    for act in (lambda hook: body_of(hook.remove()), disable):
        owner = actor()
        hook = endpoint("post.created", owner=owner)
        hook.behave(answer(500), hold(200), answer(200))
        post(owner)
        server.deliver()
        body_of(hook.test(), 202)
        with settling(server):
            hook.receiver.wait(lambda receiver, path=hook.path: receiver.count(path) == 2)
            act(hook)
            hook.receiver.release(hook.path)
        pass_time(server, 10 * MINUTE)
        assert hook.heard == ["post.created", "webhook.test"]


def test_redelivery_amid_a_test_that_fails_is_not_forgotten(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), hold(500), answer(200))
    post(alice)
    alice.server.deliver()
    alice.server.clock.advance(SECOND)
    body_of(hook.test(), 202)

    with settling(alice.server):
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 2)
        assert hook.redelivered() == (1, 0)
        hook.receiver.release(hook.path)

    assert hook.heard == ["post.created", "webhook.test", "post.created"]
    assert hook.states() == ["failed", "delivered"]


def test_disabled_endpoint_stays_disabled_when_deliveries_are_brought_forward(
    endpoint: MakeEndpoint, alice: Actor
) -> None:
    hook = endpoint("post.created")
    fail_until_disabled(hook)
    count = len(hook.received)
    let_go(hook)

    assert hook.redeliver().status_code == 422
    assert hook.test().status_code == 422
    alice.server.deliver()

    assert (len(hook.received), hook.show()["status"]) == (count, "disabled")
