"""JSON bodies: decoded straight into a struct. When that fails, they are read again to list every field error.

The struct's type annotations are the only statement of the rules: both ways of reading and the OpenAPI document follow
them. Text is measured and passed on in Unicode normal form C (docs/errors.md#details).
"""

import builtins
import json
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from typing import ClassVar, Final, TypeVar, cast

import msgspec
from msgspec import inspect

from pressroom.errors import MAX_FIELD_ERRORS, Code, FieldError, Invalid
from pressroom.text import find_nearest, normalise

LONGEST_NAME: Final = 100
"""Characters of an unknown field's name that a message shows."""

LONGEST_TEXT: Final = 1_000
"""Characters of text that are normalised when its type sets no limit. Such text has rules that allow far less."""

LONGEST_EXPLAINED: Final = 64 * 1024
"""Characters of a body that is not JSON whose faulty place is named: it takes up to 50 ns a character to find it."""

MOST_GUESSES: Final = 10
"""Unknown fields of an object for which the nearest known one is named."""

DECOMPOSED: Final = 4
"""Code points that normal form C joins into one, at most."""


class Body(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A JSON body. Optional fields have defaults. A null counts as absent where the field's type allows no null."""

    required_unless: ClassVar[dict[str, tuple[str, ...]]] = {}
    """For a field that may be reported as `required`: the fields that may be given instead, even with a fault."""

    def field_errors(self, now: int) -> Iterator[FieldError]:
        """Yields the errors of rules that types cannot express, such as those on two fields. `now` is in milliseconds.

        A field or list item that is already wrong by its type is None here, and errors about it are dropped.
        """
        yield from ()


B = TypeVar("B", bound=msgspec.Struct)


@cache
def _decoder(kind: type[msgspec.Struct]) -> msgspec.json.Decoder[msgspec.Struct]:
    return msgspec.json.Decoder(kind)


def decode(kind: type[B], raw: bytes, field_errors: list[FieldError], now: int) -> B:
    """Returns `raw` decoded as a `kind`. Raises Invalid with `field_errors` and all that are found.

    Args:
        kind: The struct of the body.
        raw: The body's bytes.
        field_errors: The known faults of the request; further ones are added, but not of the same
            fields.
        now: The time in milliseconds.
    """
    # Plain ASCII without \u escapes contains nothing that normalising could change, and no NUL.
    if raw.isascii() and b"\\u" not in raw and not field_errors:
        try:
            body = cast("B", _decoder(kind).decode(raw))
        # The quick decoder stops at its first fault; the walk below lists all of them.
        except (msgspec.MsgspecError, RecursionError):
            pass
        else:
            field_errors += _own_field_errors(body, now)
            if field_errors:
                raise Invalid(field_errors)
            return body
    return _decode_slowly(kind, raw, field_errors, now)


def _decode_slowly(kind: type[B], raw: bytes, field_errors: list[FieldError], now: int) -> B:
    try:
        value = _parse(raw)
        if not isinstance(value, dict):
            raise Invalid([*field_errors, FieldError("body", Code.TYPE, "The body must be a JSON object.")])
        walk = _Walk(field_errors)
        fields = walk.fields(struct_info(kind), cast("dict[str, object]", value), "")
    except RecursionError:
        raise Invalid([*field_errors, FieldError("body", Code.INVALID_FORMAT, "The body nests too deep.")]) from None
    body = kind(**fields)
    field_errors += [
        field_error for field_error in _own_field_errors(body, now) if not walk.has_said(field_error, kind)
    ]
    if field_errors:
        raise Invalid(field_errors, more=walk.more)
    return body


def _own_field_errors(body: msgspec.Struct, now: int) -> Iterator[FieldError]:
    return body.field_errors(now) if isinstance(body, Body) else iter(())


def _parse(raw: bytes) -> object:
    if not raw.strip():
        raise Invalid([FieldError("body", Code.REQUIRED, "The request needs a JSON object as its body.")])
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        message = f"The body is not UTF-8 (byte {error.start})."
        raise Invalid([FieldError("body", Code.INVALID_FORMAT, message)]) from None
    try:
        return cast("object", msgspec.json.decode(raw))
    except msgspec.MsgspecError:
        raise Invalid([FieldError("body", Code.INVALID_FORMAT, _why_no_json(raw.decode()))]) from None


def _why_no_json(text: str) -> str:
    """Returns the fault of a text that is not JSON, with line and column, counted from 1 in characters.

    A long text is not read once more for that.
    """
    if len(text) > LONGEST_EXPLAINED:
        return "The body is not JSON, or it holds half of a surrogate pair, or a number beyond all range."
    try:
        # Numbers are left as text: converting a long one takes long.
        json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse_constant).decode(text)
    except json.JSONDecodeError as error:
        return f"The body is not JSON: {error.msg.removesuffix(' at')} (line {error.lineno}, column {error.colno})."
    except ValueError as error:
        return str(error)
    return "The body holds half of a surrogate pair, or a number beyond all range."


def _refuse_constant(name: str) -> None:
    raise ValueError(f"The body is not JSON: there is no {name} in it.")


@cache
def struct_info(kind: type[msgspec.Struct]) -> inspect.StructType:
    """Returns the fields of a struct and their types."""
    return cast("inspect.StructType", inspect.type_info(kind))


def check_rules(info: inspect.Type, at: str) -> None:
    """Checks when a route is declared that every rule of its body is one that `_Walk` checks as well.

    Args:
        info: A type of the body.
        at: Its place, for the message: `CreatePost.content`.

    Raises:
        TypeError: The type has a rule that would pass unchecked in a body that is not plain ASCII.
    """
    match info:
        case inspect.Metadata(type=inner) | inspect.ListType(item_type=inner):
            check_rules(inner, at)
        case inspect.UnionType(types=types):
            kinds = [kind for kind in types if not isinstance(kind, inspect.NoneType)]
            if len(kinds) != 1:
                raise TypeError(f"{at}: a field has one type, or one type and null.")
            check_rules(kinds[0], at)
        case inspect.StructType(fields=fields):
            for field in fields:
                check_rules(field.type, f"{at}.{field.name}")
        case (
            inspect.StrType(pattern=None)
            | inspect.BoolType()
            | inspect.AnyType()
            | inspect.CustomType(cls=builtins.object)
        ):
            pass
        case inspect.EnumType(cls=choices) if issubclass(choices, str):
            pass
        case (
            inspect.IntType(gt=None, lt=None, multiple_of=None) | inspect.FloatType(gt=None, lt=None, multiple_of=None)
        ):
            pass
        case _:
            raise TypeError(f"{at}: {info} has a rule that is not checked here: state it in `field_errors`.")


def _range(info: inspect.FloatType | inspect.IntType) -> str:
    if info.ge is None:
        return f"Must be at most {info.le:g}."
    return f"Must be at least {info.ge:g}." if info.le is None else f"Must lie between {info.ge:g} and {info.le:g}."


class _Wrong(Enum):
    VALUE = 0


_WRONG: Final = _Wrong.VALUE


class _Walk:
    """Compares a decoded body with its type and collects field errors."""

    def __init__(self, field_errors: list[FieldError]) -> None:
        self.field_errors = field_errors
        self.more = False
        """Whether errors were left out because there are already as many as a response names."""
        self.known = {name for error in field_errors for name in (error.field, error.field.partition("[")[0])}
        """Fields and items that already have an error, and get no further one."""
        self.wrong: set[str] = set()
        """Paths of the fields and list items that are wrong or missing."""

    def has_said(self, field_error: FieldError, kind: type[msgspec.Struct]) -> bool:
        """Returns whether an error only follows from one that the types have already shown."""
        if field_error.code is Code.REQUIRED and field_error.field == "body" and self.known:
            return True
        unless = kind.required_unless if issubclass(kind, Body) and field_error.code is Code.REQUIRED else {}
        said = self.wrong | self.known
        return field_error.field in said or any(field in said for field in unless.get(field_error.field, ()))

    def fields(self, info: inspect.StructType, value: dict[str, object], at: str) -> dict[str, object]:
        """Returns the fields of an object by their Python names, with None for those that are wrong."""
        given = dict(value)
        result: dict[str, object] = {}
        for field in info.fields:
            path = f"{at}{field.encode_name}"
            item = given.pop(field.encode_name, None)
            # null counts as absent, unless the field takes it: most clients send null for fields that they leave out.
            absent = field.encode_name not in value or (item is None and not takes_none(field.type))
            if not absent:
                converted = self.value(field.type, item, path)
                result[field.name] = None if converted is _WRONG else converted
                if converted is _WRONG:
                    self.wrong.add(path)
            elif field.required:
                self.add_error(path, Code.REQUIRED, "This field is required.")
                self.wrong.add(path)
                result[field.name] = None
        # Looking for the nearest name takes about 0.1 ms.
        names = [field.encode_name for field in info.fields] if len(given) <= MOST_GUESSES else []
        for name in given:
            if self._is_full():
                break
            # Cut first: normalising a name of many thousand characters can take seconds.
            path = at + normalise(name[:LONGEST_NAME])
            self.add_error(path, Code.UNKNOWN_FIELD, unknown_field(name, names))
        return result

    def value(self, info: inspect.Type, value: object, at: str) -> object:
        """Returns a value as its type wants it, or _WRONG."""
        match info:
            case inspect.Metadata():
                return self.value(info.type, value, at)
            case inspect.UnionType():
                return self._union(info, value, at)
            case inspect.StrType():
                return self._text(info, value, at)
            case inspect.FloatType() | inspect.IntType():
                return self._number(info, value, at)
            case inspect.BoolType():
                return value if isinstance(value, bool) else self.add_error(at, Code.TYPE, "Must be true or false.")
            case inspect.EnumType():
                return self._choice(info, value, at)
            case inspect.ListType():
                return self._list(info, value, at)
            case inspect.StructType():
                if not isinstance(value, dict):
                    return self.add_error(at, Code.TYPE, "Must be an object.")
                return info.cls(**self.fields(info, cast("dict[str, object]", value), f"{at}."))
            case inspect.AnyType():
                return value
            case inspect.CustomType() if info.cls is object:
                return value
            case _:
                raise TypeError(f"There is no rule for {at}, a {type(info).__name__}.")

    def add_error(self, at: str, code: Code, message: str) -> _Wrong:
        """Adds one error, unless one is known or there are too many already. Returns _WRONG."""
        if at not in self.known and not self._is_full():
            self.field_errors.append(FieldError(at, code, message))
        return _WRONG

    def _is_full(self) -> bool:
        self.more = self.more or len(self.field_errors) >= MAX_FIELD_ERRORS
        return self.more

    def _union(self, info: inspect.UnionType, value: object, at: str) -> object:
        if value is None:
            return None
        kinds = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
        return self.value(kinds[0], value, at)

    def _text(self, info: inspect.StrType, value: object, at: str) -> object:
        if not isinstance(value, str):
            return self.add_error(at, Code.TYPE, "Must be a string.")
        longest = info.max_length
        # A text that is too long in any form is not normalised: the time can grow with the square of its length.
        text = normalise(value) if len(value) <= (longest or LONGEST_TEXT) * DECOMPOSED else value
        if "\x00" in text:
            return self.add_error(at, Code.INVALID_FORMAT, "Must not hold the NUL character.")
        if longest is not None and len(text) > longest:
            return self.add_error(at, Code.TOO_LONG, f"At most {longest:,} characters; this has {len(text):,}.")
        if info.min_length is not None and len(text) < info.min_length:
            return self.add_error(at, Code.TOO_SHORT, f"At least {info.min_length:,} characters.")
        return text

    def _number(self, info: inspect.FloatType | inspect.IntType, value: object, at: str) -> object:
        whole = isinstance(info, inspect.IntType)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            return self.add_error(at, Code.TYPE, "Must be a whole number." if whole else "Must be a number.")
        number = value
        if (info.ge is not None and number < info.ge) or (info.le is not None and number > info.le):
            return self.add_error(at, Code.OUT_OF_RANGE, _range(info))
        return number if whole else float(number)

    def _choice(self, info: inspect.EnumType, value: object, at: str) -> object:
        if not isinstance(value, str):
            return self.add_error(at, Code.TYPE, "Must be a string.")
        choices: list[str] = [member.value for member in info.cls]
        if value not in choices:
            return self.add_error(at, Code.INVALID_CHOICE, f"Must be one of {', '.join(choices)}.")
        return info.cls(value)

    def _list(self, info: inspect.ListType, value: object, at: str) -> object:
        if not isinstance(value, list):
            return self.add_error(at, Code.TYPE, "Must be a list.")
        items = cast("list[object]", value)
        if info.max_length is not None and len(items) > info.max_length:
            return self.add_error(at, Code.TOO_MANY, f"At most {info.max_length} items; this has {len(items):,}.")
        if info.min_length is not None and len(items) < info.min_length:
            return self.add_error(at, Code.TOO_FEW, f"At least {info.min_length} items.")
        converted = [self.value(info.item_type, item, f"{at}[{place}]") for place, item in enumerate(items)]
        self.wrong.update(f"{at}[{place}]" for place, item in enumerate(converted) if item is _WRONG)
        return [None if item is _WRONG else item for item in converted]


def unknown_field(name: str, known: Iterable[str]) -> str:
    """Returns the message about a field that is not `known`, with the nearest that is."""
    nearest = find_nearest(name, known)
    return f"There is no such field; did you mean {nearest}?" if nearest else "There is no such field; is it misspelt?"


def takes_none(info: inspect.Type) -> bool:
    """Returns whether a value of this type may be null."""
    match info:
        case inspect.Metadata():
            return takes_none(info.type)
        case inspect.UnionType():
            return any(takes_none(kind) for kind in info.types)
        case _:
            return isinstance(info, inspect.AnyType | inspect.NoneType)
