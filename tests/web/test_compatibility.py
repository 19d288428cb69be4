"""The OpenAPI document of today keeps the promises of the first one, and the comparison finds those that are broken."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest

from tests.web.compatibility import Tree, document, frozen, narrowed

DOCS: Final = Path(__file__).parents[2] / "docs"
CREATE: Final = ("paths", "/api/posts", "post")
LIST: Final = ("paths", "/api/saved", "get")


def at(tree: Tree, *names: str) -> Any:
    """The part of a tree below these names."""
    for name in names:
        tree = tree[name]
    return tree


def schema(tree: Tree, name: str) -> Tree:
    return tree["components"]["schemas"][name]


def test_document_keeps_the_promises_of_the_first_release() -> None:
    first = json.loads((DOCS / "openapi-0.1.json").read_bytes())

    assert narrowed(first, document()) == []


def test_document_compared_with_itself_breaks_nothing() -> None:
    assert narrowed(document(), document()) == []


def remove(*names: str) -> Callable[[Tree], object]:
    return lambda tree: at(tree, *names[:-1]).pop(names[-1])


def set_to(value: object, *names: str) -> Callable[[Tree], object]:
    return lambda tree: at(tree, *names[:-1]).__setitem__(names[-1], value)


def require(value: object, *names: str) -> Callable[[Tree], object]:
    return lambda tree: at(tree, *names).append(value)


PROPERTIES: Final = ("components", "schemas", "CreatePost", "properties")

BREAKING: dict[str, Callable[[Tree], object]] = {
    "POST /api/posts is gone": remove(*CREATE),
    "GET /api/saved: limit is gone": lambda tree: at(tree, *LIST)["parameters"].clear(),
    "CreatePost.content is gone": remove(*PROPERTIES, "content"),
    "POST /api/posts answers no 201": remove(*CREATE, "responses", "201"),
    "POST /api/posts: verbose is required": require(
        {"in": "query", "name": "verbose", "required": True, "schema": {"type": "string"}}, *CREATE, "parameters"
    ),
    "CreatePost.content: maxLength is 10": lambda tree: _each(
        schema(tree, "CreatePost")["properties"]["content"], maxLength=10
    ),
    "CreatePost.content: takes no string": set_to({"type": "integer"}, *PROPERTIES, "content"),
    "CreatePost.visibility takes fewer values": set_to(
        {"enum": ["PUBLIC"], "type": "string"}, *PROPERTIES, "visibility"
    ),
    "POST /api/posts takes: application/json is gone": remove(*CREATE, "requestBody", "content", "application/json"),
    "Post.createdAt is gone": remove("components", "schemas", "OriginalPost", "properties", "createdAt"),
    "Clip.createdAt is gone": remove("components", "schemas", "Clip", "properties", "createdAt"),
    "Clip.createdAt: may be null": set_to(
        {"type": ["string", "null"]}, "components", "schemas", "Clip", "properties", "createdAt"
    ),
    "Clip.id may be absent": lambda tree: schema(tree, "Clip")["required"].remove("id"),
}


def _each(part: Tree, **changes: object) -> None:
    for each in part.get("anyOf", [part]):
        if each.get("type") != "null":
            each.update(changes)


@pytest.mark.parametrize("told", BREAKING)
def test_broken_promise_is_named(told: str) -> None:
    after = document()
    before = frozen(deepcopy(after))

    BREAKING[told](after)

    assert told in narrowed(before, after)


ADDING: dict[str, Callable[[Tree], object]] = {
    "an operation": set_to({"get": {"responses": {}}}, "paths", "/api/later"),
    "an optional field of a request": set_to({"type": "string"}, *PROPERTIES, "language"),
    "a field of an answer": set_to({"type": "string"}, "components", "schemas", "Clip", "properties", "language"),
    "an optional parameter": require(
        {"in": "query", "name": "verbose", "schema": {"type": "string"}}, *CREATE, "parameters"
    ),
    "a longer text": lambda tree: _each(schema(tree, "CreatePost")["properties"]["content"], maxLength=10_000),
    "a text that is never null": set_to({"type": "string"}, "components", "schemas", "Clip", "properties", "caption"),
}


@pytest.mark.parametrize("change", ADDING)
def test_addition_breaks_no_promise(change: str) -> None:
    before = document()
    after = deepcopy(before)

    ADDING[change](after)

    assert narrowed(before, after) == []
