"""Past events sent again: which ones, in which envelopes, once each, and as durably as any other delivery."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pressroom.clock import MINUTE, SECOND, iso
from pressroom.db import Command
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from tests.api.actors import Actor, body_of, publish
from tests.harness.receiver import answer, hold
from tests.webhooks.clocked import tick
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import CHOOSABLE, DELIVERING, Endpoint
from tests.webhooks.happenings import happen

SETTINGS = {**DELIVERING, "REQUESTS_PER_MINUTE": 1_000, "POSTS_PER_MINUTE": 1_000}

FAIL = Command(
    "UPDATE deliveries SET state = 'failed', tries = 5, finished_at = due_at"
    " WHERE account_id = :account_id AND webhook_id = :webhook_id"
)


def contents(hook: Endpoint, since: int = 0) -> list[str]:
    """The texts of the posts that arrived, those received before `since` left out; in the order of their creation."""
    envelopes = [each.envelope for each in hook.received[since:] if each.event == "post.created"]
    return [each["data"]["post"]["content"] for each in sorted(envelopes, key=lambda each: str(each["created_at"]))]


def test_redelivery_repeats_the_bytes_with_a_fresh_signature(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "Grüße 🦊")
    alice.server.deliver()
    alice.server.clock.advance(5 * MINUTE)

    assert hook.redelivered() == (1, 0)
    alice.server.deliver()

    first, second = hook.received
    assert (second.body, second.id) == (first.body, first.id)
    assert second.signature.startswith(f"t={alice.server.clock.now() // SECOND},")
    assert second.signature != first.signature
    hook.verify(second)
    (delivery,) = hook.deliveries()
    assert (delivery["id"], delivery["state"], delivery["redelivery"]) == (first.id, "delivered", True)
    assert [(each["number"], each["status"]) for each in delivery["attempts"]] == [(1, "succeeded"), (2, "succeeded")]


def test_only_redelivered_delivery_is_marked_as_redelivery(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    first, _ = tick(alice, "first", "second")
    alice.server.deliver()

    assert hook.redelivered(first, first) == (1, 0)

    assert [each["redelivery"] for each in hook.deliveries()] == [False, True]
    assert hook.states() == ["delivered", "pending"]
    alice.server.deliver()
    assert hook.states() == ["delivered", "delivered"]


def test_since_and_until_are_meant_to_the_millisecond_and_both_included(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    first, second, third = tick(alice, "first", "second", "third")
    alice.server.deliver()

    for since, until, expected in (
        (second, second, ["second"]),
        (first, second, ["first", "second"]),
        (second, None, ["second", "third"]),
        (third, None, ["third"]),
        (third + 1, third + 1, []),
        (first - 1, first - 1, []),
        (first - 1, third + 1_000, ["first", "second", "third"]),
    ):
        alice.server.clock.advance(1)
        before = len(hook.received)
        assert hook.redelivered(since, until) == (len(expected), 0)
        alice.server.deliver()
        assert contents(hook, before) == expected


def test_until_is_now_unless_it_is_given(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    now = alice.server.clock.now()
    happen(alice, [now, now + 1])

    assert hook.redelivered(now) == (1, 0)
    assert hook.redelivered(now, now + 1) == (2, 0)


def test_times_may_be_of_any_zone(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    now = alice.server.clock.now()
    happen(alice, [now - 1, now, now + 1])
    there = iso(now + 2 * 60 * MINUTE).replace("Z", "+02:00")

    assert hook.redelivered(there, there) == (1, 0)


def test_chosen_kinds_of_those_requested(endpoint: MakeEndpoint, alice: Actor) -> None:
    hooks = [endpoint("post.created"), endpoint("comment.created", "post.created"), endpoint("apikey.revoked")]
    post = publish(alice)
    body_of(alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": "a"}), 201)
    body_of(hooks[0].test(), 202)
    alice.server.deliver()

    def queued(**wanted: Any) -> list[int]:
        found = [hook.redelivered(**wanted)[0] for hook in hooks]
        alice.server.deliver()
        return found

    assert queued() == [1, 2, 0]
    assert queued(eventTypes=list(CHOOSABLE)) == [1, 2, 0]
    assert queued(eventTypes=None) == [1, 2, 0]
    assert queued(eventTypes=["post.created"]) == [1, 1, 0]
    assert queued(eventTypes=["comment.created", "apikey.revoked"]) == [0, 1, 0]
    assert queued(eventTypes=["postclip.created"]) == [0, 0, 0]
    assert hooks[0].heard.count("webhook.test") == 1


def test_envelope_that_waits_counts_as_queued_and_is_sent_once(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a", "b", "c")

    assert hook.redelivered() == (3, 0)
    alice.server.deliver()
    assert contents(hook) == ["a", "b", "c"]
    assert [hook.redelivered() for _ in range(3)] == [(3, 0)] * 3
    tick(alice, "d")
    assert hook.redelivered() == (4, 0)

    alice.server.deliver()
    assert contents(hook) == ["a", "a", "b", "b", "c", "c", "d"]
    assert [each["redelivery"] for each in hook.deliveries()] == [True] * 4


def test_envelope_in_flight_counts_as_queued_and_is_sent_once(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(200), answer(200))
    tick(alice, "a")

    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(alice.server.deliver)
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 1)
        assert hook.redelivered() == (1, 0)
        hook.receiver.release(hook.path)
        sending.result(120)

    alice.server.deliver()
    assert (len(hook.received), hook.states()) == (1, ["delivered"])


def test_eight_calls_at_once_queue_each_event_once(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, *"abcde")
    alice.server.deliver()

    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(hook.redelivered) for _ in range(8)]
        results = [call.result(120) for call in calls]

    assert results == [(5, 0)] * 8
    alice.server.deliver()
    assert contents(hook) == sorted("abcde" * 2)


def test_at_most_a_thousand_events_a_call_the_oldest(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    start = alice.server.clock.now() - 10_000
    times = [start + number for number in range(1_003)]
    happen(alice, times)

    assert hook.redelivered() == (1_000, 0)
    assert hook.redelivered() == (1_000, 0)
    alice.server.deliver()
    assert contents(hook) == [str(at) for at in times[:1_000]]

    assert hook.redelivered(times[999] + 1) == (3, 0)
    alice.server.deliver()
    assert contents(hook, 1_000) == [str(at) for at in times[1_000:]]
    assert len({each.id for each in hook.received}) == 1_003


def test_the_oldest_are_sent_first(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(200))
    times = [alice.server.clock.now() - 100 + number for number in range(20)]
    happen(alice, times)
    assert hook.redelivered() == (20, 0)

    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(alice.server.deliver)
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 8)
        under_way = contents(hook)
        hook.behave(answer(200))
        hook.receiver.release(hook.path)
        sending.result(120)

    assert under_way == [str(at) for at in times[:8]]
    assert contents(hook) == [str(at) for at in times]


def test_events_before_the_endpoint_are_redelivered(endpoint: MakeEndpoint, alice: Actor) -> None:
    tick(alice, "before")
    hook = endpoint("post.created")
    alice.server.clock.advance(MINUTE)

    assert hook.redelivered() == (1, 0)
    alice.server.deliver()

    assert contents(hook) == ["before"]
    request = hook.received[0]
    assert request.envelope["created_at"] == iso(alice.server.clock.now() - MINUTE)
    assert request.envelope["id"] == request.id == hook.deliveries()[0]["id"]
    hook.verify(request)
    assert hook.redelivered() == (1, 0)
    alice.server.deliver()
    assert hook.received[1].body == request.body


def test_re_added_endpoint_gets_held_and_missed_events(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(410), answer(200))
    tick(alice, "refused")
    alice.server.deliver()
    tick(alice, "while it was disabled")
    assert hook.show()["status"] == "disabled"
    before = {each["id"] for each in hook.deliveries()}
    assert len(before) == 1
    body_of(hook.remove())
    tick(alice, "while there was none")
    again = Endpoint.add(alice, hook.receiver, "post.created", path=hook.path)

    assert again.redelivered() == (3, 0)
    alice.server.deliver()

    assert contents(again, 1) == ["refused", "while it was disabled", "while there was none"]
    refused = again.received[0]
    assert {refused.id} == before
    assert [each.body for each in again.received[1:] if each.id == refused.id] == [refused.body]
    again.verify(again.received[1])


def test_pending_deliveries_of_a_disabled_endpoint_are_held_until_re_added(
    endpoint: MakeEndpoint, alice: Actor
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(410), answer(200))
    tick(alice, "a")
    alice.server.deliver()
    times = tick(alice, "b", "c")
    alice.server.clock.advance(int(1.2 * MINUTE))
    alice.server.deliver()
    assert hook.states() == ["held", "held", "failed"]

    again = hook.again("post.created")
    assert again.redelivered(times[0]) == (2, 0)
    alice.server.deliver()

    assert contents(again, 2) == ["b", "c"]
    assert sorted(each.envelope["created_at"] for each in again.received[2:]) == [iso(at) for at in times]


def test_failed_delivery_is_sent_and_its_attempts_continue(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    tick(alice, "a")
    alice.server.deliver()
    fail = {"account_id": alice.account.id, "webhook_id": hook.id}
    alice.server.run(alice.server.runtime.db.transact(lambda tx: tx.run(FAIL, **fail)))
    assert hook.states() == ["failed"]

    assert hook.redelivered() == (1, 0)
    alice.server.deliver()
    assert len(hook.received) == 1, "while an endpoint fails, what is sent again waits like the rest"
    alice.server.clock.advance(int(1.2 * MINUTE))
    alice.server.deliver()

    (delivery,) = hook.deliveries()
    assert delivery["state"] == "delivered"
    attempts = [(each["number"], each["status"], each["httpCode"]) for each in delivery["attempts"]]
    assert attempts == [(1, "failed", 500), (2, "succeeded", 200)]
    assert hook.received[0].body == hook.received[1].body


def test_a_redelivery_has_five_attempts_of_its_own(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    hook.behave(answer(500))
    assert hook.redelivered() == (1, 0)

    for wait in (0, 1, 2, 4, 8):
        alice.server.clock.advance(int(wait * 1.11 * MINUTE))
        assert hook.states() == ["pending"]
        alice.server.deliver()

    assert (hook.states(), hook.show()["status"]) == (["failed"], "disabled")
    assert [each["number"] for each in hook.deliveries()[0]["attempts"]] == [1, 2, 3, 4, 5, 6]


def test_revocation_of_another_key_is_not_redelivered(endpoint: MakeEndpoint, alice: Actor) -> None:
    other, _ = alice.server.key(alice.account)
    hook = endpoint(key_id=other.id)
    tick(alice, "a")
    db = alice.server.runtime.db
    alice.server.run(db.transact(revoke_key, alice.record.id, RevokedBy.ADMIN, "test"))

    alice.server.deliver()
    assert hook.redelivered() == (1, 0)
    alice.server.deliver()

    assert hook.heard == ["post.created"] * 2


def test_acts_of_others_are_not_shown(endpoint: MakeEndpoint, alice: Actor, actor: Callable[..., Actor]) -> None:
    publish(actor())

    assert endpoint().redelivered() == (0, 0)


def test_endpoints_are_redelivered_to_one_by_one(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook, other = endpoint("post.created"), endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()

    assert hook.redelivered() == (1, 0)
    alice.server.deliver()

    assert (len(hook.received), len(other.received)) == (2, 1)
