"""One delivery with all that was sent and all that came back; and sending it again."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, MINUTE, iso
from pressroom.domains.webhooks.envelope import new_envelope_id
from tests.api.actors import Actor, Json, body_of, objections, refusal
from tests.api.conftest import MakeActor
from tests.harness.receiver import answer, hold, reset
from tests.webhooks.clocked import later, tick
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint

SETTINGS = DELIVERING

LISTED = {"number", "at", "status", "httpCode", "error", "durationMs", "responseBody"}


def only(hook: Endpoint) -> Json:
    """The one delivery of an endpoint, in full."""
    (delivery,) = hook.deliveries()
    return detail(hook, delivery["id"])


def detail(hook: Endpoint, delivery_id: str) -> Json:
    """A delivery in full."""
    return body_of(hook.owner.web.get(f"{hook.base}/deliveries/{delivery_id}"))


def resend(hook: Endpoint, delivery_id: str, **headers: str) -> httpx.Response:
    """Asks for a delivery once more."""
    return hook.owner.web.post(f"{hook.base}/deliveries/{delivery_id}/resend", headers=headers)


def test_body_and_headers_are_shown_as_they_were_sent(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(
        answer(
            503,
            {"Content-Type": "text/plain", "Server": "nginx", "Retry-After": "90", "Set-Cookie": "a=b", "X-Trace": "1"},
            b"later",
        ),
        answer(200),
    )
    tick(alice, "Grüße 🦊")
    alice.server.deliver()
    alice.server.clock.advance(2 * MINUTE)
    alice.server.deliver()

    shown = only(hook)

    (listed,) = hook.deliveries()
    assert {**shown, "attempts": None, "request": None} == {**listed, "attempts": None, "request": None}
    first, second = hook.received
    assert shown["request"] == {"method": "POST", "url": hook.created["url"], "body": first.body.decode()}
    assert len(shown["attempts"]) == 2
    for attempt, of_list, received in zip(shown["attempts"], listed["attempts"], (first, second), strict=True):
        assert {name: attempt[name] for name in LISTED} == of_list
        assert attempt["signedWith"] == hook.secret[:12]
        sent = {name.lower(): value for name, value in attempt["requestHeaders"].items()}
        assert {"content-type", "user-agent", "x-service-signature", "x-service-event"} < sent.keys()
        assert {name: received.headers[name] for name in sent} == sent
    assert [attempt["responseHeaders"] for attempt in shown["attempts"]] == [
        {"content-type": "text/plain", "server": "nginx", "retry-after": "90"},
        {},
    ]
    assert hook.secret[12:] not in json.dumps(shown)


def test_each_attempt_names_the_secret_that_signed_it(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    tick(alice, "a")
    alice.server.deliver()
    rotated = body_of(hook.rotate())
    alice.server.clock.advance(2 * MINUTE)
    alice.server.deliver()

    shown = only(hook)

    assert [each["signedWith"] for each in shown["attempts"]] == [hook.secret[:12], rotated["secret"][:12]]
    assert rotated["secret"][12:] not in json.dumps(shown)


def test_an_attempt_without_an_answer(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(reset())
    tick(alice, "a")
    assert only(hook)["attempts"] == []
    alice.server.deliver()

    (attempt,) = only(hook)["attempts"]

    assert (attempt["httpCode"], attempt["responseBody"], attempt["responseHeaders"]) == (None, None, {})
    assert attempt["requestHeaders"]["X-Service-Delivery-Id"] == hook.received[0].id


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("https://other.example/?a=b&c=<script>", "https://other.example/?a=b&c=<script>"),
        ("x" * 4_000, "x" * 256),
        ("a\x1b[31mred\x7f", "a\ufffd[31mred\ufffd"),
        ("caf\xe9", "caf\ufffd"),
        ("caf\u00e9 \u202ereversed".encode().decode("latin-1"), "caf\u00e9 \ufffdreversed"),
        ("\u4e2d".encode().decode("latin-1") * 200, "\u4e2d" * 85),
    ],
    ids=["markup", "long", "controls", "not UTF-8", "turned around", "long in three bytes"],
)
def test_stored_response_is_bounded_and_harmless(endpoint: MakeEndpoint, alice: Actor, value: str, kept: str) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(302, {"Location": value, "Server": value}))
    tick(alice, "a")
    alice.server.deliver()

    (attempt,) = only(hook)["attempts"]

    if attempt["httpCode"] is None:
        pytest.skip("The HTTP client refuses such an answer as a whole.")
    assert attempt["responseHeaders"] == {"server": kept, "location": kept}


def test_latest_five_attempts_keep_their_responses(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(200, {"Server": "s" * 300}, b"b" * 3_000))
    tick(alice, "a")
    alice.server.deliver()
    for _ in range(24):
        assert hook.redelivered() == (1, 0)
        alice.server.deliver()

    attempts = only(hook)["attempts"]

    assert [each["number"] for each in attempts] == list(range(6, 26))
    assert [bool(each["responseHeaders"]) for each in attempts] == [False] * 15 + [True] * 5
    assert all(each["signedWith"] and each["requestHeaders"] for each in attempts)
    assert len(json.dumps(attempts)) < 32_000


def test_a_delivery_is_sent_again_in_the_same_envelope(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook, other = endpoint("post.created"), endpoint("post.created")
    tick(alice, "a", "b")
    alice.server.deliver()
    wanted = hook.deliveries()[1]["id"]

    assert body_of(resend(hook, wanted), 202) == {"id": wanted, "queued": True}
    assert [(each["state"], each["redelivery"]) for each in hook.deliveries()] == [
        ("delivered", False),
        ("pending", True),
    ]
    assert body_of(resend(hook, wanted), 202) == {"id": wanted, "queued": False}
    alice.server.deliver()

    first = next(each for each in hook.received if each.id == wanted)
    again = hook.received[2]
    assert (again.body, again.id) == (first.body, wanted)
    hook.verify(again)
    assert len(other.received) == 2
    assert hook.states() == ["delivered", "delivered"]


def test_processing_state_is_shown(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(200))
    tick(alice, "a")
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(alice.server.deliver)
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 1)
        assert body_of(resend(hook, hook.received[0].id), 202)["queued"] is False
        hook.receiver.release(hook.path)
        sending.result(120)

    assert (len(hook.received), hook.states()) == (1, ["delivered"])


def test_eight_at_once_queue_it_once(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    wanted = hook.received[0].id

    with ThreadPoolExecutor(8) as pool:
        results = [call.result(120) for call in [pool.submit(resend, hook, wanted) for _ in range(8)]]

    assert sorted(body_of(each, 202)["queued"] for each in results) == [False] * 7 + [True]
    alice.server.deliver()
    assert len(hook.received) == 2


def test_a_repeated_request_sends_once(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    wanted = hook.received[0].id
    first = resend(hook, wanted, **{"Idempotency-Key": "k"})
    alice.server.deliver()

    again = resend(hook, wanted, **{"Idempotency-Key": "k"})

    assert (first.status_code, again.status_code) == (202, 200)
    assert (again.json(), again.headers["Idempotent-Replayed"]) == (first.json(), "true")
    alice.server.deliver()
    assert len(hook.received) == 2


def test_a_test_is_sent_again_too(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    wanted = body_of(hook.test(), 202)["id"]
    alice.server.deliver()
    assert hook.states() == ["failed"]

    assert body_of(resend(hook, wanted), 202)["queued"] is True
    alice.server.deliver()

    assert hook.states() == ["delivered"]
    assert hook.received[0].body == hook.received[1].body


def test_redelivery_to_a_failing_endpoint_waits_for_the_probe(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    hook.behave(answer(500), answer(200))
    tick(alice, "b")
    alice.server.deliver()

    assert body_of(resend(hook, hook.received[0].id), 202)["queued"] is True
    alice.server.deliver()
    assert len(hook.received) == 2

    alice.server.clock.advance(2 * MINUTE)
    alice.server.deliver()
    assert hook.states() == ["delivered", "delivered"]


def test_disabled_endpoint_gets_no_delivery_and_shows_the_reason(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    hook.behave(answer(410))
    tick(alice, "b")
    alice.server.deliver()

    refused = resend(hook, hook.received[0].id)

    assert objections(refused) == [("webhookId", "not_allowed")]
    assert "disabled" in refused.json()["details"][0]["message"]
    assert sorted(hook.states()) == ["delivered", "failed"]


def test_an_endpoint_of_a_revoked_key_gets_nothing(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))

    assert objections(resend(hook, hook.received[0].id)) == [("keyId", "not_allowed")]


def test_an_event_that_may_be_removed_is_not_sent_again(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    (at,) = tick(alice, "a")
    alice.server.deliver()
    wanted = hook.received[0].id
    later(alice, at + 30 * DAY - 1 - alice.server.clock.now())
    assert body_of(resend(hook, wanted), 202)["queued"] is True
    alice.server.deliver()
    later(alice, 1)

    refused = resend(hook, wanted)

    assert objections(refused) == [("deliveryId", "not_allowed")]
    assert iso(at) in refused.json()["details"][0]["message"]


def test_foreign_or_unknown_deliveries_are_404(endpoint: MakeEndpoint, alice: Actor, actor: MakeActor) -> None:
    hook, other = endpoint("post.created"), endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    wanted, elsewhere = hook.received[0].id, other.received[0].id
    stranger = actor()

    def ask(web: Any, delivery_id: str) -> list[tuple[int, str]]:
        path = f"{hook.base}/deliveries/{delivery_id}"
        return [refusal(web.get(path)), refusal(web.post(f"{path}/resend"))]

    for web, delivery_id in ((stranger.web, wanted), (alice.web, elsewhere), (alice.web, new_envelope_id())):
        assert ask(web, delivery_id) == [(404, "Not found")] * 2
    assert ask(alice.api, wanted) == [(403, "Session required")] * 2
    alice.server.deliver()
    assert len(hook.received) == 1
