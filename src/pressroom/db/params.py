"""Named parameters, `:name`: numbered for drivers that want numbers, and lists of them. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Final

# A quoted string is matched first, so that a colon inside it is left alone; `::` is no parameter either.
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|::|:([a-z][a-z0-9_]*)")


def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """Returns `… = $1 AND x > $1` and ("id",) for `… = :id AND x > :id`: a name used twice has one number."""
    names: list[str] = []

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return match.group(0)
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _TOKEN.sub(replace, sql), tuple(names)


def in_order(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Returns the function that makes the tuple of the values of these names; it raises KeyError for a missing one."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple([values[name] for name in names])


BATCH: Final = 50
"""Values that one statement takes as a list."""


def in_list(name: str) -> str:
    """Returns `:id0, :id1, …`: a list of BATCH parameters, for `IN (…)`."""
    return ", ".join(f":{name}{place}" for place in range(BATCH))


def in_rows(name: str) -> str:
    """Returns `(:id0), (:id1), …`: BATCH rows of one column, for `VALUES …`; both engines call it column1."""
    return ", ".join(f"(:{name}{place})" for place in range(BATCH))


def spread(name: str, values: Sequence[str]) -> dict[str, str]:
    """Returns the parameters of such a list: at most BATCH `values`; the rest are empty, as no name or id is."""
    return {f"{name}{place}": values[place] if place < len(values) else "" for place in range(BATCH)}


def batches(values: Sequence[str]) -> Iterator[list[str]]:
    """Yields `values` in batches of at most BATCH."""
    rest = iter(values)
    while batch := list(islice(rest, BATCH)):
        yield batch
