"""Publishing, delivering, removing, adding again and redelivering at once: an event never has two envelopes."""

import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.actors import Actor, body_of
from tests.api.conftest import MakeActor
from tests.harness.receiver import Receiver
from tests.webhooks.endpoints import DELIVERING, LONG_AGO, Endpoint
from tests.webhooks.workers import Worker, wait_until

SETTINGS = {
    **DELIVERING,
    "REQUESTS_PER_MINUTE": 10_000,
    "POSTS_PER_MINUTE": 10_000,
    "SESSION_WRITES_PER_MINUTE": 10_000,
}
ROUNDS = 15


@pytest.mark.parametrize("movers", [1, 2])
def test_an_event_has_one_envelope_for_an_endpoint_and_those_that_continue_it(
    actor: MakeActor, receiver: Receiver, movers: int
) -> None:
    alice = actor()
    hooks = [Endpoint.add(alice, receiver, "post.created") for _ in range(movers)]
    stopped = threading.Event()

    def publish() -> int:
        count = 0
        while not stopped.is_set():
            body_of(alice.post(f"post {count}"), 201)
            count += 1
        return count

    def move(hook: Endpoint) -> Endpoint:
        for _ in range(ROUNDS):
            alice.server.clock.advance(1)
            hook = hook.again("post.created")
            hook.redelivered()
        return hook

    with Worker(alice.server), ThreadPoolExecutor(3) as pool:
        publishing = pool.submit(publish)
        try:
            hooks = [moving.result(120) for moving in [pool.submit(move, hook) for hook in hooks]]
        finally:
            stopped.set()
        published = publishing.result(120)
        for hook in hooks:
            wait_for_all(hook, published)

    for hook in hooks:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for request in hook.received:
            found[request.envelope["data"]["post"]["content"]].add(request.id)
        assert len(found) == published
        assert {content: ids for content, ids in found.items() if len(ids) > 1} == {}


def wait_for_all(hook: Endpoint, published: int) -> None:
    """Has everything redelivered and waits until it has arrived."""

    def arrived() -> bool:
        states = hook.states()
        return len(states) == published and set(states) == {"delivered"}

    assert sum(hook.redelivered(LONG_AGO)) == min(published, 1_000)
    wait_until(arrived)


def test_removed_twice_at_once_and_added_twice_at_once(alice: Actor, receiver: Receiver) -> None:
    hook = Endpoint.add(alice, receiver, "post.created")
    body_of(alice.post("a"), 201)
    alice.server.deliver()
    (first,) = (each["id"] for each in hook.deliveries())
    with ThreadPoolExecutor(4) as pool:
        removals = [each.result(120).status_code for each in [pool.submit(hook.remove) for _ in range(4)]]
        adding = [pool.submit(Endpoint.add, alice, receiver, "post.created", path=hook.path) for _ in range(4)]
        added = [each.result(120) for each in adding]
    assert sorted(removals) == [200, 404, 404, 404]

    ids: list[str] = []
    for each in added:
        assert each.redelivered() == (1, 0)
        ids.append(each.deliveries()[0]["id"])
    assert ids.count(first) == 1, "one of the four continues the one before; the others are its twins"
    assert len(set(ids)) == 4
