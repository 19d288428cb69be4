"""Changed and paused endpoints: their event types and their waiting deliveries (docs/webhooks.md#change-or-pause)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from pressroom.clock import DAY, MINUTE
from tests.api.actors import Actor, Json, body_of, field_errors, objections, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.receiver import answer, hold
from tests.webhooks.clocked import fail_until_disabled, later, pass_time, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint, disable
from tests.webhooks.purges import clean_up
from tests.webhooks.workers import settling

SETTINGS = DELIVERING


def pause(hook: Endpoint) -> Json:
    """Pauses an endpoint; returns it."""
    return body_of(hook.owner.web.post(f"{hook.base}/pause"))


def resume(hook: Endpoint) -> Json:
    """Resumes an endpoint; returns it."""
    return body_of(hook.owner.web.post(f"{hook.base}/resume"))


def hear(hook: Endpoint, *events: str) -> Json:
    """Changes the event types of an endpoint; returns it."""
    return body_of(hook.owner.web.patch(hook.base, json={"events": events}))


def test_deliveries_of_a_paused_endpoint_wait_and_spend_no_attempt(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    before = hook.show()

    assert pause(hook) == before | {"status": "paused"} == hook.show()
    post(alice, 3)
    body_of(hook.test(), 202)
    pass_time(alice.server, DAY)
    later(alice, 1)

    assert hook.received == []
    waiting = hook.deliveries()
    assert {(each["state"], each["nextAttemptAt"], len(each["attempts"])) for each in waiting} == {("pending", None, 0)}
    status = body_of(alice.web.get(f"{hook.base}/status"))
    assert (status["status"], status["waiting"], status["nextAttemptAt"]) == ("paused", 4, None)
    assert resume(hook) == before
    alice.server.deliver()
    assert hook.states() == ["delivered"] * 4
    assert sorted(hook.heard) == ["post.created"] * 3 + ["webhook.test"]
    assert [each["attempts"][0]["number"] for each in hook.deliveries()] == [1] * 4


def test_pausing_and_resuming_twice_changes_nothing_more(endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")

    assert resume(hook)["status"] == "enabled"
    assert [pause(hook)["status"] for _ in range(2)] == ["paused"] * 2
    assert [resume(hook)["status"] for _ in range(2)] == ["enabled"] * 2


def test_redelivery_to_a_paused_endpoint_waits_for_its_resumption(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    post(alice)
    alice.server.deliver()
    pause(hook)
    post(alice)

    assert hook.redelivered() == (2, 0)
    alice.server.deliver()
    assert len(hook.received) == 1
    resume(hook)
    alice.server.deliver()
    assert len(hook.received) == 3


def test_failing_endpoint_that_is_resumed_keeps_its_back_off(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    post(alice)
    alice.server.deliver()
    pause(hook)
    resume(hook)

    alice.server.deliver()
    assert (len(hook.received), hook.show()["consecutiveFailures"]) == (1, 1)
    pass_time(alice.server, int(1.2 * MINUTE))
    assert hook.states() == ["delivered"]


def test_endpoint_paused_amid_a_batch_gets_deliveries_in_flight_alone(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(*[hold(500)] * 8, answer(200))
    post(alice, 20)

    with settling(alice.server):
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 8)
        pause(hook)
        hook.receiver.release(hook.path)
    pass_time(alice.server, 10 * MINUTE)

    assert len(hook.received) == 8
    assert (hook.show()["status"], hook.show()["consecutiveFailures"]) == ("paused", 1)
    resume(hook)
    alice.server.deliver()
    assert hook.states() == ["delivered"] * 20
    assert len(hook.received) == 28


def test_event_queued_while_a_pause_and_a_resumption_race_is_delivered(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")

    with ThreadPoolExecutor(3) as pool:
        acts = [pool.submit(act, hook) for _ in range(4) for act in (pause, resume)]
        posts = [pool.submit(post, alice) for _ in range(8)]
        for each in (*acts, *posts):
            each.result(120)
    resume(hook)
    alice.server.deliver()

    assert hook.states() == ["delivered"] * 8


def test_disabled_endpoint_stays_disabled(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    fail_until_disabled(hook)

    for act in ("pause", "resume"):
        assert objections(alice.web.post(f"{hook.base}/{act}")) == [("webhookId", "not_allowed")]
    assert hear(hook, "comment.created")["status"] == "disabled"
    post(alice)
    alice.server.deliver()
    assert len(hook.received) == 5


def test_paused_endpoint_that_is_disabled_is_disabled(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    pause(hook)
    post(alice)

    disable(hook)

    assert (hook.show()["status"], hook.states()) == ("disabled", ["held"])
    assert objections(alice.web.post(f"{hook.base}/resume")) == [("webhookId", "not_allowed")]


def test_revocation_reaches_a_paused_endpoint_when_resumed(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    pause(hook)
    post(alice)
    body_of(alice.web.delete(f"/api/auth/api-keys/{hook.key_id}"))
    alice.server.deliver()
    assert hook.received == []
    assert hook.states() == ["pending", "cancelled"]

    resume(hook)
    alice.server.deliver()

    assert hook.heard == ["apikey.revoked"]


def test_paused_endpoint_that_is_added_again_is_continued_and_enabled(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    pause(hook)
    post(alice)
    (waiting,) = hook.deliveries()

    again = hook.again("post.created")
    assert (again.show()["status"], again.redelivered()) == ("enabled", (1, 0))
    alice.server.deliver()

    assert [each.id for each in again.received] == [waiting["id"]]


def test_deliveries_paused_for_thirty_days_are_removed(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    pause(hook)
    post(alice)
    alice.server.clock.advance(20 * DAY)
    later(alice, 1)
    post(alice)
    clean_up(alice.server)
    assert len(hook.deliveries()) == 2

    later(alice, 11 * DAY)
    clean_up(alice.server)

    assert len(hook.deliveries()) == 1
    resume(hook)
    alice.server.deliver()
    assert len(hook.received) == 1


def test_changed_endpoint_gets_chosen_events_from_the_next_one_on(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    first = publish(alice)
    before = hook.show()

    assert hear(hook, "comment.created") == before | {"events": ["comment.created"]} == hook.show()
    publish(alice)
    body_of(alice.api.post(f"/api/posts/{first['id']}/comments", json={"content": "a"}), 201)
    alice.server.deliver()

    assert sorted(hook.heard) == ["comment.created", "post.created"]
    for request in hook.received:
        hook.verify(request)
    assert hook.redelivered() == (1, 0)


def test_change_that_is_malformed_is_refused(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")

    for body, expected in (
        ({}, [("body", "required")]),
        ({"events": []}, [("events", "too_few")]),
        ({"events": ["webhook.test"]}, [("events[0]", "invalid_choice")]),
        ({"events": ["post.deleted"]}, [("events[0]", "invalid_choice")]),
        ({"events": ["post.created"], "url": "https://8.8.8.8/"}, [("url", "unknown_field")]),
    ):
        assert field_errors(alice.web.patch(hook.base, json=body)) == expected
    assert hook.show()["events"] == ["post.created"]


@pytest.mark.parametrize(("method", "act"), [("PATCH", ""), ("POST", "/pause"), ("POST", "/resume")])
def test_endpoint_is_changed_by_its_owner_alone(
    endpoint: MakeEndpoint, actor: MakeActor, method: str, act: str
) -> None:
    hook, stranger = endpoint("post.created"), actor()
    body = {"events": ["comment.created"]} if method == "PATCH" else None

    def ask(who: Actor, client: str, **more: dict[str, str]) -> tuple[int, str]:
        return refusal(getattr(who, client).request(method, hook.base + act, json=body, **more))

    assert ask(stranger, "web") == (404, "Not found")
    assert ask(hook.owner, "api") == (403, "Session required")
    assert ask(hook.owner, "web", headers={"Origin": "https://elsewhere.example"}) == (
        403,
        "Cross-origin request refused",
    )
    assert (hook.show()["status"], hook.show()["events"]) == ("enabled", ["post.created"])


def test_change_under_an_idempotency_key_is_replayed(endpoint: MakeEndpoint, alice: Actor, server: LocalServer) -> None:
    hook = endpoint("post.created")
    headers = {"Idempotency-Key": "once"}

    first = alice.web.post(f"{hook.base}/pause", headers=headers)
    resume(hook)
    again = alice.web.post(f"{hook.base}/pause", headers=headers)

    assert (again.status_code, again.json(), again.headers["Idempotent-Replayed"]) == (200, first.json(), "true")
    assert hook.show()["status"] == "enabled"
