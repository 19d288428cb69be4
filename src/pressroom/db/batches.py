"""Statements whose rows nobody needs travel to PostgreSQL together, as one (docs/architecture.md#round-trips).

Parts of one statement see the database as it was before it, so statements travel together only when none reads or
writes what another writes. They are carried out in their order, which is that of their locks: each part is counted, and
PostgreSQL carries a part out to its end when it is counted.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from pressroom.db import Command, Query, Value
from pressroom.db.params import shifted

MOST: Final = 8
"""Statements that travel together at the most."""

Refusal = Callable[[], Exception]
"""Makes the error of a statement that had to touch a row and touched none."""

_WRITES: Final = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)")
_READS: Final = re.compile(r"\b(?:SELECT|FROM|USING)\b")


@cache
def _target(command: Command) -> tuple[str | None, bool]:
    """Returns the table that a statement writes, None when it is not one that can travel with others, and whether it
    reads other rows than those that it writes."""
    match = _WRITES.match(command.numbered)
    if match is None:
        return None, True
    return match[1], _READS.search(command.numbered, match.end()) is not None


@cache
def _together(commands: tuple[Command, ...]) -> str:
    """Returns the statement that carries all of them out, in order, and yields how many rows each touched."""
    parts: list[str] = []
    first = 0
    for place, command in enumerate(commands):
        returning = "" if isinstance(command, Query) else " RETURNING 1"
        parts.append(f"part{place} AS ({shifted(command.numbered, first)}{returning})")
        first += len(command.names)
    counts = ", ".join(f"(SELECT count(*) FROM part{place})" for place in range(len(commands)))  # noqa: S608  # our own
    return f"WITH {', '.join(parts)} SELECT {counts}"


class Batch:
    """Statements that wait to be sent together."""

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._written: set[str] = set()
        self._values: list[Value] = []
        self._refusals: list[Refusal | None] = []

    def __bool__(self) -> bool:
        return bool(self._commands)

    @property
    def may_refuse(self) -> bool:
        """Whether a statement of it has to touch a row."""
        return any(self._refusals)

    def takes(self, command: Command) -> bool:
        """Returns whether a statement may travel with those that wait, behind them."""
        table, reads = _target(command)
        if not self._commands:
            return table is not None
        return table is not None and not reads and table not in self._written and len(self._commands) < MOST

    def add(self, command: Command, values: Sequence[Value], refusal: Refusal | None) -> None:
        """Adds a statement that `takes` allows, with its values in the order of its parameters."""
        table, _ = _target(command)
        self._written.add(table or "")
        self._commands.append(command)
        self._values += values
        self._refusals.append(refusal)

    @property
    def is_single(self) -> bool:
        """Whether it is one statement, which travels as it is."""
        return len(self._commands) == 1

    def statement(self) -> tuple[str, list[Value]]:
        """Returns the statement for all of them, which yields one row with the count of each, and its values."""
        if self.is_single:
            return self._commands[0].numbered, self._values
        return _together(tuple(self._commands)), self._values

    def check(self, counts: Sequence[Value]) -> None:
        """Raises the refusal of the first statement that touched no row and had to."""
        for count, refusal in zip(counts, self._refusals, strict=True):
            if refusal is not None and not count:
                raise refusal()
