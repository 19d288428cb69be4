"""A server and people, as for the tests of the API."""

from tests.api.conftest import actor, alice, server, twins

__all__ = ["actor", "alice", "server", "twins"]
