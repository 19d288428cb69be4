"""An endpoint that is added again, on the same key and with the same URL, continues the one before."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, iso
from pressroom.domains.webhooks import models
from pressroom.domains.webhooks.actions.retention import sweep_endpoints
from tests.api.actors import Actor, body_of
from tests.harness.local import LocalServer
from tests.harness.receiver import Received, answer, hold
from tests.webhooks.clocked import later, post, tick
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint
from tests.webhooks.purges import clean_up, one_batch

SETTINGS = {**DELIVERING, "REQUESTS_PER_MINUTE": 1_000, "POSTS_PER_MINUTE": 1_000}


def bodies(requests: list[Received]) -> dict[str, set[bytes]]:
    """By the post that they tell of: what arrived, byte for byte."""
    found: dict[str, set[bytes]] = {}
    for request in requests:
        found.setdefault(request.envelope["data"]["post"]["content"], set()).add(request.body)
    return found


def test_redelivery_repeats_the_same_bytes(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a", "b")
    alice.server.deliver()

    again = hook.again("post.created")
    assert (again.id != hook.id, again.deliveries()) == (True, [])
    assert again.redelivered() == (2, 0)
    assert again.redelivered() == (2, 0), "they wait, and are sent once"
    alice.server.deliver()

    assert len(hook.received) == 4
    assert {content: len(found) for content, found in bodies(hook.received).items()} == {"a": 1, "b": 1}
    for request in hook.received[2:]:
        again.verify(request)
    assert [(each["state"], each["redelivery"]) for each in again.deliveries()] == [("delivered", True)] * 2
    numbers = [[attempt["number"] for attempt in each["attempts"]] for each in again.deliveries()]
    assert numbers == [[1, 2], [1, 2]], "the history of a delivery goes on"


def test_re_added_endpoint_keeps_its_envelopes(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    times = tick(alice, "delivered")
    alice.server.deliver()
    hook.behave(answer(503))
    times += tick(alice, "tried")
    alice.server.deliver()
    times += tick(alice, "held")
    known = {each["createdAt"]: each["id"] for each in hook.deliveries()}
    body_of(hook.remove())
    times += tick(alice, "missed")
    hook.behave(answer(200))
    for _ in range(3):
        hook = Endpoint.add(alice, hook.receiver, "post.created", path=hook.path)
        assert hook.redelivered() == (4, 0)
        alice.server.deliver()
        known |= {each["createdAt"]: each["id"] for each in hook.deliveries() if each["createdAt"] not in known}
        assert {each["createdAt"]: each["id"] for each in hook.deliveries()} == known
        body_of(hook.remove())

    found = bodies(hook.received)
    assert {content: len(each) for content, each in found.items()} == dict.fromkeys(
        ("delivered", "tried", "held", "missed"), 1
    )
    assert sorted(known) == [iso(at) for at in times]
    assert len(set(known.values())) == 4


def test_held_deliveries_wait_for_a_redelivery(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a", "b")
    again = hook.again("post.created")
    alice.server.deliver()
    assert hook.received == []
    tick(alice, "c")
    alice.server.deliver()

    assert again.redelivered() == (3, 0)
    alice.server.deliver()

    assert {content: len(each) for content, each in bodies(hook.received).items()} == {"a": 1, "b": 1, "c": 1}


def test_another_url_another_key_or_a_twin_is_another_endpoint(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook, twin = endpoint("post.created", path="/twin"), endpoint("post.created", path="/twin")
    tick(alice, "a")
    alice.server.deliver()
    first, second = (each.deliveries()[0]["id"] for each in (hook, twin))
    assert first != second
    key, _ = alice.server.key(alice.account)
    others = [endpoint("post.created", path="/elsewhere"), endpoint("post.created", path="/twin", key_id=key.id)]
    body_of(hook.remove())
    body_of(twin.remove())
    twins = [endpoint("post.created", path="/twin") for _ in range(3)]

    ids = []
    for each in [*twins, *others]:
        assert each.redelivered() == (1, 0)
        ids.append(each.deliveries()[0]["id"])

    assert ids[:2] == [second, first] or ids[:2] == [first, second], "each of the two is continued once"
    assert len(set(ids)) == 5


def test_continuing_endpoint_may_choose_other_events(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    posted = body_of(alice.api.post("/api/posts", json={"content": "a"}), 201)
    body_of(alice.api.post(f"/api/posts/{posted['id']}/comments", json={"content": "b"}), 201)
    alice.server.deliver()

    comments = hook.again("comment.created")
    assert comments.redelivered() == (1, 0)
    alice.server.deliver()
    both = comments.again()
    assert both.redelivered() == (2, 0)
    alice.server.deliver()

    assert both.heard.count("post.created") == both.heard.count("comment.created") == 2
    assert len({request.id for request in both.received}) == 2


def test_delivery_in_flight_while_its_endpoint_is_re_added(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(200), answer(200))
    tick(alice, "a")
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(alice.server.deliver)
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 1)
        again = hook.again("post.created")
        assert again.redelivered() == (1, 0)
        hook.receiver.release(hook.path)
        sending.result(120)
    alice.server.deliver()

    assert (len(hook.received), len({each.body for each in hook.received})) == (2, 1)
    assert again.states() == ["delivered"]


def test_removed_endpoint_is_remembered_as_long_as_events(
    endpoint: MakeEndpoint, alice: Actor, server: LocalServer
) -> None:
    hook = endpoint("post.created")
    tick(alice, "delivered")
    server.deliver()
    hook.behave(answer(500), answer(200))
    tick(alice, "held")
    server.deliver()
    body_of(hook.remove())
    later(alice, 30 * DAY - MINUTE)
    clean_up(server)

    again = Endpoint.add(alice, hook.receiver, "post.created", path=hook.path)
    assert again.redelivered() == (2, 0)
    server.deliver()

    assert {content: len(each) for content, each in bodies(hook.received).items()} == {"delivered": 1, "held": 1}
    later(alice, 30 * DAY + HOUR)
    clean_up(server)
    assert (again.redelivered(), again.states()) == ((0, 0), [])


def test_latest_removed_endpoints_are_remembered(
    endpoint: MakeEndpoint, alice: Actor, server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "REMEMBERED", 2)
    hooks = [endpoint("post.created") for _ in range(4)]
    post(alice)
    server.deliver()
    ids = [hook.deliveries()[0]["id"] for hook in hooks]
    for hook in hooks:
        body_of(hook.remove())
    while one_batch(server, sweep_endpoints, 100):
        pass

    again: list[Any] = []
    for hook in hooks:
        other = Endpoint.add(alice, hook.receiver, "post.created", path=hook.path)
        assert other.redelivered() == (1, 0)
        again.append(other.deliveries()[0]["id"])

    assert [new == old for new, old in zip(again, ids, strict=True)] == [False, False, True, True]
