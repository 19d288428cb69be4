"""The database that the settings name, opened for the server and for commands alike."""

from dataclasses import replace

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.db.migrate import check_migrated, migrate
from pressroom.db.postgres.connector import Connector, PostgresOptions
from pressroom.db.postgres.database import open_postgres
from pressroom.db.postgres.replica import Replica, make_replica
from pressroom.db.schema import check_schema
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.webhooks.actions.deliveries import fan_out
from pressroom.errors import SettingError
from pressroom.logs import Log
from pressroom.operations.transfer import marks
from pressroom.settings import RESTORING, Settings
from pressroom.settings.values import Pooler


def check_files(settings: Settings) -> None:
    """Raises SettingError when a restore into the data folder was cut off, or a transfer of the SQLite file was."""
    if (file := settings.database_file) is None:
        return
    try:
        cut_off = (settings.data_dir / RESTORING).exists()
        marks.check_source(file)
    except OSError:
        return  # opening the folder reports its fault
    if cut_off:
        raise SettingError(f"A restore into {settings.data_dir} was cut off: run pressroom restore once more.")


async def check_to_serve(db: Database) -> None:
    """Raises what `check_whole` raises, and SettingError when a database of PostgreSQL lacks a part of its schema.

    A file of SQLite is not looked at: nothing makes one in parts, and this would take a tenth of a start.
    """
    await check_whole(db)
    if db.engine == "postgres":
        await check_schema(db)


async def check_whole(db: Database) -> None:
    """Raises SettingError unless this version may serve the schema and no transfer into the database was cut off."""
    await check_migrated(db)
    await marks.check_target(db)


def postgres_options(settings: Settings) -> PostgresOptions:
    """Returns how connections to PostgreSQL are made, when no pooler stands before it."""
    return PostgresOptions(
        connections=settings.database_connections,
        connect_seconds=settings.database_connect_timeout_seconds,
        pool_seconds=settings.database_pool_timeout_seconds,
        statement_seconds=settings.database_statement_timeout_seconds,
        idle_seconds=settings.database_idle_transaction_timeout_seconds,
        silence_seconds=settings.database_silence_timeout_seconds,
        schema=settings.database_schema,
        channel=settings.installation,
    )


def one_connection(settings: Settings) -> PostgresOptions:
    """Returns the options of a command, which needs one connection."""
    return replace(postgres_options(settings), connections=1)


def direct_connector(settings: Settings, name: str = "pressroom") -> Connector:
    """Returns a connector to PostgreSQL past any pooler, for work that needs a session of its own."""
    return Connector(settings.database_direct_url, postgres_options(settings), name=name)


async def open_directly(settings: Settings, clock: Clock) -> Database:
    """Opens PostgreSQL past any pooler, by one connection."""
    return await open_postgres(settings.database_direct_url, clock, options=one_connection(settings))


async def open_to_migrate(settings: Settings, clock: Clock) -> Database:
    """Opens the database for `pressroom migrate`."""
    return await (open_directly if settings.database_file is None else open_database)(settings, clock)


async def open_database(settings: Settings, clock: Clock, *, make: bool = True) -> Database:
    """Opens the database of the settings.

    An embedded one is made and brought up to date, unless `make` is off: a mistyped place must not become a second,
    empty installation. PostgreSQL is migrated by command. Every event is queued for the endpoints that want it, from
    whichever package it comes.

    Raises:
        SettingError: The database cannot be opened, or is missing and must not be made.
    """
    subscribers = (fan_out,)
    if (file := settings.database_file) is None:
        return await open_postgres(
            settings.database_url, clock, subscribers, options=_pooled(settings), direct=direct_connector(settings)
        )
    check_files(settings)
    if not make:
        check_exists(settings)
    db: Database = open_sqlite(file, clock, subscribers)
    if make:
        await migrate(db)
    return db


def check_exists(settings: Settings) -> None:
    """Raises SettingError when there is no file of SQLite where the settings lead."""
    file = settings.database_file
    try:
        if file is None or file.stat().st_size > 0:
            return
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SettingError(f"The database {file} cannot be read: {error.strerror}.") from None
    by_url = settings.is_given(Settings.database_url)
    variable = Settings.database_url.variable if by_url else Settings.data_dir.variable
    source = settings.source(Settings.database_url) if by_url else settings.source(Settings.data_dir)
    read = " and ".join(map(str, settings.files)) or "no file"
    raise SettingError(
        f"There is no database {file}. {variable} is from: {source}; settings were read from"
        f" the environment and {read}. Name the server's file with --config FILE. A new database is made by"
        " pressroom migrate, or by pressroom serve."
    )


async def open_replica(settings: Settings, primary: Database, clock: Clock, log: Log) -> Replica | None:
    """Returns the replica of the settings, if they name one. Raises SettingError."""
    if settings.replica_url is None:
        return None
    replica = make_replica(settings.replica_url, primary, clock, _pooled(settings), log)
    try:
        await replica.check()
    except BaseException:
        await replica.close()
        raise
    return replica


def _pooled(settings: Settings) -> PostgresOptions:
    by_transaction = settings.database_pooler is Pooler.TRANSACTION
    return replace(postgres_options(settings), by_transaction=by_transaction)
