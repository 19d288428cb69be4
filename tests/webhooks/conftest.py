"""A server, people, a receiver of the test's own, and endpoints that send to it.

Modules that let the server deliver to the receiver say `SETTINGS = DELIVERING` (tests.webhooks.endpoints).
"""

from collections.abc import Callable, Iterator

import pytest

from tests.api.actors import Actor
from tests.api.conftest import actor, alice, server, twins
from tests.harness.receiver import Receiver
from tests.webhooks.endpoints import Endpoint

__all__ = ["actor", "alice", "endpoint", "receiver", "server", "twins"]

MakeEndpoint = Callable[..., Endpoint]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Takes whatever is sent to it."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def endpoint(alice: Actor, receiver: Receiver) -> MakeEndpoint:
    """Adds endpoints to Alice's key, each on a path of its own: `endpoint("post.created")`, of all kinds by default."""

    def make(*events: str, owner: Actor = alice, **options: str) -> Endpoint:
        return Endpoint.add(owner, receiver, *events, **options)

    return make
