"""Builds the OpenAPI document without opening a database or a store."""

import json

from pressroom.domains.webhooks.examples import EVENT_SHAPES
from pressroom.server.routes import API_ROUTES
from pressroom.settings import Settings
from pressroom.web.openapi import describe


def describe_api(settings: Settings) -> dict[str, object]:
    """Returns the OpenAPI document of the service under these settings."""
    return describe(API_ROUTES, EVENT_SHAPES, settings)


def openapi_document(settings: Settings) -> str:
    """Returns that document as indented JSON, for people to read and to store."""
    return json.dumps(describe_api(settings), indent=2, ensure_ascii=False)
