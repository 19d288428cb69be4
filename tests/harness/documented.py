"""Real answers held to the OpenAPI document: status, headers, body, and the wording of errors."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
from jsonschema import Draft202012Validator

Json = dict[str, Any]

OURS = re.compile(
    r"x-.*|ratelimit.*|retry-after|www-authenticate|set-cookie|idempotent-.*|location|allow|cache-control"
)
RATE_LIMITS = {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-policy", "ratelimit"}
EVERYWHERE = {"x-request-id", "x-service-api-version", "cache-control"}
"""Headers of every answer, which the introduction names."""
REPLAYED = {"idempotent-replayed", "idempotent-body-differs"}
"""Headers of replays, which the introduction names."""
OF_STATUS = {401: "www-authenticate", 429: "retry-after", 503: "retry-after"}
"""Headers that every answer with a status has."""
VARYING = {
    "Validation failed",
    "Not found",
    "Conflict",
    "Method not allowed",
    "Unavailable",
    "Unprocessable",
    "Unsupported media type",
}
"""Labels whose message follows from the request; of the others the examples show the very wording."""


def resolve(document: Json, part: Json) -> Json:
    """The target of a reference; anything else as it is."""
    while "$ref" in part:
        reference, part = part["$ref"], document
        for name in reference.removeprefix("#/").split("/"):
            part = part[name]
    return part


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Every operation with its method and path."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def validator(document: Json, schema: Json) -> Draft202012Validator:
    """Validates against a schema of the document."""
    return Draft202012Validator(
        {**schema, "components": document["components"]}, format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def without_unknown_fields(document: Json) -> Json:
    """The document with every object closed, so that an answer's undocumented fields show."""
    copy: Json = json.loads(json.dumps(document))
    copy["components"]["schemas"] = {
        name: whole(document, held) for name, held in document["components"]["schemas"].items()
    }
    for schema in copy["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return copy


def whole(document: Json, schema: Json) -> Json:
    """A schema with the fields of those that it extends."""
    if "allOf" not in schema:
        return schema
    parts = [whole(document, resolve(document, part)) for part in schema["allOf"]]
    properties = {name: held for part in parts for name, held in part["properties"].items()}
    required = [name for part in parts for name in part["required"]]
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    return {**rest, "type": "object", "properties": properties, "required": required}


def examples(document: Json, media: Json) -> list[Any]:
    """The examples of a body or an answer, or else that of its schema."""
    named = [resolve(document, each)["value"] for each in media.get("examples", {}).values()]
    return [*named, *([media["example"]] if "example" in media else [])] or [example(document, media["schema"])]


def example(document: Json, schema: Json) -> Any:
    """The example of a schema; one that has none consists of others, and shows theirs."""
    schema = whole(document, resolve(document, schema))
    if "examples" in schema:
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example(document, schema["anyOf"][0])
    match schema["type"]:
        case "object":
            return {name: example(document, held) for name, held in schema["properties"].items()}
        case "array":
            return [example(document, schema["items"])] * schema.get("minItems", 1)
        case "boolean":
            return True
        case "integer":
            return schema.get("minimum", 0)
        case ["string", "null"]:
            return None
        case _:
            return "2026-11-20T16:08:12.345Z" if schema.get("format") == "date-time" else "AAAAAAAAACkAAAAAAAAAAA"


def parameters(document: Json, operation: Json) -> list[Json]:
    """The parameters of an operation."""
    return [resolve(document, each) for each in operation.get("parameters", [])]


def security(document: Json, operation: Json) -> list[Json]:
    """The credentials that an operation takes: any one of these."""
    return operation.get("security", document["security"])


class Documented:
    """Holds answers to the document."""

    def __init__(self, document: Json) -> None:
        self.document = without_unknown_fields(document)
        self.seen: set[tuple[int, str | None]] = set()

    def check(self, answer: httpx.Response) -> None:
        """Fails unless the status, the headers and the body of an answer are as documented."""
        request = answer.request
        described = self.described(request.method, request.url.path, answer.status_code)
        answer.read()
        media = described["content"][answer.headers["content-type"]]
        body = answer.json()
        validator(self.document, media["schema"]).validate(body)
        self._check_headers(described, answer)
        if answer.is_error:
            self._check_wording(media, body)
        self.seen.add((answer.status_code, body.get("error")))

    def described(self, method: str, path: str, status: int) -> Json:
        """The response object for this status."""
        elsewhere = self.document["x-elsewhere"]
        for template, methods in self.document["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
                if method.lower() not in methods:
                    assert status == 405
                    return elsewhere["405"]
                if status >= 500:
                    return elsewhere["5XX"]
                described = methods[method.lower()]["responses"]
                statuses = [str(status), *(["4XX"] if status >= 400 else [])]
                found = [resolve(self.document, described[each]) for each in statuses if each in described]
                assert found, f"{method} {path} may not answer {status}"
                return found[0]
        assert status == 404
        return elsewhere["404"]

    def _check_headers(self, described: Json, answer: httpx.Response) -> None:
        documented = {name.lower(): resolve(self.document, held) for name, held in described.get("headers", {}).items()}
        known = documented.keys() | EVERYWHERE
        if answer.is_success:
            known |= REPLAYED | RATE_LIMITS
        assert {name for name in answer.headers if OURS.fullmatch(name)} <= known
        assert "x-request-id" in answer.headers
        assert OF_STATUS.get(answer.status_code, "x-request-id") in answer.headers
        for name, header in documented.items():
            value = answer.headers.get(name)
            assert value is not None or not header.get("required"), f"{name} is missing"
            if value is not None:
                typed = int(value) if header["schema"]["type"] == "integer" else value
                validator(self.document, header["schema"]).validate(typed)
        if answer.status_code == 401:
            assert not answer.headers.keys() & RATE_LIMITS
        elif answer.request.headers.get("authorization") and (answer.is_success or documented.keys() >= RATE_LIMITS):
            assert answer.headers.keys() >= RATE_LIMITS

    def _check_wording(self, media: Json, body: Json) -> None:
        alike = [each for each in examples(self.document, media) if each["error"] == body["error"]]
        assert alike, f"{body['error']} is not documented here"
        if body["error"] not in VARYING:
            assert _without_numbers(body["message"]) in [_without_numbers(each["message"]) for each in alike]


def _without_numbers(text: str) -> str:
    return re.sub(r"\d[\d.,]*", "N", text)


def altered(document: Json, schema: Json, example: Json) -> Iterator[Json]:
    """An example of a body, altered in one place at a time: each way that its schema speaks of, and some more."""
    schema = resolve(document, schema)
    yield {**example, "misspelt": 1}
    for name, held in schema["properties"].items():
        yield {other: value for other, value in example.items() if other != name}
        for value in _values(document, held, example.get(name)):
            yield {**example, name: value}


def _values(document: Json, schema: Json, example: object) -> Iterator[object]:
    yield from (None, True, 7, -0.5, "", "   ", "x!", "ab", "x" * 30, "x" * 31, "é", [], [1], {}, {"a": 1})
    for option in [resolve(document, each) for each in [schema, *schema.get("anyOf", [])]]:
        yield from option.get("enum", [])
        if "maxLength" in option:
            yield from (letter * (option["maxLength"] + more) for letter in "xé" for more in (0, 1))
        if "minLength" in option:
            yield from ("x" * option["minLength"], "é" * (option["minLength"] - 1))
        for limit, beyond in (("minimum", -1), ("maximum", 1)):
            if limit in option:
                yield from (option[limit], option[limit] + beyond, option[limit] + beyond / 1000)
        if "maxItems" in option and isinstance(example, list):
            yield from (example[:1] * option["maxItems"], example[:1] * (option["maxItems"] + 1))
        if "properties" in option and isinstance(example, dict):
            yield from altered(document, option, example)
