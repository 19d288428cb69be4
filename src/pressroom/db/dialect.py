"""The one place for what SQLite and PostgreSQL must be told differently."""

import re


def schema_for_postgres(sql: str) -> str:
    """A migration as PostgreSQL needs it: text compares byte by byte there too, as it does in SQLite."""
    return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', sql)
