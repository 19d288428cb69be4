"""The servers and people of the API's tests, and a site that they link to."""

from collections.abc import Iterator

import pytest

from pressroom.domains.previews import cards
from tests.api.conftest import actor, alice, server, twins
from tests.domains.previews.site import Site

__all__ = ["actor", "alice", "server", "site", "twins"]


@pytest.fixture
def site() -> Iterator[Site]:
    """A web site of the test's own, whose addresses no other test knows."""
    with Site() as made:
        yield made


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A create waits for its card even where the machine is slow; tests of that wait are `impatient` (fetches.py)."""
    monkeypatch.setattr(cards, "BUDGET_SECONDS", 30.0)
