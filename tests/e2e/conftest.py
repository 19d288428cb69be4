"""Shared fixtures of the stories of whole processes."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY
from tests.services import postgres
from tests.services.postgres import PostgresServer
from tests.services.session import run_folder


@pytest.fixture
def roomy_server(process_server: Callable[..., ServerProcess]) -> Callable[..., ServerProcess]:
    """Makes servers without limits but those given: `roomy_server(DAILY_CONTENT_QUOTA=100)`. Not started."""
    return lambda **settings: process_server(**{**ROOMY, **settings}).migrate()


@pytest.fixture
def seed() -> int:
    """The seed of a test's random moments: PRESSROOM_TEST_SEED, or another each time."""
    return int(os.environ.get("PRESSROOM_TEST_SEED") or random.randrange(2**32))


@pytest.fixture
def mortal_postgres(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A PostgreSQL of the test's own, as careful with its disk as one in production."""
    if reason := postgres.available():
        pytest.skip(reason)
    cache = run_folder(tmp_path_factory.getbasetemp())
    with PostgresServer.start(tmp_path / "postgres", fsync=True, cache=cache) as server:
        yield server
