"""A preview of a redelivery equals the redelivery, and changes nothing."""

from typing import Any

from pressroom.clock import MINUTE, iso
from tests.api.actors import Actor, Json, body_of, objections, publish, refusal
from tests.api.conftest import MakeActor
from tests.api.tables import held
from tests.harness.receiver import answer
from tests.webhooks.clocked import tick
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, LONG_AGO, Endpoint
from tests.webhooks.happenings import happen

SETTINGS = {**DELIVERING, "REQUESTS_PER_MINUTE": 1_000, "POSTS_PER_MINUTE": 1_000}


def preview(hook: Endpoint, since: str = LONG_AGO, **more: Any) -> Json:
    """The preview of a redelivery."""
    return body_of(hook.owner.web.post(f"{hook.base}/redeliver/preview", json={"since": since, **more}))


def test_preview_counts_events_by_kind_and_time(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created", "comment.created")
    first, second = tick(alice, "a", "b")
    alice.server.clock.advance(1)
    post = publish(alice)
    alice.server.clock.advance(1)
    body_of(alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": "c"}), 201)
    alice.server.deliver()
    (third,) = tick(alice, "waits")
    before = held(alice.server)

    assert preview(hook) == {
        "events": 5,
        "kinds": [{"event": "post.created", "count": 4}, {"event": "comment.created", "count": 1}],
        "oldest": iso(first),
        "newest": iso(third),
        "waiting": 1,
        "more": False,
        "until": iso(alice.server.clock.now()),
    }
    of_two = preview(hook, iso(first), until=iso(second), eventTypes=["post.created"])
    assert (of_two["events"], of_two["waiting"], of_two["until"]) == (2, 0, iso(second))
    assert preview(hook, eventTypes=["apikey.revoked"])["kinds"] == []
    nothing = preview(hook, until=iso(first - 1))
    assert (nothing["events"], nothing["oldest"], nothing["newest"]) == (0, None, None)
    assert held(alice.server) == before

    assert hook.redelivered() == (5, 0)


def test_first_thousand_mentions_are_notified(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    start = alice.server.clock.now() - 10_000
    times = [start + number for number in range(1_001)]
    happen(alice, times)

    found = preview(hook)
    assert (found["events"], found["more"], found["newest"]) == (1_000, True, iso(times[999]))
    exactly = preview(hook, until=iso(times[999]))
    assert (exactly["events"], exactly["more"]) == (1_000, False)

    assert hook.redelivered() == (1_000, 0)
    assert preview(hook)["waiting"] == 1_000


def test_events_after_the_preview_count_in_the_redelivery(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a", "b")
    alice.server.deliver()
    seen = preview(hook)
    assert (seen["events"], seen["waiting"]) == (2, 0)

    tick(alice, "after the preview")
    body_of(alice.web.post(f"{hook.base}/deliveries/{hook.received[0].id}/resend"), 202)

    assert hook.redelivered(until=seen["until"]) == (2, 0)
    assert hook.redelivered() == (3, 0)


def test_preview_counts_held_and_undelivered_events(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(410), answer(200))
    tick(alice, "refused", "held")
    alice.server.deliver()
    again = hook.again("post.created")
    tick(alice, "waits")

    found = preview(again)

    assert (found["events"], found["waiting"]) == (3, 1)
    assert again.redelivered() == (3, 0)


def test_preview_is_refused_where_redelivery_is(endpoint: MakeEndpoint, alice: Actor, actor: MakeActor) -> None:
    hook, gone = endpoint("post.created"), endpoint("post.created")
    gone.behave(answer(410))
    tick(alice, "a")
    alice.server.deliver()
    alice.server.clock.advance(MINUTE)

    def both(base: str, web: Any, body: Json) -> list[Any]:
        return [web.post(f"{base}/{route}", json=body) for route in ("redeliver/preview", "redeliver")]

    for reply in both(gone.base, alice.web, {"since": LONG_AGO}):
        assert objections(reply) == [("webhookId", "not_allowed")]
    for reply in both(hook.base, actor().web, {"since": LONG_AGO}):
        assert refusal(reply) == (404, "Not found")
    for reply in both(hook.base, alice.api, {"since": LONG_AGO}):
        assert refusal(reply) == (403, "Session required")
    faults = [reply.json() for reply in both(hook.base, alice.web, {"until": "soon", "limit": 5})]
    assert faults[0] == faults[1]
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))
    for reply in both(hook.base, alice.web, {"since": LONG_AGO}):
        assert objections(reply) == [("keyId", "not_allowed")]
