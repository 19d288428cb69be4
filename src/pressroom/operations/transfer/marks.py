"""The marks of a transfer in its source and target, so that neither is served before it has ended.

FILE.transferring beside the source, with the transfer's id      until the transfer has ended
a row of `transfers` in the target, with the same id             for good, with the time when it ended
"""

from pathlib import Path
from typing import Final

import msgspec

from pressroom.db import Command, Database, Query
from pressroom.errors import SettingError

BEGIN: Final = Command("INSERT INTO transfers (id, started_at) VALUES (:id, :now)")

FINISH: Final = Command("UPDATE transfers SET finished_at = :now WHERE id = :id")


class Mark(msgspec.Struct, frozen=True):
    """A transfer as its target knows it. `finished_at` is None until it has ended."""

    id: str
    finished_at: int | None


LATEST: Final = Query(Mark, "SELECT id, finished_at FROM transfers ORDER BY started_at DESC LIMIT 1")


def file_of(database: Path) -> Path:
    """Returns the file that marks a database whose transfer was begun."""
    return database.with_name(f"{database.name}.transferring")


def read_file(database: Path) -> str | None:
    """Returns the id of the transfer that was begun of a database, or None."""
    try:
        return file_of(database).read_text("utf-8")
    except FileNotFoundError:
        return None


def check_source(database: Path) -> None:
    """Raises SettingError when a transfer of this file was begun and has not ended."""
    mark = file_of(database)
    if mark.exists():
        raise SettingError(
            f"A transfer of {database} was begun and has not ended: run pressroom transfer once more and serve its"
            f" target, or remove {mark} to serve this database, and transfer it into an empty one later."
        )


async def check_target(db: Database) -> None:
    """Raises SettingError when a transfer into this database was begun and has not ended."""
    latest = await db.one(LATEST)
    if latest is not None and latest.finished_at is None:
        raise SettingError("A transfer into this database has not ended: run pressroom transfer once more.")


def may_go_on(source: str | None, target: Mark | None) -> bool:
    """Returns whether a transfer that was begun is resumed, or begins. Raises SettingError when neither may.

    Args:
        source: The id in the file beside the source.
        target: The latest transfer into the target.
    """
    if target is None:
        return False
    if target.id == source:
        return True
    if target.finished_at is None:
        raise SettingError(
            "A transfer into this database was begun from another source, or its source was served since:"
            " name an empty database."
        )
    raise SettingError("The database is not empty: a transfer has filled it. Name an empty one.")
