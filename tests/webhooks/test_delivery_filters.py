"""Deliveries by state, event, code and time: each filter shows its part of the whole list, and no more."""

import itertools
from typing import Any, Final

import pytest

from pressroom.clock import MINUTE, iso
from pressroom.db import Command, Tx
from tests.api.actors import Actor, Json, body_of, field_errors, publish
from tests.api.conftest import one_engine
from tests.harness.receiver import Behaviour, answer, reset
from tests.webhooks.clocked import tick
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint

SETTINGS = {**DELIVERING, "REQUESTS_PER_MINUTE": 1_000, "POSTS_PER_MINUTE": 1_000}

STATES: Final = ("pending", "delivered", "failed", "held", "cancelled")
EVENTS: Final = ("post.created", "postclip.created", "comment.created", "apikey.revoked", "webhook.test")
CODES: Final = ("none", "2xx", "3xx", "4xx", "5xx")

CLOSE = Command("UPDATE webhooks SET closed_at = :now WHERE id = :webhook_id")


def listed(hook: Endpoint, **wanted: str) -> list[Json]:
    """The deliveries of a filter, all pages of three."""
    found: list[Json] = []
    params = {**wanted, "limit": "3"}
    while True:
        page = body_of(hook.owner.web.get(f"{hook.base}/deliveries", params=params))
        found += page["deliveries"]
        if page["nextCursor"] is None:
            return found
        params["cursor"] = page["nextCursor"]


def code_of(delivery: Json) -> str | None:
    """The class of the latest answer."""
    if not delivery["attempts"]:
        return None
    code = delivery["attempts"][-1]["httpCode"]
    return "none" if code is None else f"{code // 100}xx"


def check_every_filter(hook: Endpoint) -> None:
    """Holds each combination of filters to the whole list."""
    everything = hook.deliveries()
    for state, event, code in itertools.product((None, *STATES), (None, *EVENTS), (None, *CODES)):
        wanted = {name: value for name, value in (("state", state), ("event", event), ("code", code)) if value}
        expected = [
            each
            for each in everything
            if state in (None, each["state"]) and event in (None, each["event"]) and code in (None, code_of(each))
        ]
        assert listed(hook, **wanted) == expected, wanted


@pytest.fixture
def hook(endpoint: MakeEndpoint, alice: Actor) -> Endpoint:
    """An endpoint whose deliveries are of many kinds, states and codes; some wait, some were never tried."""
    hook = endpoint()
    ends: list[Behaviour] = [answer(200), answer(302), reset(), answer(404), answer(503), answer(204)]
    for end in ends:
        hook.behave(end, answer(200))
        body_of(hook.test(), 202)
        alice.server.deliver()
        tick(alice, "delivered")
        alice.server.deliver()
    hook.behave(answer(500))
    post = publish(alice)
    alice.server.deliver()
    body_of(alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": "a"}), 201)
    tick(alice, "waits")
    return hook


def test_each_filter_shows_its_deliveries(hook: Endpoint) -> None:
    assert {each["state"] for each in hook.deliveries()} == {"pending", "delivered", "failed"}
    check_every_filter(hook)


def test_pending_deliveries_of_a_disabled_endpoint_are_held(hook: Endpoint, alice: Actor) -> None:
    hook.behave(answer(410))
    alice.server.clock.advance(2 * MINUTE)
    alice.server.deliver()

    assert hook.show()["status"] == "disabled"
    assert {each["state"] for each in hook.deliveries()} == {"held", "delivered", "failed"}
    check_every_filter(hook)


def test_pending_deliveries_of_a_revoked_key_are_cancelled_except_the_revocation(hook: Endpoint, alice: Actor) -> None:
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))

    assert {each["state"] for each in hook.deliveries()} == {"cancelled", "pending", "delivered", "failed"}
    check_every_filter(hook)


def test_filter_shows_deliveries_of_an_endpoint_disabled_before_its_key_ended(hook: Endpoint, alice: Actor) -> None:
    hook.behave(answer(410))
    alice.server.clock.advance(2 * MINUTE)
    alice.server.deliver()

    async def close(tx: Tx) -> None:
        await tx.run(CLOSE, webhook_id=hook.id, now=tx.now)

    alice.server.run(alice.server.runtime.db.transact(close))

    assert {each["state"] for each in hook.deliveries()} == {"cancelled", "delivered", "failed"}
    check_every_filter(hook)


def test_a_redelivery_bears_the_code_of_its_latest_attempt(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    hook.behave(answer(503))

    assert hook.redelivered() == (1, 0)
    assert [each["state"] for each in listed(hook, code="2xx", state="pending")] == ["pending"]
    alice.server.deliver()

    assert listed(hook, code="2xx") == []
    assert [each["state"] for each in listed(hook, code="5xx")] == ["pending"]


def test_times_are_meant_to_the_millisecond_and_both_included(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    times = tick(alice, *"abcde")
    alice.server.deliver()

    for more in ({}, {"state": "delivered"}, {"event": "post.created", "code": "2xx"}):
        for first, last in itertools.combinations(range(5), 2):
            found = listed(hook, since=iso(times[first]), until=iso(times[last]), **more)
            assert [each["createdAt"] for each in found] == [iso(at) for at in reversed(times[first : last + 1])]
        assert len(listed(hook, since=iso(times[3]), **more)) == 2
        assert len(listed(hook, until=iso(times[1]), **more)) == 2
        assert listed(hook, until=iso(times[0] - 1), **more) == []
        zoned = iso(times[2] + 2 * 60 * MINUTE).replace("Z", "+02:00")
        assert len(listed(hook, since=zoned, until=zoned, **more)) == 1
    assert len(listed(hook, since="0001-01-01T00:00Z", until="9999-12-31T23:59:59.999Z")) == 5


@one_engine
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"state": "lost"}, [("state", "invalid_choice")]),
        ({"state": ""}, [("state", "invalid_choice")]),
        ({"state": "Delivered"}, [("state", "invalid_choice")]),
        ({"event": "post.deleted"}, [("event", "invalid_choice")]),
        ({"event": "*"}, [("event", "invalid_choice")]),
        ({"code": "200"}, [("code", "invalid_choice")]),
        ({"code": ""}, [("code", "invalid_choice")]),
        ({"code": "1xx"}, [("code", "invalid_choice")]),
        ({"since": "yesterday"}, [("since", "invalid_format")]),
        ({"since": "2027-01-15T08:00"}, [("since", "invalid_format")]),
        ({"since": "0000-01-01T00:00Z"}, [("since", "invalid_format")]),
        ({"until": "\x00"}, [("until", "invalid_format")]),
        ({"since": "2027-01-15T08:00Z", "until": "2027-01-15T07:59Z"}, [("until", "out_of_range")]),
        (
            {"limit": "0", "cursor": "x", "state": "x", "event": "x", "code": "x", "since": "x", "until": "x"},
            [
                ("limit", "out_of_range"),
                ("cursor", "invalid_format"),
                ("state", "invalid_choice"),
                ("event", "invalid_choice"),
                ("code", "invalid_choice"),
                ("since", "invalid_format"),
                ("until", "invalid_format"),
            ],
        ),
    ],
)
def test_every_fault_of_a_filter_is_named(
    endpoint: MakeEndpoint, alice: Actor, query: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    hook = endpoint("post.created")
    assert field_errors(alice.web.get(f"{hook.base}/deliveries", params=query)) == expected


def test_deliveries_of_a_foreign_endpoint_are_404(endpoint: MakeEndpoint, actor: Any) -> None:
    hook, stranger = endpoint("post.created"), actor()
    for query in ("", "?state=failed", "?state=nonsense"):
        seen = stranger.web.get(f"{hook.base}/deliveries{query}")
        assert seen.status_code == (400 if "nonsense" in query else 404)
