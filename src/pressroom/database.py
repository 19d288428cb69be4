"""The database that the settings name, opened for the server and for commands alike."""

from pathlib import Path

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.db.migrate import check_migrated, migrate
from pressroom.db.postgres import open_postgres
from pressroom.db.sqlite import open_sqlite
from pressroom.domains.webhooks.actions.queueing import fan_out
from pressroom.errors import SettingError
from pressroom.settings import RESTORING, Settings
from pressroom.transfer import marks


def check_files(settings: Settings) -> None:
    """Raises SettingError when a restore into the data folder was cut off, or a transfer of the SQLite file was."""
    if not settings.database_url.startswith("sqlite:///"):
        return
    try:
        cut_off = (settings.data_dir / RESTORING).exists()
        marks.check_source(Path(settings.database_url.removeprefix("sqlite:///")))
    except OSError:
        return  # opening the folder says what is wrong with it
    if cut_off:
        raise SettingError(f"A restore into {settings.data_dir} was cut off: run pressroom restore once more.")


async def check_whole(db: Database) -> None:
    """Raises SettingError unless the schema is this version's and no transfer into the database was cut off."""
    await check_migrated(db)
    await marks.check_target(db)


async def open_database(settings: Settings, clock: Clock) -> Database:
    """Opens the database of the settings. An embedded one is brought up to date; PostgreSQL is migrated by command.

    Every event is queued for the endpoints that want it, whoever appends it.
    """
    subscribers = (fan_out,)
    if settings.database_url.startswith("sqlite:///"):
        check_files(settings)
        db: Database = open_sqlite(Path(settings.database_url.removeprefix("sqlite:///")), clock, subscribers)
        await migrate(db)
        return db
    return await open_postgres(settings.database_url, clock, subscribers)
