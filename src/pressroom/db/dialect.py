"""Where the SQL of SQLite and PostgreSQL differs."""

import re
from typing import Final

_LOCK: Final = re.compile(r" FOR ((NO KEY )?UPDATE|KEY SHARE)( SKIP LOCKED)?\b")

LOCKS_OF_SCHEMA: Final = (
    "(CASE current_schema() WHEN 'public' THEN 0 ELSE current_schema()::text::regnamespace::oid::bigint << 32 END)"
)
"""Added to the number of an advisory lock on PostgreSQL, so that installations of one database do not lock each other.

It is 0 in `public`, where a process of a version before schemas takes the same lock.
"""


def statement_for_sqlite(sql: str) -> str:
    """Returns a statement as SQLite needs it: without locks on rows, which it does not have."""
    return _LOCK.sub("", sql)


def schema_for_postgres(sql: str) -> str:
    """Returns a migration as PostgreSQL needs it.

    Text is compared byte by byte, as in SQLite; `instr` is `strpos`; `/* */` holds statements, or parts of one, that
    SQLite does not have; a line that ends in `-- SQLite alone` is one that PostgreSQL does not have.
    """
    shared = re.sub(r"^.*-- SQLite alone$", "", sql, flags=re.MULTILINE)
    whole = re.sub(r"/\*(.*?)\*/", r"\1", shared, flags=re.DOTALL)
    return re.sub(r"\binstr\(", "strpos(", re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', whole))
