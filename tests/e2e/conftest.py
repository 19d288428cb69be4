"""What the stories of whole processes have in common."""

import os
import random
from collections.abc import Callable

import pytest

from tests.harness.process import ServerProcess

ROOMY: dict[str, object] = {
    "REQUESTS_PER_MINUTE": 100_000,
    "REQUESTS_PER_DAY": 10_000_000,
    "POSTS_PER_MINUTE": 100_000,
    "DAILY_CONTENT_QUOTA": 10_000_000,
    "ABUSE_REFUSALS": 1_000_000,
    "ACCESS_LOG": 0,
}
"""Limits that no test reaches; each test narrows the one that it is about."""


@pytest.fixture
def roomy_server(process_server: Callable[..., ServerProcess]) -> Callable[..., ServerProcess]:
    """Makes servers without limits but those given: `roomy_server(DAILY_CONTENT_QUOTA=100)`. Not started."""
    return lambda **settings: process_server(**{**ROOMY, **settings}).migrate()


@pytest.fixture
def seed() -> int:
    """What a test's random moments come from: PRESSROOM_TEST_SEED, or another each time."""
    return int(os.environ.get("PRESSROOM_TEST_SEED") or random.randrange(2**32))
