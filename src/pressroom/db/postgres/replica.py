"""Reads from a replica of PostgreSQL, and from the primary while the replica fails (docs/operations.md#a-replica)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Concatenate, Final, ParamSpec, TypeVar

import asyncpg

from pressroom.clock import Clock
from pressroom.db import Database, DatabaseAway, Query, Tx
from pressroom.db.postgres.connector import AWAY, Connector, PostgresConnection, PostgresOptions
from pressroom.db.postgres.database import PostgresDatabase
from pressroom.db.postgres.pool import Connections
from pressroom.errors import NotFound, SettingError
from pressroom.logs import Log

R = TypeVar("R")
P = ParamSpec("P")

REPLAYED: Final = Query(float, "SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8")

AVOIDED_SECONDS: Final = 5.0
"""Seconds for which a replica that failed is not asked again."""


class Replica:
    """A database that follows `primary`, and may be behind it."""

    def __init__(self, pool: Connections[PostgresConnection], replica: Database, primary: Database, log: Log) -> None:
        self._pool = pool
        self._replica = replica
        self._primary = primary
        self._log = log
        self._avoided_until = 0.0

    async def read(self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs `action(tx, …)`, which only reads, on one snapshot of the replica.

        A row missing there is looked up in the primary: it may have been written just now. So is everything for a
        while after the replica has failed.
        """
        if asyncio.get_running_loop().time() >= self._avoided_until:
            try:
                return await self._replica.read(action, *args, **kwargs)
            # The client may hold the id of a row that the replica does not have yet.
            except NotFound:
                pass
            except (DatabaseAway, asyncpg.PostgresError) as error:
                self._avoid(error)
        # A read may be run again without harm, so a replica that fails costs nobody an error.
        return await self._primary.read(action, *args, **kwargs)

    async def check(self) -> None:
        """Raises SettingError when the address is none, or its server refuses. A replica that is away is logged."""
        try:
            self._pool.give_back(await self._pool.take())
        except (asyncpg.ClientConfigurationError, ValueError):
            raise SettingError(
                "PRESSROOM_REPLICA_URL is no address of a database; is its password URL-encoded?"
            ) from None
        except AWAY as error:
            self._avoid(error)
        except asyncpg.PostgresError as error:
            raise SettingError(f"PRESSROOM_REPLICA_URL: the database cannot be reached: {error}") from error

    async def lag(self) -> float:
        """Returns the age in seconds of the latest transaction that the replica has replayed.

        The clean-ups write every minute, so it also grows when the replica is cut off. Raises DatabaseAway.
        """
        return await self._replica.one(REPLAYED) or 0.0

    async def close(self) -> None:
        """Closes the connections to the replica."""
        await self._replica.close()

    def _avoid(self, error: Exception) -> None:
        self._avoided_until = asyncio.get_running_loop().time() + AVOIDED_SECONDS
        self._log.warning("the replica failed; the primary is read", error=type(error).__name__)


def make_replica(url: str, primary: Database, clock: Clock, options: PostgresOptions, log: Log) -> Replica:
    """Returns the replica at `url`, to which nothing is connected yet. Any of several hosts will do."""
    connector = Connector(url, options, name="pressroom replica", reading=True)
    pool = Connections(connector.connect, options.connections, options.pool_seconds)
    return Replica(pool, PostgresDatabase(pool, clock, connector, options, ()), primary, log)
