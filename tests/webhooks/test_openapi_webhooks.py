"""The webhooks of the OpenAPI document are true: its routes, and the requests to receivers."""

import re
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.api.actors import Actor, Json, body_of, nobody, publish
from tests.harness.documented import Documented, parameters, resolve, security, validator, without_unknown_fields
from tests.harness.receiver import Received, answer
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import CHOOSABLE, DELIVERING, LONG_AGO, Endpoint

SETTINGS = DELIVERING
EVENTS = [*CHOOSABLE, "webhook.test"]
HEADERS = [
    "X-Service-Signature",
    "X-Service-Event",
    "X-Service-Delivery-Id",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
]
BASE = "/api/auth/api-keys/{keyId}/webhooks"
ROUTES = {
    BASE: {"get": "200", "post": "201"},
    BASE + "/{webhookId}": {"get": "200", "delete": "200", "patch": "200"},
    BASE + "/{webhookId}/pause": {"post": "200"},
    BASE + "/{webhookId}/resume": {"post": "200"},
    BASE + "/{webhookId}/status": {"get": "200"},
    BASE + "/{webhookId}/statistics": {"get": "200"},
    BASE + "/{webhookId}/samples": {"get": "200"},
    BASE + "/{webhookId}/replace": {"post": "201"},
    BASE + "/{webhookId}/test": {"post": "202"},
    BASE + "/{webhookId}/deliveries": {"get": "200"},
    BASE + "/{webhookId}/rotate": {"post": "200"},
    BASE + "/{webhookId}/deliveries/{deliveryId}": {"get": "200"},
    BASE + "/{webhookId}/deliveries/{deliveryId}/resend": {"post": "202"},
    BASE + "/{webhookId}/redeliver": {"post": "200"},
    BASE + "/{webhookId}/redeliver/preview": {"post": "200"},
}


@pytest.fixture
def document(alice: Actor) -> Json:
    """The document that the server serves."""
    return body_of(nobody.get(f"{alice.server.base_url}/openapi.json"))


def sent(document: Json, event: str) -> Json:
    """The operation that describes how an event is sent."""
    operation: Json = document["webhooks"][event]["post"]
    return operation


def body_schema(document: Json, event: str) -> Json:
    """The schema of an event's envelope, in which no field may be that is not described."""
    schema: Json = sent(document, event)["requestBody"]["content"]["application/json"]["schema"]
    return {**resolve(document, schema), "additionalProperties": False}


def check(document: Json, request: Received) -> None:
    """Holds a request that arrived to the document."""
    closed = without_unknown_fields(document)
    validator(closed, body_schema(closed, request.event)).validate(request.envelope)
    for parameter in parameters(document, sent(document, request.event)):
        validator(document, parameter["schema"]).validate(request.headers[parameter["name"].lower()])
    shape = re.sub(r"\d+", "N", request.signature.partition(",")[0])
    assert shape == re.sub(
        r"\d+", "N", parameters(document, sent(document, request.event))[0]["example"].partition(",")[0]
    )


def test_the_document_is_valid(document: Json) -> None:
    assert document["openapi"].startswith("3.1")
    validate(document)


def test_every_event_that_is_emitted_is_described_and_no_other(document: Json) -> None:
    assert list(document["webhooks"]) == EVENTS
    assert all(list(item) == ["post"] for item in document["webhooks"].values())
    operations = [sent(document, event) for event in EVENTS]
    assert len({operation["operationId"] for operation in operations}) == len(EVENTS)
    assert all(operation["description"] and operation["security"] == [] for operation in operations)


@pytest.mark.parametrize("event", EVENTS)
def test_an_example_is_of_its_schema(document: Json, event: str) -> None:
    closed = without_unknown_fields(document)
    media = sent(closed, event)["requestBody"]["content"]["application/json"]

    validator(closed, body_schema(closed, event)).validate(media["example"])

    assert list(media["example"]) == ["event", "id", "created_at", "data"]
    assert media["example"]["event"] == event
    assert len(media["example"]["id"]) == 40
    assert sorted(media["schema"]["required"]) == sorted(media["example"])


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"event": "post.deleted"},
        {"id": "evt_1"},
        {"id": None},
        {"created_at": 5},
        {"data": None},
        {"data": {}},
        {"x": 1},
    ],
    ids=str,
)
def test_schema_rejects_a_changed_envelope(document: Json, event: str, wrong: dict[str, Any]) -> None:
    example = sent(document, event)["requestBody"]["content"]["application/json"]["example"]

    assert not validator(document, body_schema(document, event)).is_valid({**example, **wrong})


@pytest.mark.parametrize("event", EVENTS)
def test_the_three_headers_are_described(document: Json, event: str) -> None:
    described = parameters(document, sent(document, event))

    assert [each["name"] for each in described] == HEADERS
    assert all(each["in"] == "header" and each["required"] and each["description"] for each in described)
    for each in described:
        validator(document, each["schema"]).validate(each["example"])


def test_received_deliveries_match_the_document(document: Json, endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    post = publish(alice, "Grüße 🦊")
    for path, body in ((f"/api/posts/{post['id']}/bounce", {"content": "a quote"}), ("/api/posts", {"content": "b"})):
        body_of(alice.web.post(path, json=body), 201)
    body_of(alice.api.post(f"/api/posts/{post['id']}/bounce"), 201)
    body_of(alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": "a"}), 201)
    body_of(hook.test(), 202)
    alice.server.deliver()
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))
    alice.server.deliver()

    for request in hook.received:
        check(document, request)
    assert sorted(hook.heard) == sorted(["post.created"] * 4 + ["comment.created", "webhook.test", "apikey.revoked"])


def test_all_routes_are_described(document: Json) -> None:
    described = {path: item for path, item in document["paths"].items() if path.startswith(BASE)}

    assert {path: set(item) for path, item in described.items()} == {path: set(item) for path, item in ROUTES.items()}
    for path, methods in ROUTES.items():
        for method, success in methods.items():
            operation = described[path][method]
            replay = set() if method == "get" else {"200"}
            assert {status for status in operation["responses"] if status.startswith("2")} == {success, *replay}
            assert security(document, operation) == [{"session": []}]
            assert "4XX" in operation["responses"]
            named = {resolve(document, each)["name"] for each in operation["parameters"]}
            assert set(re.findall(r"{(\w+)}", path)) <= named


def test_reserved_events_are_no_choice_of_the_document(document: Json) -> None:
    schemas = document["components"]["schemas"]
    for schema, field in (("CreateWebhook", "events"), ("RedeliverEvents", "eventTypes")):
        held = schemas[schema]["properties"][field]
        assert resolve(document, held["items"])["enum"] == list(CHOOSABLE)
        assert (held["minItems"], held["maxItems"], held["uniqueItems"]) == (1, len(CHOOSABLE), True)


def test_answers_match_the_document(document: Json, endpoint: MakeEndpoint, alice: Actor) -> None:
    alice.web.event_hooks = {"response": [Documented(document).check]}
    hook = endpoint()
    hook.behave(answer(200, body=b"Thank you"), answer(500), answer(410))
    for number in range(3):
        publish(alice, f"post {number}")
        alice.server.deliver()
        alice.server.clock.advance(70_000)
    alice.server.deliver()
    assert (hook.show()["status"], sorted(hook.states())) == ("disabled", ["delivered", "failed", "held"])

    assert hook.test().status_code == hook.redeliver().status_code == 422
    listing = f"{hook.base}/deliveries"
    sent = [each["id"] for each in body_of(alice.web.get(f"{listing}?code=2xx&state=delivered"))["deliveries"]]
    assert alice.web.get(f"{listing}?code=200").status_code == 400
    assert [alice.web.get(f"{listing}/{each}").status_code for each in (*sent, "evt_")] == [200, 404]
    assert [alice.web.post(f"{listing}/{each}/resend").status_code for each in sent] == [422]
    body_of(hook.rotate())
    body_of(alice.web.get(f"{hook.base}/status"))
    hook = hook.again()
    body_of(alice.web.post(f"{hook.base}/redeliver/preview", json={"since": LONG_AGO}))
    assert alice.web.post(f"{hook.base}/redeliver/preview", json={"since": "soon"}).status_code == 400
    assert hook.redelivered(LONG_AGO) == (3, 0)
    body_of(alice.web.post(f"{hook.base}/deliveries/{body_of(hook.test(), 202)['id']}/resend"), 202)
    bad: Json = {"url": "http://10.0.0.1.example:0/", "events": []}
    assert alice.web.post(BASE.format(keyId=alice.record.id), json=bad).status_code == 400
    while (made := alice.web.post(BASE.format(keyId=alice.record.id), json=_another(hook.created))).status_code == 201:
        pass
    assert made.status_code == 409
    assert hook.redeliver("soon").status_code == 400
    new = body_of(alice.web.post(f"{hook.base}/replace", json=_another(hook.created)), 201)
    hook = Endpoint(alice, hook.receiver, hook.path, new, hook.key_id)
    body_of(hook.remove())
    assert [reply.status_code for reply in (hook.test(), hook.rotate(), hook.redeliver(), hook.remove())] == [404] * 4
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))
    late = alice.web.post(BASE.format(keyId=alice.record.id), json=_another(hook.created))
    assert late.status_code == 422


def _another(created: Json) -> Json:
    return {"url": created["url"], "events": created["events"]}
