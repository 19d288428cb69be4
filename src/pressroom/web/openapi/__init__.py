"""The OpenAPI document, made from the declarations of routes and events alone, so that it cannot differ from them."""

from collections.abc import Sequence
from typing import TypeVar

from pressroom import __version__
from pressroom.settings import Settings
from pressroom.web.error_responses import Problem
from pressroom.web.openapi import headers, prose
from pressroom.web.openapi.deliveries import PARAMETERS_OF_DELIVERIES, RESPONSES, EventShape, describe_deliveries
from pressroom.web.openapi.operations import USUAL_SECURITY, describe_operation, path_parameters, share_successes
from pressroom.web.openapi.refusals import Refusals
from pressroom.web.openapi.schemas import Json, Schemas
from pressroom.web.routing import Route, Tag

C = TypeVar("C")


def describe(routes: Sequence[Route[C]], events: Sequence[EventShape], settings: Settings) -> dict[str, object]:
    """Returns the OpenAPI 3.1 document of these routes and of the deliveries of these events."""
    structs = [kind for route in routes for kind in (route.takes, route.gives) if kind]
    schemas = Schemas([*structs, *(type(event.data) for event in events), Problem])
    refusals = Refusals(settings, schemas)
    paths: dict[str, Json] = {}
    for route in routes:
        operation = describe_operation(route, schemas, refusals, settings.base_url)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    successes = share_successes(paths)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pressroom",
            "version": __version__,
            "summary": "Publish with an API key: exact limits, idempotent writes, signed webhooks.",
            "description": prose.introduction(settings),
            "contact": {"name": "The operator of this server", "url": settings.base_url},
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": settings.base_url}],
        "security": USUAL_SECURITY,
        "tags": [{"name": tag.name, "description": tag.description} for tag in _tags(routes)],
        "paths": paths,
        "x-elsewhere": refusals.elsewhere(),
        "webhooks": describe_deliveries(events, schemas),
        "components": {
            "schemas": schemas.components,
            "responses": successes | refusals.components() | RESPONSES,
            "parameters": prose.PARAMETERS | path_parameters(paths) | PARAMETERS_OF_DELIVERIES,
            "headers": headers.components(settings),
            "examples": refusals.examples(),
            "securitySchemes": prose.SECURITY_SCHEMES,
        },
    }


def _tags(routes: Sequence[Route[C]]) -> list[Tag]:
    """Returns the tags in the order in which routes first name them."""
    return list(dict.fromkeys(route.tag for route in routes if route.tag))
