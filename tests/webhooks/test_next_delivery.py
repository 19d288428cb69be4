"""Deliveries read ahead go by the endpoint's state when they are sent, whatever else is published and delivered.

One server's worker holds rows read ahead; the other server changes the endpoints (docs/architecture.md#caches).
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pytest

from pressroom.domains.webhooks import batch
from tests.api.actors import Actor, Json, body_of, nobody, publish
from tests.api.onlookers import Change, Look, Twins, change_while_others_look
from tests.harness.local import LocalServer
from tests.harness.receiver import Receiver, answer, hold
from tests.harness.roomy import ROOMY
from tests.webhooks.clocked import post
from tests.webhooks.endpoints import DELIVERING, Endpoint, disable, let_go
from tests.webhooks.workers import settling

SETTINGS = {**ROOMY, **DELIVERING}
SENT = 9
AHEAD = 7
"""Deliveries that are read and not sent while the others are held."""


class Seconds:
    """The clock of batches, which stands still."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """The time, in seconds."""
        return self.now


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Seconds:
    """The clock by which a batch knows how long ago it read."""
    clock = Seconds()
    monkeypatch.setattr(batch, "time", SimpleNamespace(monotonic=clock.monotonic))
    return clock


def read_ahead(*hooks: Endpoint) -> None:
    """Waits until each has received 9 deliveries, 8 of them held, and the worker has read 7 more for each."""
    hooks[0].receiver.wait(lambda receiver: all(receiver.count(hook.path) == SENT for hook in hooks))


def remove(hook: Endpoint) -> None:
    body_of(hook.remove())


def revoke(hook: Endpoint) -> None:
    body_of(hook.owner.web.delete(f"/api/auth/api-keys/{hook.key_id}"))


def rotate(hook: Endpoint) -> None:
    hook.secret = body_of(hook.rotate())["secret"]


def replace(hook: Endpoint, path: str, event: str) -> None:
    body = {"url": hook.receiver.url(path), "events": [event]}
    hook.secret = body_of(hook.owner.web.post(f"{hook.base}/replace", json=body), 201)["secret"]


def elsewhere(hook: Endpoint) -> None:
    replace(hook, f"{hook.path}/elsewhere", "post.created")


def hear_of_comments(hook: Endpoint) -> None:
    replace(hook, hook.path, "comment.created")


CHANGES = (remove, disable, revoke, rotate, elsewhere, hear_of_comments)


def shown(server: LocalServer, hook: Endpoint) -> list[object]:
    """A server's view of an endpoint: whether it is there, its state, its secret, and the state of its key."""
    hook_path, key_path = hook.base, f"/api/auth/api-keys/{hook.key_id}"
    headers = {"Cookie": hook.owner.cookie}
    found: list[Json] = [nobody.get(server.base_url + path, headers=headers).json() for path in (hook_path, key_path)]
    return [each.get(name) for each in found for name in ("status", "secretPrefix", "error")]


def test_delivery_read_before_a_change_is_read_again(twins: Twins, receiver: Receiver, seconds: Seconds) -> None:
    alice = Actor(twins[0])
    first = publish(alice)
    other_key = twins[0].key(alice.account)[0].id
    hooks = [Endpoint.add(alice, receiver, key_id=other_key if each is revoke else "") for each in CHANGES]
    for hook in hooks:
        hook.behave(*[hold()] * 7, answer(200), hold())
    post(alice, SENT + AHEAD)

    def change(act: Callable[[Endpoint], None], hook: Endpoint) -> None:
        act(hook)
        seconds.now += 0.101
        let_go(hook)

    def look_at(server: LocalServer) -> Look:
        return lambda: [shown(server, hook) for hook in hooks]

    before = look_at(twins[0])()

    def shows(seen: list[object], number: int) -> bool:
        return [now != then for now, then in zip(seen, before, strict=True)] == [
            place < number for place in range(len(hooks))
        ]

    with settling(twins[1]):
        read_ahead(*hooks)
        changes: list[Change] = [partial(change, *each) for each in zip(CHANGES, hooks, strict=True)]
        looks = [look_at(server) for server in twins]
        change_while_others_look(changes, looks, shows, beside=[partial(publish, alice), twins[0].deliver])
    body_of(alice.api.post(f"/api/posts/{first['id']}/comments", json={"content": "Now"}), 201)
    twins[0].deliver()

    removed, disabled, revoked, rotated, moved, filtered = hooks
    rest = {hook: hook.received[SENT:] for hook in hooks}
    assert [each.event for hook in (removed, disabled, moved) for each in rest[hook]] == []
    assert [each.event for each in rest[revoked]] == ["apikey.revoked"]
    assert [each.event for each in rest[filtered]] == ["comment.created"]
    for hook, requests in ((filtered, rest[filtered]), (moved, receiver.of(f"{moved.path}/elsewhere"))):
        for request in requests:
            hook.verify(request)
    assert len(rest[rotated]) > AHEAD
    for request in rest[rotated]:
        rotated.verify(request)


@pytest.mark.parametrize(("passed", "sent"), [(0.1, AHEAD), (0.101, 0)])
def test_deliveries_read_ahead_are_valid_for_a_tenth_of_a_second(
    twins: Twins, receiver: Receiver, seconds: Seconds, passed: float, sent: int
) -> None:
    alice = Actor(twins[0])
    hook = Endpoint.add(alice, receiver, "post.created")
    hook.behave(*[hold()] * 7, answer(200), hold())
    post(alice, SENT + AHEAD + 5)
    with settling(twins[1]):
        read_ahead(hook)
        remove(hook)
        seconds.now = passed
        let_go(hook)
    assert len(hook.received) == SENT + sent
