"""The fixtures of tests that call actions."""

from tests.harness.action_database import clock, db, run

__all__ = ["clock", "db", "run"]
