"""The operator's log of deliveries that fail."""

import json
from typing import Any

from tests.api.actors import Actor
from tests.harness.local import LocalServer
from tests.harness.receiver import answer
from tests.webhooks.clocked import pass_time, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING

SETTINGS = DELIVERING
MINUTES = (0, 1, 2, 4, 8)


def told(server: LocalServer, hook_id: str) -> list[dict[str, Any]]:
    """The lines about an endpoint."""
    server.runtime.log.flush()
    lines = [json.loads(line) for line in server.stream.getvalue().splitlines()]
    return [line for line in lines if line.get("webhook_id") == hook_id]


def test_each_attempt_that_fails_and_each_endpoint_that_is_disabled_is_one_line(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook, well = endpoint("post.created"), endpoint("post.created")
    hook.behave(answer(500, {}, b"private words of the receiver"), answer(302, {"Location": "/?token=x"}))
    post(alice)
    for minutes in MINUTES:
        pass_time(server, minutes * 70_000)

    lines = told(server, hook.id)
    failed = [line for line in lines if line["event"] == "delivery failed"]
    assert [(line["attempt"], line["account_id"]) for line in failed] == [(n, alice.account.id) for n in range(1, 6)]
    assert [line["reason"] for line in failed][:2] == [
        "The endpoint answered 500.",
        "The endpoint answered 302: redirects are not followed. Add the address it leads to.",
    ]
    assert {line["envelope_id"] for line in failed} == {hook.received[0].id}
    (disabled,) = [line for line in lines if line["event"] == "webhook endpoint disabled"]
    assert (disabled["account_id"], disabled["reason"]) == (alice.account.id, "5 deliveries in a row failed.")
    assert told(server, well.id) == []
    written = server.stream.getvalue()
    for secret in (hook.secret, "private words", "token=x", hook.path):
        assert secret not in written.replace(f'"path":"{hook.path}', "")
