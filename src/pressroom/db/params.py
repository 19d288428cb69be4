"""Named parameters, `:name`, for drivers that number theirs. Pure."""

import re
from typing import Final

# A quoted string is matched first, so that a colon inside it is left alone; `::` is no parameter either.
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|::|:([a-z][a-z0-9_]*)")


def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """`… = :id AND x > :id` → (`… = $1 AND x > $1`, ("id",)): a name used twice keeps its number."""
    names: list[str] = []

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return match.group(0)
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _TOKEN.sub(replace, sql), tuple(names)
