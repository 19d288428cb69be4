"""Functions that may hold the event loop for longer than 20 ms, each with its reason."""

from typing import Final

REASONS: Final[dict[str, str]] = {}
"""Reasons by function, as `pressroom.slow_steps` names it."""
