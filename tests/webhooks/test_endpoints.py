"""Webhook endpoints over HTTP: adding, reading, removing; whose they are; what their states and their key's forbid."""

import re
from collections.abc import Callable

import httpx
import pytest

from pressroom.clock import iso
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy, Scope
from pressroom.ids import new_id
from tests.api.actors import Actor, Json, body_of, nobody, objections, publish, refusal
from tests.api.conftest import MakeActor, one_engine
from tests.harness.receiver import Receiver, answer
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import CHOOSABLE, DELIVERING, LONG_AGO, Endpoint, add, webhooks_of

SETTINGS = DELIVERING

FIELDS = {
    "id",
    "url",
    "events",
    "status",
    "label",
    "secretPrefix",
    "createdAt",
    "disabledAt",
    "disabledReason",
    "previousSecretExpiresAt",
    "consecutiveFailures",
}
ROUTES: dict[str, tuple[str, str, Json | None]] = {
    "add": ("POST", "", {"url": "https://192.0.2.1/", "events": ["post.created"]}),
    "list": ("GET", "", None),
    "show": ("GET", "/{id}", None),
    "remove": ("DELETE", "/{id}", None),
    "test": ("POST", "/{id}/test", None),
    "deliveries": ("GET", "/{id}/deliveries", None),
    "rotate": ("POST", "/{id}/rotate", None),
    "delivery": ("GET", "/{id}/deliveries/evt_", None),
    "resend": ("POST", "/{id}/deliveries/evt_/resend", None),
    "redeliver": ("POST", "/{id}/redeliver", {"since": LONG_AGO}),
    "preview": ("POST", "/{id}/redeliver/preview", {"since": LONG_AGO}),
}
OF_ONE = [name for name, (_, path, _) in ROUTES.items() if path]
each_route = pytest.mark.parametrize("route", ROUTES)


def call(client: httpx.Client, route: str, key_id: str, webhook_id: str, **headers: str) -> httpx.Response:
    """Calls one of the routes."""
    method, path, body = ROUTES[route]
    return client.request(method, webhooks_of(key_id) + path.format(id=webhook_id), headers=headers, json=body)


def listed(owner: Actor, key_id: str = "") -> list[Json]:
    """The endpoints of a key."""
    found: list[Json] = body_of(owner.web.get(webhooks_of(key_id or owner.record.id)))["webhooks"]
    return found


def gone(hook: Endpoint) -> Endpoint:
    """Disables an endpoint: its receiver says that it is gone."""
    hook.behave(answer(410))
    publish(hook.owner)
    hook.owner.server.deliver()
    assert hook.show()["status"] == "disabled"
    return hook


def revoke(owner: Actor) -> None:
    """The operator takes the owner's key back."""
    owner.server.run(owner.server.runtime.db.transact(revoke_key, owner.record.id, RevokedBy.ADMIN, "test"))


def test_an_endpoint_is_made_with_a_secret_that_is_shown_once(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created", "apikey.revoked")
    made = dict(hook.created)

    assert re.fullmatch("whsec_[0-9A-Za-z]{32}", made.pop("secret"))
    assert made == {
        "id": hook.id,
        "url": hook.receiver.url(hook.path),
        "events": ["post.created", "apikey.revoked"],
        "status": "enabled",
        "label": None,
        "secretPrefix": hook.secret[:12],
        "createdAt": iso(alice.server.clock.now()),
        "disabledAt": None,
        "disabledReason": None,
        "previousSecretExpiresAt": None,
        "consecutiveFailures": 0,
    }
    assert set(made) == FIELDS
    assert re.fullmatch("[0-9A-Z]{26}", hook.id)
    for route in ("show", "list", "deliveries"):
        told = call(alice.web, route, alice.record.id, hook.id)
        assert told.status_code == 200
        assert hook.secret[12:] not in told.text
    assert hook.show() == made
    assert listed(alice) == [made]


def test_every_secret_is_another(endpoint: MakeEndpoint) -> None:
    hooks = [endpoint() for _ in range(3)]

    assert len({hook.secret for hook in hooks} | {hook.id for hook in hooks}) == 6


def test_no_secret_is_logged(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    secrets = [hook.secret, body_of(hook.rotate())["secret"]]
    publish(alice)
    alice.server.deliver()

    async def flush() -> None:
        alice.server.runtime.log.flush()

    alice.server.run(flush())
    log = alice.server.stream.getvalue()
    assert "/rotate" in log
    assert not [secret for secret in secrets if secret[6:] in log]


def test_the_same_address_can_be_added_twice(endpoint: MakeEndpoint, alice: Actor) -> None:
    first, second = endpoint(path="/same"), endpoint(path="/same")

    publish(alice)
    alice.server.deliver()

    assert {each.id for each in first.received} == {each["id"] for each in first.deliveries() + second.deliveries()}
    assert len(first.received) == 2


def test_endpoints_are_listed_newest_first_in_pages(endpoint: MakeEndpoint, alice: Actor) -> None:
    made: list[str] = []
    for _ in range(5):
        alice.server.clock.advance(1)
        made.insert(0, endpoint().id)
    path = webhooks_of(alice.record.id)

    first = body_of(alice.web.get(path, params={"limit": 2}))
    second = body_of(alice.web.get(path, params={"limit": 2, "cursor": first["nextCursor"]}))
    third = body_of(alice.web.get(path, params={"limit": 2, "cursor": second["nextCursor"]}))

    assert [page.keys() for page in (first, second, third)] == [{"webhooks", "nextCursor"}] * 3
    assert [each["id"] for page in (first, second, third) for each in page["webhooks"]] == made
    assert third["nextCursor"] is None
    assert [each["id"] for each in listed(alice)] == made
    assert body_of(alice.web.get(path, params={"limit": 5}))["nextCursor"] is None


@one_engine
@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "cursor=x", "cursor="])
@pytest.mark.parametrize("route", ["", "/deliveries"])
def test_invalid_page_parameters_are_400(endpoint: MakeEndpoint, alice: Actor, query: str, route: str) -> None:
    path = f"{endpoint().base}{route}" if route else webhooks_of(alice.record.id)

    answer = alice.web.get(f"{path}?{query}")

    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, query.partition("=")[0])


def test_deliveries_are_listed_newest_first_in_pages(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    posts: list[str] = []
    for number in range(5):
        alice.server.clock.advance(1)
        posts.insert(0, publish(alice, f"post {number}")["createdAt"])
    alice.server.deliver()

    first = body_of(alice.web.get(f"{hook.base}/deliveries", params={"limit": 3}))
    second = body_of(alice.web.get(f"{hook.base}/deliveries", params={"limit": 3, "cursor": first["nextCursor"]}))

    assert [each["createdAt"] for each in first["deliveries"] + second["deliveries"]] == posts
    assert second["nextCursor"] is None
    assert {each["id"] for each in hook.deliveries()} == {each.id for each in hook.received}


def test_a_delivery_is_listed_with_its_attempts(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(200, body=b"Thank you"))
    post = publish(alice)
    (waiting,) = hook.deliveries()
    assert (waiting["state"], waiting["nextAttemptAt"], waiting["attempts"]) == ("pending", post["createdAt"], [])

    alice.server.deliver()

    assert hook.deliveries() == [
        {
            "id": hook.received[0].id,
            "event": "post.created",
            "createdAt": post["createdAt"],
            "state": "delivered",
            "redelivery": False,
            "nextAttemptAt": None,
            "attempts": [
                {
                    "number": 1,
                    "at": post["createdAt"],
                    "status": "succeeded",
                    "httpCode": 200,
                    "error": None,
                    "durationMs": 0,
                    "responseBody": "Thank you",
                }
            ],
        }
    ]


def test_removed_endpoint_is_404_and_gets_no_further_delivery(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook, other = endpoint(), endpoint()
    publish(alice)

    assert body_of(hook.remove()) == {"message": "Webhook endpoint removed", "id": hook.id}

    publish(alice)
    alice.server.deliver()
    assert (hook.received, len(other.received)) == ([], 2)
    assert [each["id"] for each in listed(alice)] == [other.id]
    for route in OF_ONE:
        assert refusal(call(alice.web, route, alice.record.id, hook.id)) == (404, "Not found")


def test_endpoint_shows_its_failures_and_that_it_is_disabled(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(410))
    publish(alice)
    alice.server.deliver()
    failing = hook.show()

    alice.server.clock.advance(70_000)
    alice.server.deliver()

    disabled = hook.show()
    assert (failing["status"], failing["consecutiveFailures"], failing["disabledAt"]) == ("enabled", 1, None)
    assert (disabled["status"], disabled["consecutiveFailures"]) == ("disabled", 2)
    assert disabled["disabledAt"] == iso(alice.server.clock.now())
    assert "410" in disabled["disabledReason"]
    assert listed(alice) == [disabled]


def test_a_key_has_five_endpoints_disabled_ones_too(endpoint: MakeEndpoint, alice: Actor) -> None:
    hooks = [gone(endpoint()), *(endpoint() for _ in range(4))]
    url = hooks[0].receiver.url("/more")

    full = add(alice, url)
    assert refusal(full) == (409, "Conflict")
    assert "5" in full.json()["message"]
    assert len(listed(alice)) == 5

    for hook in hooks[:2]:
        body_of(hook.remove())
        assert add(alice, url).status_code == 201
        assert refusal(add(alice, url)) == (409, "Conflict")


def test_each_key_has_five_of_its_own(endpoint: MakeEndpoint, alice: Actor) -> None:
    other, _ = alice.server.key(alice.account)
    hooks = [endpoint(key_id=key_id) for key_id in (alice.record.id, other.id) for _ in range(5)]

    assert {each["id"] for each in listed(alice)} == {hook.id for hook in hooks[:5]}
    assert {each["id"] for each in listed(alice, other.id)} == {hook.id for hook in hooks[5:]}


@pytest.mark.parametrize("route", OF_ONE)
def test_an_endpoint_is_found_under_its_own_key_alone(endpoint: MakeEndpoint, actor: MakeActor, route: str) -> None:
    hook, bob = endpoint(), actor()
    alice, before = hook.owner, hook.show()
    other, _ = alice.server.key(alice.account)
    absent = new_id(alice.server.clock.now())

    answers = [
        call(bob.web, route, hook.key_id, hook.id),
        call(bob.web, route, bob.record.id, hook.id),
        call(alice.web, route, other.id, hook.id),
        call(alice.web, route, bob.record.id, hook.id),
        call(alice.web, route, absent, hook.id),
        call(alice.web, route, hook.key_id, absent),
    ]

    assert [refusal(answer) for answer in answers] == [(404, "Not found")] * len(answers)
    assert (hook.show(), hook.deliveries()) == (before, [])


@pytest.mark.parametrize("route", ["add", "list"])
def test_endpoints_of_a_foreign_key_are_404(
    actor: MakeActor, alice: Actor, receiver: Receiver, route: str, endpoint: MakeEndpoint
) -> None:
    endpoint()
    bob = actor()

    for key_id in (alice.record.id, new_id(alice.server.clock.now())):
        answer = add(bob, receiver.url(), key_id=key_id) if route == "add" else bob.web.get(webhooks_of(key_id))
        assert refusal(answer) == (404, "Not found")
    assert len(listed(alice)) == 1


@one_engine
@each_route
def test_no_key_with_any_scopes_manages_endpoints(endpoint: MakeEndpoint, actor: MakeActor, route: str) -> None:
    for scopes in ([], *([scope] for scope in Scope)):
        owner = actor(*scopes)
        hook = endpoint(owner=owner)
        for headers in ({}, {"Cookie": owner.cookie}):
            answer = call(owner.api, route, hook.key_id, hook.id, **headers)
            assert refusal(answer) == (403, "Session required")
        assert [each["id"] for each in listed(owner)] == [hook.id]


@one_engine
@each_route
def test_managing_endpoints_requires_a_session(endpoint: MakeEndpoint, alice: Actor, route: str) -> None:
    hook = endpoint()
    method, path, body = ROUTES[route]
    url = alice.server.base_url + webhooks_of(hook.key_id) + path.format(id=hook.id)

    for headers in ({}, {"Cookie": f"session={'A' * 43}"}):
        assert refusal(nobody.request(method, url, json=body, headers=headers)) == (401, "Not signed in")


@one_engine
@pytest.mark.parametrize("route", [name for name, (method, *_) in ROUTES.items() if method != "GET"])
def test_another_site_cannot_manage_endpoints(endpoint: MakeEndpoint, alice: Actor, route: str) -> None:
    hook = endpoint()

    for headers in ({"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = call(alice.web, route, hook.key_id, hook.id, **headers)
        assert refusal(answer) == (403, "Cross-origin request refused")
    assert [each["id"] for each in listed(alice)] == [hook.id]


def expire(owner: Actor) -> None:
    """The owner's key, made to last a second, comes to its end."""
    owner.server.clock.advance(1_000)


@pytest.mark.parametrize("end", [revoke, expire])
def test_ended_key_keeps_its_endpoints_without_deliveries(
    actor: MakeActor, receiver: Receiver, end: Callable[[Actor], None], alice: Actor
) -> None:
    owner = actor(expires_at=alice.server.clock.now() + 1_000)
    hook = Endpoint.add(owner, receiver)
    end(owner)
    before = hook.show()

    for refused in (add(owner, receiver.url()), hook.test(), hook.rotate(), hook.redeliver()):
        assert objections(refused) == [("keyId", "not_allowed")]

    assert hook.show() == before
    assert len(listed(owner)) == 1
    body_of(hook.remove())
    assert listed(owner) == []


def test_a_disabled_endpoint_is_neither_tested_nor_redelivered_to(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = gone(endpoint("post.created"))
    before = hook.deliveries()

    for refused in (hook.test(), hook.redeliver()):
        assert objections(refused) == [("webhookId", "not_allowed")]

    alice.server.deliver()
    assert (hook.deliveries(), len(hook.received)) == (before, 1)
    assert body_of(hook.rotate())["id"] == hook.id


def test_test_is_sent_regardless_of_chosen_events(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook, other = endpoint("apikey.revoked"), endpoint()

    sent = body_of(hook.test(), 202)

    alice.server.deliver()
    (request,) = hook.received
    assert sent == {"id": request.id}
    assert request.envelope["event"] == request.event == "webhook.test"
    assert request.envelope["data"].keys() == {"message", "webhookId"}
    assert request.envelope["data"]["webhookId"] == hook.id
    hook.verify(request)
    assert hook.states() == ["delivered"]
    assert (other.received, other.deliveries()) == ([], [])


def test_a_replay_shows_a_signing_secret_again(alice: Actor, receiver: Receiver) -> None:
    headers = {"Idempotency-Key": "again"}
    body = {"url": receiver.url("/again"), "events": ["post.created"]}

    made = [alice.web.post(webhooks_of(alice.record.id), json=body, headers=headers).json() for _ in range(2)]
    hook = Endpoint(alice, receiver, "/again", made[0], alice.record.id)
    tests = [alice.web.post(f"{hook.base}/test", headers=headers).json()["id"] for _ in range(2)]
    secrets = [body_of(alice.web.post(f"{hook.base}/rotate", headers=headers))["secret"] for _ in range(2)]
    alice.server.deliver()

    assert made[0] == made[1]
    assert secrets[0] == secrets[1] != hook.secret
    assert [each.id for each in hook.received] == [tests[0]] == tests[1:]
    hook.verify(hook.received[0], secrets[0])


def test_choices_keep_their_order(endpoint: MakeEndpoint) -> None:
    for chosen in (CHOOSABLE[:1], CHOOSABLE[::-1], CHOOSABLE):
        hook = endpoint(*chosen)
        assert hook.created["events"] == hook.show()["events"] == list(chosen)
