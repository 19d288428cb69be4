"""Makes the parts of the clients that follow from other files; a test fails when they are out of date.

    .venv/bin/python clients/generate.py

- `types.py` and `types.ts`: the types of bodies and answers, from the OpenAPI document.
- `_sync_client.py`: the synchronous client, from the asynchronous one.
- `verification.py`: the verification of deliveries, a copy of the server's.
- `importing.py`: what imports read, a copy of the server's.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from pressroom.server.routes import describe_api
from pressroom.settings import Settings

CLIENTS: Final = Path(__file__).parent
PYTHON: Final = CLIENTS / "python" / "src" / "pressroom_client"
TYPESCRIPT: Final = CLIENTS / "typescript" / "src"
SERVER: Final = CLIENTS.parent / "src" / "pressroom"
COPIES: Final = {
    "verification.py": SERVER / "receivers" / "verification.py",
    "importing.py": SERVER / "operations" / "importing" / "sources.py",
}
"""Files of the server of which the client has a copy, since the two are packages of their own."""

Schema = dict[str, Any]

_REFERENCE: Final = "#/components/schemas/"
_HEAD: Final = "Made by clients/generate.py from the OpenAPI document; do not edit."
_SCALARS: Final = {
    "string": ("str", "string"),
    "integer": ("int", "number"),
    "number": ("float", "number"),
    "boolean": ("bool", "boolean"),
}
_SYNC: Final = (
    (r"AsyncIterator\b", "Iterator"),
    (r"\bIterator, Iterable\b", "Iterable, Iterator"),
    (r"\bAsyncPressroom\b", "Pressroom"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bhttpx\.AsyncBaseTransport\b", "httpx.BaseTransport"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"^import asyncio\n", ""),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\baclose\b", "close"),
    (r"\baiter_lines\b", "iter_lines"),
    (r"\baread\b", "read"),
    (r"\bAn asynchronous client\b", "A client"),
    (r"^(    \"\"\")A client of one account", r"\1A synchronous client of one account"),
)
"""Replacements that make the synchronous client of the asynchronous one."""


def generated() -> dict[Path, str]:
    """Returns the text of each file that is made here."""
    document = cast("Schema", describe_api(Settings({}), keyed=True))
    schemas = _used_schemas(document)
    return {
        PYTHON / "types.py": _formatted(_python(schemas, document["webhooks"])),
        TYPESCRIPT / "types.ts": _typescript(schemas, document["webhooks"]),
        PYTHON / "_sync_client.py": _formatted(_synchronous((PYTHON / "_async_client.py").read_text())),
        **{PYTHON / name: original.read_text() for name, original in COPIES.items()},
    }


def _used_schemas(document: Schema) -> dict[str, Schema]:
    """Returns the schemas of operations and events, with all that these refer to, by name."""
    known: dict[str, Schema] = document["components"]["schemas"]
    waiting = set(_references([document["paths"], document["webhooks"], document["components"]["responses"]]))
    used: set[str] = set()
    while waiting:
        name = waiting.pop()
        used.add(name)
        waiting |= set(_references(known[name])) - used
    return {name: _whole(known, known[name]) for name in sorted(used)}


def _whole(known: Mapping[str, Schema], schema: Schema) -> Schema:
    """Returns a schema with the fields of those that it extends."""
    if "$ref" in schema:
        return _whole(known, known[str(schema["$ref"]).removeprefix(_REFERENCE)])
    if "allOf" not in schema:
        return schema
    parts = [_whole(known, part) for part in schema["allOf"]]
    properties = {field: held for part in parts for field, held in part["properties"].items()}
    return {**schema, "properties": properties, "required": [field for part in parts for field in part["required"]]}


def _references(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _references(each)
    elif isinstance(value, dict):
        for name, held in cast("Schema", value).items():
            if name == "$ref" and str(held).startswith(_REFERENCE):
                yield str(held).removeprefix(_REFERENCE)
            else:
                yield from _references(held)


def _type(schema: Schema, language: int) -> str:
    """Returns the type of a schema in Python (0) or TypeScript (1)."""
    null = ("None", "null")[language]
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REFERENCE)
    if "const" in schema:
        return _literal([schema["const"]], language)
    if "enum" in schema:
        return _literal(schema["enum"], language)
    if "anyOf" in schema:
        return " | ".join(_type(option, language) for option in schema["anyOf"])
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return " | ".join(_type({**schema, "type": kind}, language) for kind in cast("list[str]", kinds))
    if kinds == "null":
        return null
    if kinds == "array":
        item = _type(schema.get("items", {}), language)
        return f"list[{item}]" if language == 0 else f"Array<{item}>"
    if kinds == "object":
        return ("dict[str, object]", "Record<string, unknown>")[language]
    return _SCALARS[str(kinds)][language] if kinds else ("object", "unknown")[language]


def _literal(values: list[object], language: int) -> str:
    texts = [f'"{value}"' if language == 0 else f"'{value}'" for value in values]
    return f"Literal[{', '.join(texts)}]" if language == 0 else " | ".join(texts)


def _sentence(schema: Schema) -> str:
    return " ".join(str(schema.get("description", "")).split("\n\n")[0].split())


def _python(schemas: Mapping[str, Schema], events: Mapping[str, Schema]) -> str:
    lines = [f'"""The types of bodies and answers, by their names in the API reference.\n\n{_HEAD}\n"""\n']
    lines.append("from __future__ import annotations\n\nfrom typing import Literal, TypedDict, Union\n")
    for name, schema in schemas.items():
        if "properties" not in schema:
            text = _sentence(schema)
            lines.append(f"{name} = {_type(schema, 0)}\n" + (f'"""{text}"""\n' if text else ""))
    for name, schema in schemas.items():
        if "properties" in schema:
            lines += _typed_dict(name, schema)
    lines += _python_events(events)
    return "\n".join(lines)


def _typed_dict(name: str, schema: Schema) -> Iterator[str]:
    required: list[str] = schema.get("required", [])
    properties: dict[str, Schema] = schema.get("properties", {})
    optional = [field for field in properties if field not in required]
    base = "TypedDict"
    if required and optional:
        base = f"_{name}Required"
        yield from _class(base, "TypedDict", "", {field: properties[field] for field in required})
    total = ", total=False" if optional else ""
    shown = optional if optional else required
    yield from _class(name, base + total, _sentence(schema), {field: properties[field] for field in shown})


def _class(name: str, bases: str, sentence: str, properties: Mapping[str, Schema]) -> Iterator[str]:
    yield f"\nclass {name}({bases}):"
    if sentence:
        yield f'    """{sentence}"""\n'
    for field, schema in properties.items():
        yield f"    {field}: {_type(schema, 0)}"
        if text := _sentence(schema):
            yield f'    """{text}"""'
    if not properties:
        yield "    ..."
    yield ""


def _event_class(event: str) -> str:
    return "".join(part.capitalize() for part in event.split(".")) + "Event"


def _python_events(events: Mapping[str, Schema]) -> Iterator[str]:
    for event in events:
        data = _type(_event_data(events[event]), 0)
        yield f"\nclass {_event_class(event)}(TypedDict):"
        yield f'    """{_sentence(events[event]["post"])}"""\n'
        yield f'    event: Literal["{event}"]\n    id: str\n    created_at: str\n    data: {data}\n'
    names = ", ".join(f'"{_event_class(event)}"' for event in events)
    yield f"\nEvent = Union[{names}]"
    yield '"""An envelope. A later version may send further events, so compare `event` before you read `data`."""'


def _event_data(event: Schema) -> Schema:
    schema = event["post"]["requestBody"]["content"]["application/json"]["schema"]
    return cast("Schema", schema["properties"]["data"])


def _typescript(schemas: Mapping[str, Schema], events: Mapping[str, Schema]) -> str:
    lines = [f"// The types of bodies and answers, by their names in the API reference.\n// {_HEAD}\n"]
    for name, schema in schemas.items():
        if "properties" not in schema:
            lines += [
                *([f"/** {text} */"] if (text := _sentence(schema)) else []),
                f"export type {name} = {_type(schema, 1)}\n",
            ]
            continue
        required: list[str] = schema.get("required", [])
        lines += [f"/** {_sentence(schema)} */", f"export interface {name} {{"]
        for field, held in schema.get("properties", {}).items():
            if text := _sentence(held):
                lines.append(f"  /** {text} */")
            lines.append(f"  {field}{'' if field in required else '?'}: {_type(held, 1)}")
        lines.append("}\n")
    for event in events:
        lines += [f"/** {_sentence(events[event]['post'])} */", f"export interface {_event_class(event)} {{"]
        lines += [f"  event: '{event}'", "  id: string", "  created_at: string"]
        lines += [f"  data: {_type(_event_data(events[event]), 1)}", "}\n"]
    names = " | ".join(_event_class(event) for event in events)
    lines.append("/** An envelope. A later version may send further events: compare `event` before you read `data`. */")
    lines.append(f"export type Event = {names}\n")
    return "\n".join(lines)


def _synchronous(text: str) -> str:
    for pattern, replacement in _SYNC:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    head, rest = text.split('"""\n', 1)
    return f'{head}\nMade by clients/generate.py from _async_client.py; do not edit.\n"""\n{rest}'


def _formatted(text: str) -> str:
    config = str(CLIENTS.parent / "pyproject.toml")
    name = str(PYTHON / "made.py")
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--config", config, "--stdin-filename", name, "-"]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=CLIENTS).stdout  # noqa: S603  # our own tool


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text)
