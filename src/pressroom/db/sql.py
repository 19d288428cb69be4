"""A statement and the function that runs it, in one declaration.

    @sql.one("SELECT id, name FROM hubs WHERE slug = :slug")
    async def find_hub(tx: Tx, slug: str) -> Hub | None:
        \"\"\"Returns a hub by its slug.\"\"\"
        ...

The function's parameters are those of the statement; `:now` is the time of the transaction unless the function takes
it. The return type gives the type of the rows: `Row | None` for `one`, `list[Row]` for `all`. `run` is for statements
without rows and returns how many rows were touched, or None. A test finds each statement at the function and prepares
it on both engines.
"""

import inspect
import types
from collections.abc import Callable, Coroutine, Mapping
from functools import update_wrapper
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin

from pressroom.db import Command, Query, Tx, Value

F = TypeVar("F", bound=Callable[..., Coroutine[Any, Any, Any]])

Conversion = Callable[[Coroutine[Any, Any, Any]], Coroutine[Any, Any, Any]]
"""Makes another result of a statement's: a truth or a number."""

_OPTIONAL: Final = (Union, types.UnionType)


def one(text: str) -> Callable[[F], F]:
    """Declares a statement whose first row is returned, or None, False or 0. Raises TypeError."""

    def declare(function: F) -> F:
        returned = _returned(function)
        if returned in _WITHOUT_A_ROW:
            return _runner(function, "one", Query(cast("type[Any]", returned), text), _WITHOUT_A_ROW[returned])
        rows = [each for each in get_args(returned) if each is not types.NoneType]
        if get_origin(returned) not in _OPTIONAL or len(rows) != 1 or len(get_args(returned)) != 2:
            raise _wrong(function, "returns a row or None, a truth or a number: `Row | None`, `bool` or `int`")
        return _runner(function, "one", Query(rows[0], text))

    return declare


def all(text: str) -> Callable[[F], F]:  # noqa: A001  # `sql.all`, as in `tx.all`
    """Declares a statement whose rows are returned. Raises TypeError."""

    def declare(function: F) -> F:
        returned = _returned(function)
        if get_origin(returned) is not list:
            raise _wrong(function, "returns rows: `list[Row]`")
        return _runner(function, "all", Query(get_args(returned)[0], text))

    return declare


def run(text: str) -> Callable[[F], F]:
    """Declares a statement without rows; how many rows it touched is returned, or whether any. Raises TypeError."""

    def declare(function: F) -> F:
        returned = _returned(function)
        if returned not in (bool, int, None):
            raise _wrong(function, "returns the number of rows that it touched, whether any, or None")
        return _runner(function, "run", Command(text), _truth if returned is bool else None)

    return declare


async def _truth(result: Coroutine[Any, Any, int | None]) -> bool:
    return bool(await result)


async def _number(result: Coroutine[Any, Any, int | None]) -> int:
    return await result or 0


_WITHOUT_A_ROW: Final[Mapping[object, Conversion]] = {bool: _truth, int: _number}
"""The plain types that a `one` may return, and the conversion of its result."""


def _runner(function: F, method: str, statement: Command, convert: Conversion | None = None) -> F:
    """Returns the function that runs the statement.

    Unless the result is converted, it returns the transaction's coroutine, which saves a frame on each call.
    """
    _, *parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters]
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    at_now = "now" in statement.names and "now" not in names
    if differing := {*names, *(["now"] if at_now else [])} ^ {*statement.names}:
        raise _wrong(function, f"takes the parameters of its statement, except for {', '.join(sorted(differing))}")

    def runner(tx: Tx, *positional: Value, **values: Value) -> Coroutine[Any, Any, Any]:
        if positional or defaults:
            values = {**defaults, **dict(zip(names, positional, strict=False)), **values}
        if at_now:
            values["now"] = tx.now
        result = getattr(tx, method)(statement, **values)
        return result if convert is None else convert(result)

    runner.__dict__["statement"] = statement
    return cast("F", update_wrapper(runner, function))


def _returned(function: Callable[..., object]) -> Any:
    return inspect.signature(function).return_annotation


def _wrong(function: Callable[..., object], rule: str) -> TypeError:
    return TypeError(f"{function.__module__}.{function.__name__} {rule}.")
