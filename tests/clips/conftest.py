"""The servers and people of the API's tests."""

from tests.api.conftest import actor, alice, server

__all__ = ["actor", "alice", "server"]
