"""Whether a later OpenAPI document keeps the promises of an earlier one (docs/versioning.md).

`python -m tests.web.compatibility > docs/openapi-0.1.json` freezes the document of today: what clients rely on,
without texts, examples and refusals.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pressroom.server.routes import openapi_document
from pressroom.settings import Settings

Tree = dict[str, Any]

FLOORS: Final = ("minLength", "minItems", "minimum")
CEILINGS: Final = ("maxLength", "maxItems", "maximum")
DROPPED: Final = ("description", "summary", "example", "examples", "title", "tags", "headers", "security")


def document() -> Tree:
    """Returns the OpenAPI document of today."""
    return json.loads(openapi_document(Settings({})))


def narrowed(before: Tree, after: Tree) -> list[str]:
    """Returns each promise of the document `before` that `after` breaks, with its place."""
    return list(_Comparison(before, after).operations())


def frozen(document: Tree) -> Tree:
    """Returns the parts of a document that `narrowed` reads, of operations, schemas and parameters."""
    kept = {name: document["components"].get(name, {}) for name in ("schemas", "parameters")}
    return {"paths": _without_texts(_answered(document)), "components": _without_texts(kept)}


def _answered(document: Tree) -> Tree:
    """Returns the paths with successful responses alone, in full."""
    return {
        path: {
            method: {**operation, "responses": _successes(document, operation)} for method, operation in methods.items()
        }
        for path, methods in document["paths"].items()
    }


def _successes(document: Tree, operation: Tree) -> Tree:
    return {s: _resolved(document, r) for s, r in operation["responses"].items() if s.startswith("2")}


def _without_texts(tree: Any, *, names: bool = False) -> Any:
    """Returns a tree without texts and extensions. `names`: its keys are names of properties, which all stay."""
    if isinstance(tree, list):
        return [_without_texts(each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    return {
        name: _without_texts(value, names=name == "properties" and not names)
        for name, value in tree.items()
        if names or not (name in DROPPED or name.startswith("x-"))
    }


class _Comparison:
    """A comparison of two documents. Methods yield the broken promises."""

    def __init__(self, before: Tree, after: Tree) -> None:
        self._before = before
        self._after = after
        self._seen: set[tuple[str, str, bool]] = set()

    def operations(self) -> Iterator[str]:
        for path, methods in self._before["paths"].items():
            for method, old in methods.items():
                new = self._after["paths"].get(path, {}).get(method)
                place = f"{method.upper()} {path}"
                if new is None:
                    yield f"{place} is gone"
                else:
                    yield from self._parameters(place, old, new)
                    yield from self._request(f"{place} takes", old.get("requestBody"), new.get("requestBody"))
                    yield from self._responses(place, old["responses"], new["responses"])

    def _parameters(self, place: str, old: Tree, new: Tree) -> Iterator[str]:
        before = {(each["in"], each["name"]): each for each in map(self._old, old.get("parameters", ()))}
        after = {(each["in"], each["name"]): each for each in map(self._new, new.get("parameters", ()))}
        for key, each in before.items():
            if key not in after:
                yield f"{place}: {each['name']} is gone"
            else:
                yield from self._schema(f"{place} {each['name']}", each["schema"], after[key]["schema"], taken=True)
        for key, each in after.items():
            if each.get("required") and not before.get(key, {}).get("required"):
                yield f"{place}: {each['name']} is required"

    def _request(self, place: str, old: Tree | None, new: Tree | None) -> Iterator[str]:
        if new is not None and new.get("required") and not (old or {}).get("required"):
            yield f"{place}: a body is required"
        yield from self._contents(place, (old or {}).get("content", {}), (new or {}).get("content", {}), taken=True)

    def _responses(self, place: str, old: Tree, new: Tree) -> Iterator[str]:
        for status, response in old.items():
            if not status.startswith("2"):
                continue
            if status not in new:
                yield f"{place} answers no {status}"
                continue
            contents = (self._old(response).get("content", {}), self._new(new[status]).get("content", {}))
            yield from self._contents(f"{place} {status}", *contents, taken=False)

    def _contents(self, place: str, old: Tree, new: Tree, *, taken: bool) -> Iterator[str]:
        for kind, content in old.items():
            if kind not in new:
                yield f"{place}: {kind} is gone"
            elif "schema" in content:
                yield from self._schema(place, content["schema"], new[kind].get("schema", {}), taken=taken)

    def _schema(self, place: str, old: Tree, new: Tree, *, taken: bool) -> Iterator[str]:
        """Compares schemas of values that the service takes, or gives."""
        names = (old.get("$ref", ""), new.get("$ref", ""), taken)
        if all(names[:2]):
            if names in self._seen:  # compared already, or a schema that holds itself
                return
            self._seen.add(names)
            place = names[0].rpartition("/")[2]
        before, after = self._alternatives(old, self._old), self._alternatives(new, self._new)
        # Each value that was taken still is; each value that is given was given before.
        each, among = (before, after) if taken else (after, before)
        for one in each:
            found = [
                list(self._alternative(place, *((one, other) if taken else (other, one)), taken=taken))
                for other in among
                if set(_types(one)) <= set(_types(other)) or not _types(other)
            ]
            if not found:
                yield f"{place}: {'takes no' if taken else 'may be'} {'/'.join(_types(one)) or 'other value'}"
            elif all(found):
                yield from min(found, key=len)

    def _alternative(self, place: str, old: Tree, new: Tree, *, taken: bool) -> Iterator[str]:
        if taken:
            yield from _bounds(place, old, new)
        before, after = old.get("properties", {}), new.get("properties", {})
        for name, schema in before.items():
            if name in after:
                yield from self._schema(f"{place}.{name}", schema, after[name], taken=taken)
            elif not taken or new.get("additionalProperties") is False:
                yield f"{place}.{name} is gone"
        required = set(new.get("required", ())) - set(old.get("required", ()))
        lost = set(old.get("required", ())) - set(new.get("required", ()))
        yield from (f"{place}.{name} {'is required' if taken else 'may be absent'}" for name in required if taken)
        yield from (f"{place}.{name} may be absent" for name in lost & set(after) if not taken)
        if "items" in old and "items" in new:
            yield from self._schema(f"{place}[]", old["items"], new["items"], taken=taken)

    def _alternatives(self, schema: Tree, resolve: Any) -> list[Tree]:
        schema = resolve(schema)
        if "allOf" in schema:
            schema = _joined([option for part in schema["allOf"] for option in self._alternatives(part, resolve)])
        if "anyOf" in schema:
            return [found for each in schema["anyOf"] for found in self._alternatives(each, resolve)]
        types = _types(schema)
        return [{**schema, "type": each} for each in types] if types[1:] else [schema]

    def _old(self, part: Tree) -> Tree:
        return _resolved(self._before, part)

    def _new(self, part: Tree) -> Tree:
        return _resolved(self._after, part)


def _resolved(document: Tree, part: Tree) -> Tree:
    while "$ref" in part:
        target: Any = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        part = target
    return part


def _joined(parts: list[Tree]) -> Tree:
    """Returns the schema of objects that fulfil all of these."""
    return {
        "type": "object",
        "properties": {name: held for part in parts for name, held in part["properties"].items()},
        "required": [name for part in parts for name in part["required"]],
    }


def _types(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("type", [])
    return [found] if isinstance(found, str) else list(found)


def _bounds(place: str, old: Tree, new: Tree) -> Iterator[str]:
    """Compares the rules of a value that the service takes."""
    if "enum" in new and not set(old.get("enum", ["any"])) <= set(new["enum"]):
        yield f"{place} takes fewer values"
    for name in FLOORS:
        if new.get(name, float("-inf")) > old.get(name, float("-inf")):
            yield f"{place}: {name} is {new[name]}"
    for name in CEILINGS:
        if new.get(name, float("inf")) < old.get(name, float("inf")):
            yield f"{place}: {name} is {new[name]}"
    if "pattern" in new and new["pattern"] != old.get("pattern"):
        yield f"{place}: another pattern"


if __name__ == "__main__":
    json.dump(frozen(document()), sys.stdout, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    sys.stdout.write("\n")
