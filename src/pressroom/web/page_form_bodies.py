"""Bodies of forms: read within bounds, and turned into the JSON body of the same route."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Final, TypeVar, cast
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import inspect

from pressroom.errors import Code, FieldError, Invalid
from pressroom.web import json_bodies
from pressroom.web.json_bodies import struct_info, takes_none
from pressroom.web.multipart_rules import CHARSET_FIELD, LONGEST_NAME, MOST_PARTS, FormRules, malformed
from pressroom.web.page_forms import IDEMPOTENCY_FIELD, OTHER, TRUE, ZONE_SUFFIX, FormFields

B = TypeVar("B", bound=msgspec.Struct)
Typed = dict[str, list[str]]

AT_ONCE: Final = 16 * 1024
"""Bytes of an urlencoded form that are decoded in one step: escapes take 50 ns a byte, and all of a form 14 ms."""

_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_DECIMAL: Final = re.compile(r"\s*[+-]?[0-9]{1,18}([.,][0-9]{1,18})?\s*")
_LOCAL_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?")
_ZONE: Final = re.compile(r"[+-]\d\d:\d\d")


async def parse_urlencoded(raw: bytes) -> Typed:
    """Returns the fields of an urlencoded body, and gives way on the way there. Raises Invalid."""
    # Before they are split: a body of separators alone would make a list of 256,000 items.
    if raw.count(b"&") >= MOST_PARTS:
        raise malformed(f"A form has at most {MOST_PARTS:,} fields.")
    typed: Typed = {}
    read = 0
    for pair in filter(None, raw.split(b"&")):
        name, _, text = pair.partition(b"=")
        try:
            typed.setdefault(await _unquote(name), []).append(await _unquote(text))
        except UnicodeDecodeError:
            raise malformed("The form is not UTF-8.") from None
        read += len(pair)
        # By bytes, not by fields: one huge field costs as much as thousands of small ones.
        if read >= AT_ONCE:
            read = 0
            await asyncio.sleep(0)
    typed.pop(CHARSET_FIELD, None)
    return typed


async def _unquote(escaped: bytes) -> str:
    """Returns a text without its escapes. Raises UnicodeDecodeError."""
    escaped = escaped.replace(b"+", b" ")
    pieces: list[bytes] = []
    at = 0
    while at < len(escaped):
        end = at + AT_ONCE
        if end < len(escaped) and (begun := escaped.rfind(b"%", end - 2, end)) >= 0:
            end = begun  # Cut there, the escape would be none.
        pieces.append(unquote_to_bytes(escaped[at:end]))
        at = end
        if at < len(escaped):
            await asyncio.sleep(0)
    return b"".join(pieces).decode()


def holds_nul(typed: Mapping[str, Sequence[str]]) -> bool:
    """Returns whether a form holds a NUL: no page can keep it, for browsers put another character in its place."""
    return any("\0" in text for name, texts in typed.items() for text in (name, *texts))


NO_FILES: Final = FormRules(file_field="", files=0, file_bytes=0)


def rules_of(kind: type[msgspec.Struct], fields: FormFields, files: FormRules = NO_FILES) -> FormRules:
    """Returns the rules by which the form of a route is read when it comes as multipart/form-data.

    `files` has those of its files.
    """
    names = tuple(_known(kind, fields))
    return msgspec.structs.replace(files, fields=names, repeated=frozenset(names))


def fields_of_files(typed: Typed, inputs: Sequence[bool], fields: FormFields) -> Typed:
    """Returns the texts of a form without those of file inputs that were left empty."""
    if not fields.per_file:
        return typed
    texts = typed.get(fields.per_file, [])
    kept = [text for text, is_filled in zip(texts, inputs, strict=False) if is_filled]
    return {
        **{name: texts for name, texts in typed.items() if name != fields.per_file},
        **({fields.per_file: kept} if kept else {}),
    }


def decode_typed(
    kind: type[B], typed: Mapping[str, Sequence[str]], fields: FormFields, field_errors: list[FieldError], now: int
) -> B:
    """Returns the typed values as a `kind`. Raises Invalid with all field errors, the same as those of a JSON body.

    Args:
        kind: The struct of the body.
        typed: The texts of each field.
        fields: The route's declaration of its form.
        field_errors: The errors that are known already; further ones are added.
        now: The time in milliseconds.
    """
    leaves, own = _leaves(kind), {field.encode_name for field in struct_info(kind).fields}
    value: dict[str, object] = {}
    for name, sent in typed.items():
        texts = [text.replace("\r\n", "\n") for text in sent]  # Browsers send every line break as these two.
        if name in leaves:
            given = _given(leaves[name], name, texts, typed, fields, field_errors)
            if given is not msgspec.UNSET:
                _put(value, name, given, own)
    for name in fields.empty_clears & leaves.keys() - typed.keys() - fields.lines:  # Text areas are always sent.
        absent = _unticked(leaves[name])
        if absent is not msgspec.UNSET:
            _put(value, name, absent, own)
    for name in typed.keys() - leaves.keys() - set(_companions(fields)):
        value.setdefault(name[:LONGEST_NAME], typed[name][0])  # The struct refuses it as unknown.
    body = json_bodies.decode(kind, msgspec.json.encode(value), field_errors, now)
    if holds_nul(typed):  # In a field that this body has no use for.
        field_errors.append(FieldError("body", Code.INVALID_FORMAT, "A form must not hold the NUL character."))
    if field_errors:
        raise Invalid(field_errors)
    return body


def _given(
    info: inspect.Type,
    name: str,
    texts: list[str],
    typed: Mapping[str, Sequence[str]],
    fields: FormFields,
    field_errors: list[FieldError],
) -> object:
    """Returns a field as a JSON body would have it; UNSET when it counts as not given."""
    if name in fields.lines:
        items = [line.strip() for text in texts for line in text.split("\n") if line.strip()]
        items = [item.removeprefix("@") for item in items] if name in fields.names else items
        return items if items or name in fields.empty_clears else msgspec.UNSET
    if name == fields.per_file or name in fields.in_place:
        return texts  # Each has the place of its file.
    kind = _plain(info)
    if isinstance(kind, inspect.ListType):
        items = [_number(_plain(kind.item_type), text) for text in texts if text]
        return items if items or name in fields.empty_clears else msgspec.UNSET
    if isinstance(kind, inspect.BoolType):
        return texts[-1] in TRUE if texts[-1] in TRUE | {"", "false", "off", "0"} else texts[-1]
    if len(texts) > 1:
        field_errors.append(FieldError(name, Code.DUPLICATE, "Send this field once."))
    text, source = texts[0], name
    if name in fields.others and text == OTHER:
        source = fields.others[name]
        text = next(iter(typed.get(source, ())), "")
    if source in fields.times:
        text = with_zone(text, next(iter(typed.get(source + ZONE_SUFFIX, ())), ""))
    if not text and source != name:
        field_errors.append(FieldError(name, Code.REQUIRED, "Fill in what belongs to this choice."))
    if not text and name in fields.empties:
        return text
    if not text:
        return msgspec.UNSET if name not in fields.empty_clears else None if takes_none(info) else ""
    return _number(kind, text)


def _number(kind: inspect.Type, text: str) -> object:
    """Returns a text as a number where the type is one; a text that is no number stays, and is refused later."""
    if isinstance(kind, inspect.IntType) and _WHOLE.fullmatch(text):
        return int(text)
    if isinstance(kind, inspect.FloatType) and _DECIMAL.fullmatch(text):
        return float(text.replace(",", "."))
    return text


def with_zone(text: str, zone: str) -> str:
    """`2026-11-22T10:30` and `+02:00` → `2026-11-22T10:30+02:00`; without a zone it is UTC."""
    if not _LOCAL_TIME.fullmatch(text):
        return text
    return text + (zone if _ZONE.fullmatch(zone) else "Z")


def _unticked(info: inspect.Type) -> object:
    """Returns the value of a field that a form of an edit does not send: browsers leave out unticked boxes."""
    kind = _plain(info)
    return False if isinstance(kind, inspect.BoolType) else [] if isinstance(kind, inspect.ListType) else msgspec.UNSET


def _put(value: dict[str, object], path: str, given: object, own: Set[str]) -> None:
    """Sets `location.name` in the object `location`, which it makes, unless the body itself has `own` such a field."""
    *parents, last = [path] if path in own else path.split(".")
    for parent in parents:
        value = cast("dict[str, object]", value.setdefault(parent, {}))
    value[last] = given


@cache
def _leaves(kind: type[msgspec.Struct]) -> Mapping[str, inspect.Type]:
    """Returns the type of every field that has no fields of its own, by its dotted path."""
    return dict(_walk(struct_info(kind), ""))


def _walk(info: inspect.StructType, at: str) -> Iterator[tuple[str, inspect.Type]]:
    for field in info.fields:
        path, kind = f"{at}{field.encode_name}", _plain(field.type)
        if isinstance(kind, inspect.StructType):
            yield from _walk(kind, f"{path}.")
        else:
            yield path, field.type


def _plain(info: inspect.Type) -> inspect.Type:
    """Returns a type without its annotations and without null."""
    while isinstance(info, inspect.Metadata | inspect.UnionType):
        if isinstance(info, inspect.Metadata):
            info = info.type
        else:
            info = next(kind for kind in info.types if not isinstance(kind, inspect.NoneType))
    return info


def _companions(fields: FormFields) -> Iterator[str]:
    """Yields the fields of a form that are none of the struct."""
    yield IDEMPOTENCY_FIELD
    yield from fields.others.values()
    yield from (name + ZONE_SUFFIX for name in fields.times)


def _known(kind: type[msgspec.Struct], fields: FormFields) -> Iterator[str]:
    yield from _leaves(kind)
    yield from _companions(fields)
