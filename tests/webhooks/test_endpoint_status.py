"""How an endpoint does: what waits for it, when it is tried next, how its latest deliveries and its last test went."""

import pytest

from pressroom.clock import MINUTE, iso
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from tests.api.actors import Actor, Json, body_of, refusal
from tests.api.conftest import MakeActor
from tests.harness.receiver import answer, hold
from tests.webhooks.clocked import fail_until_disabled, pass_time, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint

SETTINGS = DELIVERING


def status_of(hook: Endpoint) -> Json:
    """How the endpoint does, as its owner sees it."""
    return body_of(hook.owner.web.get(f"{hook.base}/status"))


def test_endpoint_without_deliveries_has_empty_figures(endpoint: MakeEndpoint) -> None:
    hook = endpoint()

    assert status_of(hook) == {
        "id": hook.id,
        "status": "enabled",
        "consecutiveFailures": 0,
        "nextAttemptAt": None,
        "waiting": 0,
        "moreWaiting": False,
        "latest": {"delivered": 0, "failed": 0, "waiting": 0},
        "missedSince": None,
        "lastTest": None,
    }


def test_deliveries_are_counted(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    post(alice, 3)
    alice.server.deliver()

    assert status_of(hook)["latest"] == {"delivered": 3, "failed": 0, "waiting": 0}
    assert status_of(hook)["nextAttemptAt"] is None


def test_only_the_latest_hundred_count(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    hook.behave(answer(500))
    body_of(hook.test(), 202)
    alice.server.deliver()
    assert status_of(hook)["latest"] == {"delivered": 0, "failed": 1, "waiting": 0}
    hook.behave(answer(200))
    for _ in range(5):
        post(alice, 20)
        alice.server.deliver()

    assert status_of(hook)["latest"] == {"delivered": 100, "failed": 0, "waiting": 0}
    assert status_of(hook)["lastTest"]["state"] == "failed"


def test_failing_endpoint_shows_its_next_attempt(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    hook.behave(answer(503))
    since = alice.server.clock.now()
    post(alice)
    alice.server.deliver()
    post(alice, 2)

    found = status_of(hook)

    assert (found["status"], found["consecutiveFailures"], found["waiting"]) == ("enabled", 1, 3)
    assert found["nextAttemptAt"] == max(each["nextAttemptAt"] for each in hook.deliveries())
    assert found["nextAttemptAt"] > iso(since + MINUTE // 2)
    assert found["missedSince"] == iso(since)


def test_disabled_endpoint_shows_missed_since(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    since = fail_until_disabled(hook)

    assert status_of(hook) | {"lastTest": None} == {
        "id": hook.id,
        "status": "disabled",
        "consecutiveFailures": 5,
        "nextAttemptAt": None,
        "waiting": 0,
        "moreWaiting": False,
        "latest": {"delivered": 0, "failed": 1, "waiting": 0},
        "missedSince": iso(since),
        "lastTest": None,
    }


def test_deliveries_of_a_removed_endpoint_count_as_held(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    hook.behave(answer(503), answer(410))
    since = alice.server.clock.now()
    post(alice)
    alice.server.deliver()
    post(alice, 4)
    pass_time(alice.server, 2 * MINUTE)

    found = status_of(hook)
    assert (found["status"], found["waiting"], found["missedSince"]) == ("disabled", 4, iso(since))
    assert hook.states() == ["held"] * 4 + ["failed"]


def test_nothing_waits_for_an_endpoint_whose_key_was_revoked(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created", "apikey.revoked")
    hook.behave(answer(503))
    post(alice, 3)
    alice.server.deliver()
    assert status_of(hook)["waiting"] == 3

    alice.server.run(alice.server.runtime.db.transact(revoke_key, alice.record.id, RevokedBy.ADMIN, "test"))

    assert status_of(hook)["waiting"] == 1  # the news of the revocation
    hook.behave(answer(200))
    pass_time(alice.server, 2 * MINUTE)
    assert status_of(hook)["waiting"] == 0
    assert status_of(hook)["latest"] == {"delivered": 1, "failed": 0, "waiting": 3}


def test_the_last_test_and_its_outcome(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    hook.behave(hold())
    first = body_of(hook.test(), 202)["id"]
    assert status_of(hook)["lastTest"]["id"] == first
    assert status_of(hook)["lastTest"]["state"] == "pending"
    hook.behave(answer(200))
    hook.receiver.release(hook.path)
    alice.server.deliver()
    assert status_of(hook)["lastTest"]["state"] == "delivered"

    hook.behave(answer(404, body=b"no such hook"))
    second = body_of(hook.test(), 202)["id"]
    alice.server.deliver()
    post(alice)

    last = status_of(hook)["lastTest"]
    assert (last["id"], last["event"], last["state"]) == (second, "webhook.test", "failed")
    assert [(each["httpCode"], each["responseBody"]) for each in last["attempts"]] == [(404, "no such hook")]
    assert last in hook.deliveries()


def test_only_the_owner_sees_it(endpoint: MakeEndpoint, alice: Actor, actor: MakeActor) -> None:
    hook, bob = endpoint(), actor()

    assert refusal(bob.web.get(f"{hook.base}/status")) == (404, "Not found")
    assert refusal(alice.api.get(f"{hook.base}/status")) == (403, "Session required")
    assert refusal(alice.web.get(f"{hook.base}x/status")) == (404, "Not found")
    body_of(hook.remove())
    assert refusal(alice.web.get(f"{hook.base}/status")) == (404, "Not found")


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_status_accepts_only_reads(endpoint: MakeEndpoint, alice: Actor, method: str) -> None:
    assert alice.web.request(method, f"{endpoint().base}/status").status_code == 405
