"""Where the SQL of SQLite and PostgreSQL differs."""

import re
from typing import Final

_LOCK: Final = re.compile(r" FOR ((NO KEY )?UPDATE|KEY SHARE)( SKIP LOCKED)?\b")


def statement_for_sqlite(sql: str) -> str:
    """Returns a statement as SQLite needs it: without locks on rows, which it does not have."""
    return _LOCK.sub("", sql)


def schema_for_postgres(sql: str) -> str:
    """Returns a migration as PostgreSQL needs it: text is compared byte by byte, as in SQLite; `instr` is `strpos`."""
    return re.sub(r"\binstr\(", "strpos(", re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', sql))
