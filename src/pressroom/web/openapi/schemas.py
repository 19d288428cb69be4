"""Component schemas: those of msgspec, corrected where the service is stricter or more lenient than the types.

The struct of a body may declare as `json_schema` the rules of its `field_errors` beyond types:
`{"required": ["content"]}`.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final, cast

import msgspec
from msgspec import inspect

from pressroom.errors import Code, FieldError, Limit
from pressroom.web.error_responses import INTERNAL, LABELS, Problem
from pressroom.web.openapi import prose

Json = dict[str, object]

PREFIX: Final = "#/components/schemas/"
OPEN: Final = "x-extensible-enum"
OTHERS: Final = 3
"""Fields beside its schemas that an object may have and still show their examples instead of one of its own."""
_NULL: Final[Json] = {"type": "null"}
_PUBLIC_NAMES: Final = {"FieldError": "Fault", "EndpointStatus": "Status"}
"""Names that clients generate code from, so they stay when the struct's own name changes."""


class Schemas:
    """The schemas of `kinds` and of all types in them, by their public names: PostOut is shown as Post."""

    def __init__(self, kinds: Iterable[type]) -> None:
        self.components: dict[str, Json] = dict(_components(tuple(dict.fromkeys(kinds))))

    def reference(self, kind: type) -> Json:
        """Returns a reference to the schema of `kind`."""
        return {"$ref": PREFIX + public_name(kind.__name__)}

    def show(self, kind: type, example: object) -> None:
        """Shows an example of a schema.

        One that consists of other schemas, such as a page of a list, shows the examples of these instead.
        """
        self._show(public_name(kind.__name__), example)

    def _show(self, name: str, example: object) -> None:
        schema = self.components[name]
        if "examples" in schema:
            return
        parts = self._parts(cast("Json", schema.get("properties", {})))
        if not parts:
            schema["examples"] = [example]
        for field, part in parts.items():
            held = cast("Json", example).get(field)
            for one in cast("list[object]", held)[-1:] if isinstance(held, list) else [held]:
                if one is not None:
                    self._show(part, one)

    def _parts(self, properties: Json) -> dict[str, str]:
        """Returns the schemas that an object consists of, by field; none when it has more than two other fields."""
        parts: dict[str, str] = {}
        for field, held in properties.items():
            schema = cast("Json", held)
            options = cast("list[Json]", schema.get("anyOf", [schema.get("items", schema)]))
            name = str(options[0].get("$ref", "")).removeprefix(PREFIX)
            if self.components.get(name, {}).keys() & {"properties", "allOf"}:
                parts[field] = name
        return parts if parts and len(properties) - len(parts) <= OTHERS else {}


def public_name(name: str) -> str:
    """Returns the name of a struct in the document."""
    return _PUBLIC_NAMES.get(name, name.removesuffix("Out"))


@cache
def _components(kinds: tuple[type, ...]) -> dict[str, Json]:
    """Returns the schemas by name. They follow from the types alone, and to make them takes as long as all the rest."""
    _, raw = msgspec.json.schema_components(kinds, schema_hook=_anything, ref_template=PREFIX + "{name}")
    known: dict[str, inspect.Type] = {}
    for kind in kinds:
        _collect(inspect.type_info(kind), known)
    made: dict[str, Json] = {
        public_name(name): _settled(cast("Json", raw[name]), known[name]) for name in sorted(raw, key=public_name)
    }
    _derive(made, known)
    made[Problem.__name__] = _problem(made[Problem.__name__])
    field_error = public_name(FieldError.__name__)
    made[field_error] = _field_error(made[field_error])
    made[Code.__name__] = _open(made[Code.__name__], prose.codes())
    made[Limit.__name__] = _open(made[Limit.__name__], prose.limits())
    return made


def _derive(made: dict[str, Json], known: dict[str, inspect.Type]) -> None:
    """Writes responses whose struct extends another one as `allOf`: the base by reference, and the added fields."""
    names = {info.cls: public_name(name) for name, info in known.items() if isinstance(info, inspect.StructType)}
    whole = dict(made)
    for kind, name in names.items():
        base = next((names[each] for each in kind.__mro__[1:] if each in names), None)
        if base is None or "additionalProperties" in whole[name]:
            continue
        held, inherited = (cast("Json", whole[each]["properties"]) for each in (name, base))
        if any(held[field] != schema for field, schema in inherited.items()):
            continue
        added = {field: schema for field, schema in held.items() if field not in inherited}
        required = [field for field in cast("list[str]", whole[name]["required"]) if field in added]
        rest = {key: value for key, value in whole[name].items() if key not in ("type", "properties", "required")}
        own = {"type": "object", "properties": added, "required": required}
        made[name] = {**rest, "allOf": [{"$ref": PREFIX + base}, own]}


def _anything(_kind: type) -> Json:
    return {"description": "Any value."}


def _collect(info: inspect.Type, known: dict[str, inspect.Type]) -> None:
    """Adds the structs, dataclasses and enums in `info` to `known`, by name."""
    match info:
        case inspect.StructType() | inspect.DataclassType():
            if info.cls.__name__ not in known:
                known[info.cls.__name__] = info
                for field in info.fields:
                    _collect(field.type, known)
        case inspect.EnumType():
            known[info.cls.__name__] = info
        case inspect.Metadata():
            _collect(info.type, known)
        case inspect.CollectionType():
            _collect(info.item_type, known)
        case inspect.DictType():
            _collect(info.value_type, known)
        case inspect.UnionType():
            for kind in info.types:
                _collect(kind, known)
        case _:
            pass


def _settled(raw: Json, info: inspect.Type) -> Json:
    schema = cast("Json", _renamed(raw))
    del schema["title"]  # the component's name already
    if isinstance(info, inspect.EnumType):
        schema["enum"] = [member.value for member in info.cls]
    elif isinstance(info, inspect.StructType):
        properties = cast("dict[str, Json]", schema["properties"])
        schema["properties"] = {name: _joined(held) for name, held in properties.items()}
        if info.forbid_unknown_fields:
            _settle_body(schema, info)
        else:
            _settle_response(schema, omits=info.cls.__struct_config__.omit_defaults)
    return schema


def _settle_body(schema: Json, info: inspect.StructType) -> None:
    """Lets optional fields be null, and adds the rules that types cannot express."""
    schema |= cast("Json", getattr(info.cls, "json_schema", {}))
    required = cast("list[str]", schema["required"])
    properties = cast("dict[str, Json]", schema["properties"])
    for name, held in properties.items():
        held.pop("default", None)
        properties[name] = _without_null(held) if name in required else _with_null(held)
    if not required:
        del schema["required"]


def _settle_response(schema: Json, *, omits: bool) -> None:
    """Requires every field, except those that the struct omits when they have their default; these are never null."""
    properties = cast("dict[str, Json]", schema["properties"])
    optional = [name for name, held in properties.items() if "default" in held]
    for name, held in properties.items():
        held.pop("default", None)
        if omits and name in optional:
            properties[name] = _without_null(held)
    schema["required"] = [name for name in properties if not (omits and name in optional)]


def _joined(schema: Json) -> Json:
    """Returns an `anyOf` of a type and null as one type where that is possible, with its description at the top."""
    options = cast("list[Json]", schema.get("anyOf", []))
    others = [option for option in options if option != _NULL]
    if not options or len(others) != 1:
        return schema
    only, rest = others[0], {name: held for name, held in schema.items() if name != "anyOf"}
    if _NULL not in options or ("type" in only and "enum" not in only):
        return {**only, **({"type": [only["type"], "null"]} if _NULL in options else {}), **rest}
    prose_of = {name: only[name] for name in ("description", "examples") if name in only and "$ref" not in only}
    bare = {name: held for name, held in only.items() if name not in prose_of}
    return {**prose_of, **rest, "anyOf": [bare, _NULL]}


def _with_null(schema: Json) -> Json:
    kind = schema.get("type")
    if kind == "null" or isinstance(kind, list) or _NULL in cast("list[Json]", schema.get("anyOf", [])):
        return schema
    return _joined({"anyOf": [schema, _NULL]})


def _without_null(schema: Json) -> Json:
    kind = schema.get("type")
    if isinstance(kind, list):
        left = [each for each in cast("list[str]", kind) if each != "null"]
        return {**schema, "type": left[0] if len(left) == 1 else left}
    options = cast("list[Json]", schema.get("anyOf", []))
    if _NULL not in options:
        return schema
    rest = {name: held for name, held in schema.items() if name != "anyOf"}
    return _joined({**rest, "anyOf": [option for option in options if option != _NULL]})


def _renamed(value: object) -> object:
    """Returns a copy with public names in references, and descriptions without line breaks."""
    if isinstance(value, list):
        return [_renamed(item) for item in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    copy: Json = {}
    for name, held in cast("Json", value).items():
        if name == "$ref":
            copy[name] = PREFIX + public_name(str(held).removeprefix(PREFIX))
        elif name == "description" and isinstance(held, str):
            copy[name] = " ".join(held.split())
        else:
            copy[name] = _renamed(held)
    return copy


def _open(schema: Json, description: str) -> Json:
    """Returns an enum to which a later version may add values, so that no client refuses them."""
    return {"type": "string", "description": description, OPEN: schema["enum"]}


def _problem(schema: Json) -> Json:
    """Returns the schema of errors with its fields explained and its labels listed."""
    properties = cast("dict[str, Json]", schema["properties"])
    labels = [label for _, label in [*LABELS.values(), INTERNAL]]
    for name, text in prose.PROBLEM_FIELDS.items():
        properties[name] = {**properties[name], "description": text}
    properties["error"] = {**properties["error"], OPEN: labels}
    properties["retryAfter"] = {**properties["retryAfter"], "minimum": 1}
    properties["details"] = {**properties["details"], "minItems": 1}
    return schema


def _field_error(schema: Json) -> Json:
    """Returns the schema of a field error with its fields explained."""
    properties = cast("dict[str, Json]", schema["properties"])
    for name, text in prose.FIELD_ERROR_PROPERTIES.items():
        properties[name] = {**properties[name], "description": text}
    return schema
