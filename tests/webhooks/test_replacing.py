"""An endpoint is replaced: another takes its place at once, and missed events can be redelivered."""

from concurrent.futures import ThreadPoolExecutor

from pressroom.clock import iso
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from tests.api.actors import Actor, Json, body_of, field_errors, objections, refusal
from tests.api.conftest import MakeActor
from tests.harness.receiver import answer
from tests.webhooks.clocked import fail_until_disabled, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint, webhooks_of

SETTINGS = DELIVERING
EVENTS = ["post.created", "comment.created"]


def replaced(hook: Endpoint, *events: str, **headers: str) -> Json:
    """Replaces an endpoint by one with the same URL. Returns the new one."""
    body = {"url": hook.created["url"], "events": list(events or EVENTS)}
    return body_of(hook.owner.web.post(f"{hook.base}/replace", json=body, headers=headers), 201)


def held_by(owner: Actor) -> list[str]:
    """The ids of the endpoints of the owner's key."""
    return [each["id"] for each in body_of(owner.web.get(webhooks_of(owner.record.id)))["webhooks"]]


def test_another_endpoint_with_a_secret_of_its_own_takes_its_place(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")

    new = replaced(hook)

    assert new["id"] != hook.id
    assert (new["url"], new["events"], new["status"]) == (hook.created["url"], EVENTS, "enabled")
    assert new["secret"] != hook.secret
    assert new["missedSince"] is None
    assert new.keys() == hook.created.keys() | {"missedSince"}
    assert held_by(alice) == [new["id"]]
    assert refusal(alice.web.get(hook.base)) == (404, "Not found")


def test_missed_events_are_redelivered_with_their_envelopes(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    since = fail_until_disabled(hook)
    missed = hook.received[0].id
    post(alice)
    hook.behave(answer(200))

    new = replaced(hook, "post.created")
    assert new["missedSince"] == iso(since)
    again = Endpoint(alice, hook.receiver, hook.path, new, hook.key_id)
    assert again.redelivered(new["missedSince"]) == (2, 0)
    alice.server.deliver()

    assert again.received[-2].id == missed
    assert again.states() == ["delivered"] * 2


def test_a_key_with_five_endpoints_may_replace_one(endpoint: MakeEndpoint, alice: Actor) -> None:
    hooks = [endpoint() for _ in range(5)]

    new = replaced(hooks[2])

    assert sorted(held_by(alice)) == sorted({hook.id for hook in hooks} - {hooks[2].id} | {new["id"]})


def test_replacement_that_is_refused_removes_no_endpoint(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    url = {"url": "https://10.0.0.1.example.invalid/", "events": EVENTS}
    assert field_errors(alice.web.post(f"{hook.base}/replace", json=url)) == [("url", "not_allowed")]
    events = {"url": hook.created["url"], "events": ["post.deleted"]}
    assert field_errors(alice.web.post(f"{hook.base}/replace", json=events)) == [("events[0]", "invalid_choice")]
    alice.server.run(alice.server.runtime.db.transact(revoke_key, alice.record.id, RevokedBy.ADMIN, "test"))

    body = {"url": hook.created["url"], "events": EVENTS}
    assert objections(alice.web.post(f"{hook.base}/replace", json=body)) == [("keyId", "not_allowed")]
    assert held_by(alice) == [hook.id]


def test_replacing_a_foreign_endpoint_is_404(endpoint: MakeEndpoint, actor: MakeActor, alice: Actor) -> None:
    hook, bob = endpoint(), actor()
    body = {"url": hook.created["url"], "events": EVENTS}

    assert refusal(bob.web.post(f"{hook.base}/replace", json=body)) == (404, "Not found")
    assert refusal(alice.api.post(f"{hook.base}/replace", json=body)) == (403, "Session required")
    assert held_by(alice) == [hook.id]


def test_two_at_once_replace_it_once(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    body = {"url": hook.created["url"], "events": EVENTS}

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: alice.web.post(f"{hook.base}/replace", json=body).status_code, range(4)))

    assert sorted(answers) == [201, 404, 404, 404]
    assert len(held_by(alice)) == 1


def test_the_same_request_again_replaces_nothing(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    body = {"url": hook.created["url"], "events": EVENTS}
    headers = {"Idempotency-Key": "replace-1"}

    first = body_of(alice.web.post(f"{hook.base}/replace", json=body, headers=headers), 201)
    second = body_of(alice.web.post(f"{hook.base}/replace", json=body, headers=headers), 200)

    assert second == first
    assert held_by(alice) == [first["id"]]
