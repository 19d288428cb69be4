"""Shared fixtures of the races: a running server, on each engine, whose limits are out of the way."""

from collections.abc import Callable

import pytest

from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY


@pytest.fixture
def race_server(
    process_server: Callable[..., ServerProcess], engine_settings: dict[str, object]
) -> Callable[..., ServerProcess]:
    """Makes running servers on both engines, without limits but those given: `race_server(REQUESTS_PER_MINUTE=60)`."""
    return lambda **settings: process_server(**{**ROOMY, **engine_settings, **settings}).migrate().start()
