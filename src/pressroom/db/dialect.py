"""The one place for what SQLite and PostgreSQL must be told differently."""

import re
from typing import Final

_LOCK: Final = re.compile(r" FOR (NO KEY )?UPDATE( SKIP LOCKED)?\b")


def statement_for_sqlite(sql: str) -> str:
    """A statement as SQLite needs it: with one writer it has no locks on rows, and no words for them."""
    return _LOCK.sub("", sql)


def schema_for_postgres(sql: str) -> str:
    """A migration as PostgreSQL needs it: text compares byte by byte there too, as it does in SQLite."""
    return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', sql)
