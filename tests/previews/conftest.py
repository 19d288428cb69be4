"""The servers and people of the API's tests, and a site that they link to."""

from collections.abc import Iterator

import pytest

from tests.api.conftest import actor, alice, server, twins
from tests.domains.previews.site import Site

__all__ = ["actor", "alice", "server", "site", "twins"]


@pytest.fixture
def site() -> Iterator[Site]:
    """A web site of the test's own, whose addresses no other test knows."""
    with Site() as made:
        yield made
