"""How rows become values: by the names of their columns.

The columns of a statement are compared with the fields of its struct once on each engine, before the first row is
built. From then on rows are built by position, which costs nothing more.
"""

import types
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin

import msgspec

from pressroom.errors import PressroomError

R = TypeVar("R")

Builder = Callable[[tuple[Any, ...]], R]
"""Makes a value of one row."""

TYPES: Final = {
    "BIGINT": int, "INTEGER": int, "BOOLEAN": bool, "TEXT": str, "DOUBLE PRECISION": float,
    "int8": int, "int4": int, "bool": bool, "text": str, "float8": float,
}  # fmt: skip
"""The types of columns, as SQLite and PostgreSQL call them, and those of the values that come out of them."""


class ColumnsDoNotFit(PressroomError):
    """A statement's columns are not the fields of its struct: a mistake in one of the two."""


class Column(NamedTuple):
    """A column of a statement's rows. `type` is the engine's word; None when it does not know."""

    name: str
    type: str | None = None


def row_builder(row: type[R], columns: Sequence[Column], statement: str, *, flags_are_numbers: bool) -> Builder[R]:
    """Returns the function that builds a `row` of each row of `statement`.

    Args:
        row: a struct with a field for each column, or the type of a single column.
        columns: the statement's columns, in its order.
        statement: the statement's text, for the message.
        flags_are_numbers: whether the engine yields 0 and 1 where `bool` is meant.

    Raises ColumnsDoNotFit, which names the column.
    """
    if not issubclass(row, msgspec.Struct):
        if len(columns) != 1:
            raise ColumnsDoNotFit(f"One column is wanted and there are {len(columns)}: {statement}")
        _check_type("the column", row, columns[0].type, statement)
        return (lambda values: cast("R", bool(values[0]))) if flags_are_numbers and row is bool else itemgetter(0)
    fields = msgspec.structs.fields(row)
    names = [column.name for column in columns]
    _check_names(row.__name__, [field.name for field in fields], names, statement)
    order = [names.index(field.name) for field in fields]
    for field, place in zip(fields, order, strict=True):
        _check_type(f"{row.__name__}.{field.name}", field.type, columns[place].type, statement)
    flags = [place for place, field in enumerate(fields) if flags_are_numbers and field.type is bool]
    return cast("Builder[R]", _struct_builder(row, order, flags))


def _struct_builder(row: Callable[..., R], order: Sequence[int], flags: Sequence[int]) -> Builder[R]:
    def build(values: tuple[Any, ...]) -> R:
        return row(*values)

    def build_with_flags(values: tuple[Any, ...]) -> R:
        arranged = list(values)
        for place in flags:
            arranged[place] = bool(arranged[place])
        return row(*arranged)

    in_order = build_with_flags if flags else build
    if list(order) == sorted(order):
        return in_order
    arrange: Callable[[tuple[Any, ...]], tuple[Any, ...]] = itemgetter(*order)
    return lambda values: in_order(arrange(values))


def _check_names(struct: str, fields: Sequence[str], names: Sequence[str], statement: str) -> None:
    problems = [f"{name} stands {count} times" for name, count in Counter(names).items() if count > 1]
    problems += [f"{name} is no field of {struct}" for name in names if name not in fields]
    problems += [f"{struct}.{name} has no column" for name in fields if name not in names]
    if problems:
        raise ColumnsDoNotFit(f"{'; '.join(problems)}: {statement}")


def _check_type(field: str, wanted: Any, column: str | None, statement: str) -> None:
    if column is None:
        return
    if column not in TYPES:
        raise ColumnsDoNotFit(f"{field} cannot hold a column of type {column}: {statement}")
    if TYPES[column] not in plain_types(wanted):
        raise ColumnsDoNotFit(f"{field} is {wanted} and its column {column}: {statement}")


def plain_types(annotation: Any) -> set[type]:
    """Returns the types of values that a field takes: of an enumeration those of its members, and NoneType."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return {each for part in get_args(annotation) for each in plain_types(part)}
    if origin is Literal:
        return {type(value) for value in get_args(annotation)}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {type(member.value) for member in annotation}
    return {annotation}
