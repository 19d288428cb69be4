"""Builds the OpenAPI document without opening a database or a store."""

import json

from pressroom.domains.webhooks.examples import EVENT_SHAPES
from pressroom.server.routes import API_ROUTES
from pressroom.settings import Settings
from pressroom.web.access import Keyed
from pressroom.web.openapi import describe


def describe_api(settings: Settings, *, keyed: bool = False) -> dict[str, object]:
    """Returns the OpenAPI document of the service under these settings; `keyed`: of the operations that take a key."""
    routes = [route for route in API_ROUTES if isinstance(route.access, Keyed)] if keyed else API_ROUTES
    return describe(routes, EVENT_SHAPES, settings)


def openapi_document(settings: Settings, *, keyed: bool = False) -> str:
    """Returns that document as indented JSON, for people to read and to store."""
    return json.dumps(describe_api(settings, keyed=keyed), indent=2, ensure_ascii=False)
