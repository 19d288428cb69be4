"""Servers for the examples of deploy/."""

from collections.abc import Callable

import pytest

from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY


@pytest.fixture
def roomy_server(process_server: Callable[..., ServerProcess]) -> Callable[..., ServerProcess]:
    """Makes servers without limits but those given. Not started."""
    return lambda **settings: process_server(**{**ROOMY, **settings}).migrate()
