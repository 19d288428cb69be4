"""How endpoints answered, by hour and by day; all endpoints of an account; sample messages."""

import json

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, SECOND, iso
from pressroom.db import Query
from pressroom.domains.webhooks.actions.retention import purge_statistics
from pressroom.domains.webhooks.models import CHOOSABLE
from pressroom.receivers.verification import verify
from tests.api.actors import Actor, Json, body_of, rows
from tests.api.conftest import MakeActor
from tests.harness.receiver import answer, close
from tests.webhooks.clocked import post
from tests.webhooks.conftest import MakeEndpoint, endpoint, receiver
from tests.webhooks.endpoints import DELIVERING, Endpoint, webhooks_of

__all__ = ["endpoint", "receiver"]

SETTINGS = DELIVERING

OUTCOMES = ("accepted", "redirected", "refused", "failed", "unanswered")
STORED = Query(int, "SELECT count(*) FROM webhook_hours WHERE account_id = :account_id")


def statistics_of(hook: Endpoint) -> Json:
    """How an endpoint answered."""
    return body_of(hook.owner.web.get(f"{hook.base}/statistics"))


def counts_of(period: Json) -> dict[str, int]:
    """The counts of a period that are not 0."""
    return {name: period[name] for name in OUTCOMES if period[name]}


def test_each_outcome_is_counted(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    for status in (200, 204, 302, 404, 500):
        hook.behave(answer(status))
        body_of(hook.test(), 202)
        alice.server.deliver()

    found = statistics_of(hook)

    whole = {"accepted": 2, "redirected": 1, "refused": 1, "failed": 1}
    assert counts_of(found["lastDay"]) == counts_of(found["lastMonth"]) == whole
    assert (len(found["hours"]), len(found["days"])) == (24, 30)
    assert counts_of(found["hours"][-1]) == counts_of(found["days"][-1]) == whole
    assert [counts_of(each) for each in found["hours"][:-1]] == [{}] * 23
    assert found["hours"][-1]["startsAt"] == iso(alice.server.clock.now() // HOUR * HOUR)
    assert found["days"][-1]["startsAt"] == iso(alice.server.clock.now() // DAY * DAY)
    assert (found["hours"][0]["p50Ms"], found["hours"][0]["p95Ms"]) == (None, None)
    assert 0 <= found["lastDay"]["p50Ms"] <= found["lastDay"]["p95Ms"] <= 10_000


def test_an_attempt_without_an_answer_has_no_time(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    hook.behave(close())
    body_of(hook.test(), 202)
    alice.server.deliver()

    found = statistics_of(hook)["lastDay"]

    assert counts_of(found) == {"unanswered": 1}
    assert (found["p50Ms"], found["p95Ms"]) == (None, None)


def test_attempts_move_through_hours_and_days_and_are_removed(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    post(alice)
    alice.server.deliver()
    alice.server.clock.advance(2 * HOUR)
    assert [counts_of(each) for each in statistics_of(hook)["hours"]].index({"accepted": 1}) == 21

    alice.server.clock.advance(23 * HOUR)
    found = statistics_of(hook)
    assert (counts_of(found["lastDay"]), counts_of(found["lastMonth"])) == ({}, {"accepted": 1})

    alice.server.clock.advance(31 * DAY)
    alice.server.run(alice.server.runtime.db.transact(purge_statistics, 100))
    assert rows(alice.server, STORED, account_id=alice.account.id) == [0]


def test_statistics_are_for_the_owner_alone(alice: Actor, actor: MakeActor, endpoint: MakeEndpoint) -> None:
    hook, other = endpoint(), actor()

    for path in ("statistics", "samples"):
        assert other.web.get(f"{hook.base}/{path}").status_code == 404
        assert alice.api.get(f"{hook.base}/{path}").status_code == 403
    assert body_of(other.web.get("/api/auth/webhooks"))["webhooks"] == []


def test_endpoints_of_all_keys_are_listed_with_their_health(alice: Actor, endpoint: MakeEndpoint) -> None:
    made = alice.web.post("/api/auth/api-keys", json={"label": "Other", "scopes": ["posts:write"]})
    key = body_of(made, 201)
    first, second = endpoint("post.created"), endpoint("post.created", key_id=key["id"])
    second.behave(answer(500))
    post(alice)
    alice.server.deliver()

    listed = body_of(alice.web.get("/api/auth/webhooks"))
    assert listed["nextCursor"] is None
    newest, oldest = listed["webhooks"]
    assert (newest["id"], newest["keyId"], newest["keyLabel"]) == (second.id, key["id"], "Other")
    assert (oldest["id"], oldest["keyId"], oldest["keyHasEnded"]) == (first.id, alice.record.id, False)
    assert counts_of(newest["lastDay"]) == {"failed": 1}
    assert newest["figures"]["waiting"] == 1
    assert oldest["figures"]["latest"] == {"delivered": 1, "failed": 0, "waiting": 0}
    assert {name: newest[name] for name in second.show()} == second.show()

    page = body_of(alice.web.get("/api/auth/webhooks", params={"limit": 1}))
    rest = body_of(alice.web.get("/api/auth/webhooks", params={"limit": 1, "cursor": page["nextCursor"]}))
    assert [each["id"] for each in page["webhooks"] + rest["webhooks"]] == [second.id, first.id]
    body_of(alice.web.delete(f"/api/auth/api-keys/{key['id']}"))
    assert body_of(alice.web.get("/api/auth/webhooks"))["webhooks"][0]["keyHasEnded"] is True
    body_of(first.remove())
    assert [each["id"] for each in body_of(alice.web.get("/api/auth/webhooks"))["webhooks"]] == [second.id]


def test_a_label_is_given_kept_and_taken_away(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    assert hook.show()["label"] is None

    named = body_of(alice.web.patch(hook.base, json={"label": "Newsroom chat"}))
    assert (named["label"], named["events"]) == ("Newsroom chat", ["post.created"])
    changed = body_of(alice.web.patch(hook.base, json={"events": ["comment.created"]}))
    assert (changed["label"], changed["events"]) == ("Newsroom chat", ["comment.created"])
    replaced = alice.web.post(f"{hook.base}/replace", json={"url": hook.created["url"], "events": ["post.created"]})
    made = body_of(replaced, 201)
    assert made["label"] == "Newsroom chat"

    one = f"{webhooks_of(alice.record.id)}/{made['id']}"
    assert body_of(alice.web.patch(one, json={"label": ""}))["label"] is None
    nothing = body_of(alice.web.patch(one, json={"events": None}), 400)
    assert [(each["field"], each["code"]) for each in nothing["details"]] == [("body", "required")]


@pytest.mark.parametrize("kind", [*CHOOSABLE, "webhook.test"])
def test_a_sample_is_signed_like_a_delivery(alice: Actor, endpoint: MakeEndpoint, kind: str) -> None:
    hook = endpoint("post.created")

    samples = {each["event"]: each for each in body_of(alice.web.get(f"{hook.base}/samples"))["samples"]}

    sample = samples[kind]
    now = alice.server.clock.now() / SECOND
    signed = sample["headers"]["X-Service-Signature"]
    verify(sample["body"].encode(), signed, hook.secret, now=now + 4 * MINUTE / SECOND)
    assert sample["headers"]["X-Service-Event"] == json.loads(sample["body"])["event"] == kind
    assert hook.secret not in sample["body"] + signed
    assert hook.deliveries() == [], "nothing is sent"
