"""Query strings: parsed once, within bounds (docs/errors.md#query-strings)."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qsl

from pressroom.errors import Code, FieldError, Invalid
from pressroom.text import find_nearest
from pressroom.web.multipart_rules import LONGEST_NAME

MOST: Final = 100
"""Parameters of a query string, at most."""

MOST_GUESSES: Final = 10
"""Unknown names for which the nearest known name is looked up: each takes about 0.1 ms."""


def parse_query(query: str) -> Mapping[str, str]:
    """Returns the parameters of a query string, decoded. Of a name given twice the last value counts.

    Raises:
        Invalid: There are more than MOST parameters, or some hold a NUL, which no text of PostgreSQL can.
    """
    given = _decode(query)
    if "%00" in query and (field_errors := _nul_field_errors(given)):
        raise Invalid(field_errors)
    return given


def parse_filled(query: str) -> dict[str, str]:
    """Returns the parameters of a query string that are not empty: a form sends every field."""
    return {name: text for name, text in parse_query(query).items() if text}


def whole_number(
    given: Mapping[str, str], name: str, default: int, least: int, most: int, field_errors: list[FieldError]
) -> int:
    """Returns a parameter of at most three digits as a number, or `default` where it is absent or wrong.

    Adds an error when it is no whole number from `least` to `most`.
    """
    text = given.get(name, str(default))
    if re.fullmatch(r"[0-9]{1,3}", text) and least <= int(text) <= most:
        return int(text)
    field_errors.append(FieldError(name, Code.OUT_OF_RANGE, f"Must be a whole number from {least} to {most}."))
    return default


def check_known(query: str, known: Sequence[str]) -> None:
    """Checks that a route takes all parameters of a query string (docs/errors.md#query-strings).

    Raises:
        Invalid: With each parameter that is not among `known` and the nearest that is, and with each that holds a NUL.
    """
    given = _decode(query)
    unknown = [name for name in given if name not in known and "\0" not in name]
    if not unknown:
        parse_query(query)
        return
    takes = ", ".join(known) or "none"
    field_errors: list[FieldError] = []
    for place, name in enumerate(unknown):
        # Bounded: a query of a hundred made-up names would otherwise cost ten milliseconds.
        nearest = find_nearest(name, known) if place < MOST_GUESSES else None
        hint = f"; did you mean {nearest}?" if nearest else f". This route takes {takes}."
        message = f"There is no such parameter{hint}"
        field_errors.append(FieldError(f"query.{name[:LONGEST_NAME]}", Code.UNKNOWN_FIELD, message))
    field_errors += _nul_field_errors({name: text for name, text in given.items() if name not in unknown})
    raise Invalid(field_errors)


@lru_cache(64)
def _decode(query: str) -> Mapping[str, str]:
    try:
        return MappingProxyType(dict(parse_qsl(query, keep_blank_values=True, max_num_fields=MOST)))
    except ValueError:
        raise Invalid([FieldError("query", Code.TOO_MANY, f"A query has at most {MOST} parameters.")]) from None


def _nul_field_errors(given: Mapping[str, str]) -> list[FieldError]:
    return [
        FieldError(
            name[:LONGEST_NAME] if name.isidentifier() else "query",
            Code.INVALID_FORMAT,
            "A query must not hold the NUL character.",
        )
        for name, text in given.items()
        if "\0" in name or "\0" in text
    ]
