"""One operation: who may call it, its parameters and body, and its responses."""

import re
import shlex
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from itertools import chain, count
from typing import Final, TypeVar, cast

import msgspec

from pressroom.web.access import Access, AdminOnly, Anyone, Keyed, Public
from pressroom.web.multipart_rules import FormSpec, form_schema
from pressroom.web.openapi import headers, prose
from pressroom.web.openapi.refusals import Refusals
from pressroom.web.openapi.schemas import PREFIX, Json, Schemas
from pressroom.web.routing import Route

C = TypeVar("C")

USUAL_SECURITY: Final[list[Json]] = [{"session": []}]
"""The credentials that an operation takes by default."""

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_DONE: Final = {200: "Done.", 201: "Created.", 202: "Accepted: it will be done."}
_CAPITAL: Final = re.compile(r"(?=[A-Z])")


def describe_operation(route: Route[C], schemas: Schemas, refusals: Refusals, base_url: str) -> Json:
    """Returns the operation object of a route."""
    operation: Json = {"tags": [route.tag.name]} if route.tag else {}
    operation |= {
        "operationId": operation_id(route.name),
        "summary": route.summary,
        "description": "\n\n".join(
            filter(None, (route.description, _who(route.access), "\n".join(refusals.reasons(route))))
        ),
    }
    if isinstance(route.access, Keyed) and route.access.scope:
        operation["x-required-scope"] = " ".join(route.access.scopes)
    if (security := _security(route.access)) != USUAL_SECURITY:
        operation["security"] = security
    if parameters := _parameters(route):
        operation["parameters"] = parameters
    if route.takes:
        operation["requestBody"] = {
            "required": not route.body_optional,
            "content": _form(route, schemas) if route.form else {"application/json": _body(route, schemas)},
        }
    if route.idempotent and isinstance(route.access, Keyed):
        example = None if route.example is None else _given(plain(route.example))
        operation["x-codeSamples"] = [curl_sample(route, example, base_url)]
    operation["responses"] = {**_successes(route, schemas), **refusals.responses(route)}
    return operation


def operation_id(name: str) -> str:
    """`create_post` → `createPost`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def plain(example: object) -> object:
    """Returns an example as JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(example))


def _who(access: Access) -> str:
    match access:
        case Keyed(anyone=True):
            return "For everybody, signed in or not, and for any active API key, whatever its scopes."
        case Keyed(scope=None):
            return "For any active API key, whatever its scopes, or a session."
        case Keyed():
            noun = "scope" if access.also is None else "scopes"
            scopes = " and ".join(f"`{each}`" for each in access.scopes)
            return f"For an API key with the {noun} {scopes}{'' if access.key_only else ', or a session'}."
        case Anyone() | Public():
            return "For everybody."
        case AdminOnly(moderators=True):
            return "For admins and moderators, signed in."
        case AdminOnly():
            return "For admins, signed in."
        case _:
            return ""


def _security(access: Access) -> list[Json]:
    match access:
        case Keyed(key_only=True):
            return [{"apiKey": []}]
        case Keyed(anyone=anyone):
            return [{"apiKey": []}, {"session": []}, *([{}] if anyone else [])]
        case Anyone() | Public():
            return []
        case _:
            return USUAL_SECURITY


def _parameters(route: Route[C]) -> list[Json]:
    parameters = [_shared(name) for name in _PLACEHOLDER.findall(route.path)]
    if route.paged:
        parameters += [_shared(name) for name in ("pageLimit", "pageCursor")]
    for each in route.query:
        parameters.append({"name": each.name, "in": "query", "description": each.description, "schema": each.schema})
    if route.idempotent:
        parameters.append(_shared("idempotencyKey"))
    return parameters


def _shared(name: str) -> Json:
    return {"$ref": f"#/components/parameters/{name}"}


def path_parameters(paths: Iterable[str]) -> dict[str, Json]:
    """Returns the parameters in these paths, by name."""
    return {name: _path_parameter(name) for path in paths for name in _PLACEHOLDER.findall(path)}


def _path_parameter(name: str) -> Json:
    *owner, last = _CAPITAL.split(name)
    what = f"The {last.lower()} of the {' '.join(owner).lower()}" if owner else f"The {last}"
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": f"{what}, as an earlier answer gave it.",
        "schema": {"type": "string"},
    }


def _body(route: Route[C], schemas: Schemas) -> Json:
    media: Json = {"schema": schemas.reference(cast("type[msgspec.Struct]", route.takes))}
    if route.example is not None:
        media["example"] = _given(plain(route.example))
    return media


def _form(route: Route[C], schemas: Schemas) -> Json:
    """Returns a multipart body, whose texts follow the same rules as JSON and may be JSON themselves."""
    spec, kind = cast("FormSpec", route.form), cast("type[msgspec.Struct]", route.takes)
    # The form contains the schema, so nothing would refer to it as a component.
    texts = cast("Json", schemas.components.pop(kind.__name__)["properties"])
    media: Json = {"schema": form_schema(spec.by_key, texts)}
    if route.example is not None:
        file = "(the bytes of a file)"
        files = [file] if spec.by_key.files > 1 else file
        media["example"] = {spec.by_key.file_field: files, **cast("Json", _given(plain(route.example)))}
    if spec.json_texts:
        media["encoding"] = {name: {"contentType": "application/json"} for name in sorted(spec.json_texts)}
    return {"multipart/form-data": media}


def _given(value: object) -> object:
    """Returns the value without the nulls of fields that are not given."""
    if not isinstance(value, dict):
        return value
    return {name: _given(held) for name, held in cast("Json", value).items() if held is not None}


def _successes(route: Route[C], schemas: Schemas) -> dict[str, Json]:
    media: Json = {"schema": schemas.reference(route.gives)} if route.gives else {}
    if route.response_example is not None and route.gives:
        schemas.show(route.gives, plain(route.response_example))
    its_headers: dict[str, Json] = {}
    if route.cookie:
        its_headers[headers.COOKIE] = headers.cookie(route.cookie)
    if route.location:
        its_headers[headers.LOCATION] = headers.reference(headers.LOCATION)
    success: Json = {"description": _DONE[route.status]}
    if its_headers:
        success["headers"] = its_headers
    content: Json = {route.content_type: media}
    if route.stream:
        content["text/event-stream"] = {"schema": {"type": "string"}, "example": route.stream}
    success["content"] = content
    successes = {str(route.status): success}
    if route.idempotent and route.status != 200:
        replayed = {name: headers.reference(name) for name in (headers.REPLAYED, headers.BODY_DIFFERS)}
        replay: Json = {**success, "description": prose.REPLAY, "headers": its_headers | replayed}
        successes = {"200": replay, **successes}
    return successes


def share_successes(paths: Mapping[str, Json]) -> dict[str, Json]:
    """Replaces the successful responses that operations have in common by references; returns them by name."""
    responses = [
        cast("Json", cast("Json", operation)["responses"]) for item in paths.values() for operation in item.values()
    ]
    texts = Counter(_text(held[status]) for held in responses for status in held if status[0] == "2")
    named: dict[str, str] = {}
    shared: dict[str, Json] = {}
    for held in responses:
        for status in [each for each in held if each[0] == "2" and texts[_text(held[each])] > 1]:
            response = cast("Json", held[status])
            if (text := _text(response)) not in named:
                named[text] = _name_of(response, shared)
                shared[named[text]] = response
            held[status] = {"$ref": f"#/components/responses/{named[text]}"}
    return shared


def _name_of(response: Json, taken: Container[str]) -> str:
    media = cast("dict[str, dict[str, Json]]", response["content"])
    schema = str(next(iter(media.values()))["schema"]["$ref"]).removeprefix(PREFIX)
    names = (f"{schema}Success{number}" for number in chain([""], count(2)))
    return next(name for name in names if name not in taken)


_FRESH_KEY: Final = '-H "Idempotency-Key: $(date +%s%N)"'


def curl_sample(route: Route[C], example: object, base_url: str) -> Json:
    """Returns a write as a curl command, with parameters of the path in capitals: ID for `{id}`."""
    path = _PLACEHOLDER.sub(lambda found: found[1].upper(), route.path)
    lines = [f"curl -X {route.method} {shlex.quote(base_url + path)}", _credential(route)]
    if route.idempotent:
        lines.append(_FRESH_KEY)
    if route.form:
        lines += _form_lines(route.form, cast("Json", example or {}))
    elif example is not None:
        body = msgspec.json.encode(example).decode()
        lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
    return {"lang": "shell", "label": "curl", "source": " \\\n  ".join(line for line in lines if line)}


def _credential(route: Route[C]) -> str:
    return "-H 'Authorization: Bearer svc_live_…'" if isinstance(route.access, Keyed) else "-b 'session=…'"


def _form_lines(form: FormSpec, texts: Json) -> list[str]:
    lines = [f"-F '{form.by_key.file_field}=@FILE'"]
    for name, value in texts.items():
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        lines += [f"-F {shlex.quote(f'{name}={_text(one)}')}" for one in values]
    return lines


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
