"""The headers of Standard Webhooks on every delivery, verified by the libraries that receivers use."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Self

import pytest
import standardwebhooks
import svix.webhooks
from standardwebhooks.exceptions import WebhookVerificationError

from pressroom.clock import SECOND
from pressroom.domains.webhooks.envelope import sign, sign_standard
from tests.api.actors import Actor, body_of, publish
from tests.harness.receiver import Received, answer
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint

SETTINGS = DELIVERING
VECTORS = Path(__file__).parents[2] / "docs/webhook-vectors.json"

Verify = Callable[[str, bytes, Mapping[str, str]], object]


@pytest.fixture(params=["standardwebhooks", "svix"])
def verify(request: pytest.FixtureRequest, alice: Actor, monkeypatch: pytest.MonkeyPatch) -> Verify:
    """The library's own check of a body and its headers, at the time of the server's clock."""

    class ServerTime(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(alice.server.clock.now() / SECOND, tz)

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", ServerTime)
    webhook: Any = standardwebhooks.Webhook if request.param == "standardwebhooks" else svix.webhooks.Webhook
    return lambda secret, body, headers: webhook(secret).verify(body, dict(headers))


def received(hook: Endpoint) -> Received:
    """Publishes; the delivery of it."""
    publish(hook.owner, "Grüße 🦊")
    hook.owner.server.deliver()
    return hook.received[-1]


def test_libraries_verify_a_delivery(endpoint: MakeEndpoint, verify: Verify) -> None:
    hook = endpoint("post.created")
    request = received(hook)

    verify(hook.secret, request.body, request.headers)

    assert request.headers["webhook-id"] == request.id
    assert request.signature.startswith(f"t={request.headers['webhook-timestamp']},")


def test_libraries_refuse_a_tampered_delivery(endpoint: MakeEndpoint, verify: Verify) -> None:
    hook, other = endpoint("post.created"), endpoint()
    request = received(hook)
    later = str(int(request.headers["webhook-timestamp"]) + 1)

    for secret, body, changed in (
        (hook.secret, request.body + b" ", {}),
        (hook.secret, request.body, {"webhook-id": request.id[:-1]}),
        (hook.secret, request.body, {"webhook-timestamp": later}),
        (hook.secret, request.body, {"webhook-signature": ""}),
        (other.secret, request.body, {}),
    ):
        with pytest.raises(WebhookVerificationError):
            verify(secret, body, {**request.headers, **changed})


def test_deliveries_after_a_rotation_verify_with_the_new_secret_alone(endpoint: MakeEndpoint, verify: Verify) -> None:
    hook = endpoint("post.created")
    secret = body_of(hook.rotate())["secret"]
    request = received(hook)

    verify(secret, request.body, request.headers)
    with pytest.raises(WebhookVerificationError):
        verify(hook.secret, request.body, request.headers)


def test_retry_has_a_time_and_signature_of_its_own(endpoint: MakeEndpoint, alice: Actor, verify: Verify) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500))
    first = received(hook)
    alice.server.clock.advance(66_000)
    alice.server.deliver()
    second = hook.received[-1]

    verify(hook.secret, second.body, second.headers)
    assert second.headers["webhook-id"] == first.headers["webhook-id"]
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 66


def test_delivery_log_shows_the_headers(endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    request = received(hook)

    (attempt,) = body_of(hook.owner.web.get(f"{hook.base}/deliveries/{request.id}"))["attempts"]

    shown = {name.lower(): value for name, value in attempt["requestHeaders"].items()}
    assert shown.items() <= request.headers.items()
    assert {"webhook-id", "webhook-timestamp", "webhook-signature"} <= shown.keys()


@pytest.mark.parametrize("vector", json.loads(VECTORS.read_text())["vectors"], ids=lambda vector: vector["name"])
def test_published_vectors_are_made_by_the_server_s_own_code(vector: dict[str, Any]) -> None:
    body, at = bytes.fromhex(vector["bodyHex"]), int(vector["headers"]["webhook-timestamp"])
    envelope_id = vector["headers"]["webhook-id"]

    made = (sign(vector["secret"], at, body), sign_standard(vector["secret"], envelope_id, at, body))

    sent = (vector["headers"]["X-Service-Signature"], vector["headers"]["webhook-signature"])
    assert (made == sent) is vector["genuine"]
