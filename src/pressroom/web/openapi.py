"""The OpenAPI document, made from the routes' own declarations."""

from collections.abc import Sequence
from typing import TypeVar

from pressroom.settings import Settings
from pressroom.web.routing import Route

C = TypeVar("C")


def describe(routes: Sequence[Route[C]], settings: Settings) -> dict[str, object]:
    """The OpenAPI 3.1 document of these routes."""
    return {"openapi": "3.1.0", "servers": [{"url": settings.base_url}], "paths": {route.path: {} for route in routes}}
