"""Opens connections to PostgreSQL: of the hosts that an address names, to the one that takes writes.

All options of a connection are set here: time limits, keepalives, and those that a pooler in transaction mode
forbids (docs/operations.md#postgresql).

asyncpg can choose a host that takes writes by itself, but tries hosts one after another, so that one that hangs costs
its whole time limit, and takes the first of two primaries, also one that another has replaced.
"""

import asyncio
import socket
import weakref
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from pressroom.db import Value
from pressroom.db.postgres.pipeline import Pipeline
from pressroom.db.postgres.pool import PooledConnection

GRACE: Final = 1.0
"""Seconds to wait for other hosts when one was found and it is not known yet which timeline is the latest."""

AWAY: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TransactionTimeoutError,
    asyncpg.InFailedSQLTransactionError,
    asyncpg.LockNotAvailableError,
    asyncpg.PostgresSystemError,
)
"""Errors of PostgreSQL and its driver that mean that the database cannot be used right now."""

# A standby that was promoted begins a timeline of its own, so of two that take writes the later one is right.
_STATE: Final = (
    "SELECT CASE WHEN pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' THEN ''"
    " ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END"
)


class Record(Protocol):
    """The methods of asyncpg's rows that are used here."""

    def keys(self) -> Iterator[str]: ...
    def __iter__(self) -> Iterator[Value]: ...
    def __getitem__(self, place: int) -> Value: ...


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Attribute(_Named, Protocol):
    @property
    def type(self) -> _Named: ...


class _Statement(Protocol):
    """The methods of asyncpg's prepared statements that are used here."""

    def get_attributes(self) -> Sequence[_Attribute]: ...


class PostgresConnection(PooledConnection, Protocol):
    """The methods of asyncpg's connections that are used here."""

    pipeline: Pipeline

    async def fetchrow(self, sql: str, *values: Value, timeout: float | None = None) -> Record | None: ...  # noqa: ASYNC109  # asyncpg's
    async def fetch(self, sql: str, *values: Value) -> list[Record]: ...
    async def execute(self, sql: str, *values: Value, timeout: float | None = None) -> str: ...  # noqa: ASYNC109  # asyncpg's
    async def executemany(self, sql: str, rows: Sequence[Sequence[Value]]) -> None: ...
    async def prepare(self, sql: str) -> _Statement: ...
    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...
    def add_termination_listener(self, callback: Callable[[object], None]) -> None: ...
    async def roll_back(self, seconds: float, *, cut_off: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class PostgresOptions:
    """How connections are made, and the time that each step may take; all in seconds.

    Args:
        connections: The most that the pool opens.
        connect_seconds: For a connection to one host.
        pool_seconds: To wait for connections of the pool, in one request, while others come back and are taken.
        statement_seconds: For one statement; the server ends it, and so does the client when the server is silent.
        idle_seconds: For a transaction in which nothing is sent; the server ends it and lets go of its locks.
        silence_seconds: After which either side takes a peer for gone that answers nothing, not even probes.
        by_transaction: A pooler gives each transaction another session: nothing of a session outlasts it.
        schema: The schema of all tables (docs/operations.md#several-installations).
        channel: Of the signals between the processes of an installation.
    """

    connections: int = 16
    connect_seconds: float = 5.0
    pool_seconds: float = 30.0
    statement_seconds: float = 10.0
    idle_seconds: float = 10.0
    silence_seconds: int = 15
    by_transaction: bool = False
    schema: str = "public"
    channel: str = "pressroom"

    @property
    def session(self) -> str:
        """Returns the statements that are sent once to a connection that keeps its session.

        A pooler refuses most of these at the start of a connection, and takes them afterwards.
        """
        return f"{self._settings('SET')};" + ";".join(
            f"SET {name} = {value}"
            for name, value in (
                ("tcp_keepalives_idle", self._probe_after),
                ("tcp_keepalives_interval", self._probe_every),
                ("tcp_keepalives_count", _PROBES),
                ("tcp_user_timeout", self.silence_seconds * 1_000),
            )
        )

    def begin(self, sql: str) -> Sequence[str]:
        """Returns the statements that begin a transaction by `sql`, in the schema and under the time limits."""
        return (sql, *self._settings("SET LOCAL").split(";")) if self.by_transaction else (sql,)

    def connection_class(self) -> type:
        """Returns a class of connections that take statements ahead, and whose sockets notice a server that has gone
        without a word."""
        options, keeps_session = self._socket_options, not self.by_transaction

        class Connection(cast("type[Any]", asyncpg.Connection)):
            def __init__(self, protocol: asyncio.Protocol, transport: asyncio.Transport, *rest: object) -> None:
                super().__init__(protocol, transport, *rest)  # type: ignore[unknown]  # asyncpg has no types
                self.pipeline = Pipeline(protocol, transport, keeps_session=keeps_session)
                own: socket.socket | None = transport.get_extra_info("socket")
                if own is not None and own.family in (socket.AF_INET, socket.AF_INET6):
                    # Without keepalives, a server that lost power would be noticed after two hours, and every
                    # connection to it hang so long.
                    for level, option, value in options:
                        if option:
                            own.setsockopt(level, option, value)

            async def roll_back(self, seconds: float, *, cut_off: bool) -> None:
                """Ends an open transaction within `seconds`; closes the connection where that cannot be done.

                `cut_off`: its state is unknown, perhaps within a BEGIN.
                """
                connection = cast("PostgresConnection", self)
                try:
                    if self.pipeline.is_unanswered and not cut_off:
                        connection.terminate()  # No statement of asyncpg's came behind those ahead: no answer comes.
                    # By its own account, asyncpg may not be in a transaction although a BEGIN went ahead of a statement
                    # that failed.
                    elif cut_off or (
                        not connection.is_closed() and (self.pipeline.is_unended or connection.is_in_transaction())
                    ):
                        await connection.execute("ROLLBACK", timeout=seconds)
                except (*AWAY, asyncpg.PostgresError):
                    connection.terminate()

        return Connection

    @property
    def _socket_options(self) -> list[tuple[int, int, int]]:
        """Level, option and value of each option of a socket; 0 for options that this system does not have."""
        return [
            (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
            (socket.IPPROTO_TCP, getattr(socket, "TCP_KEEPIDLE", 0), self._probe_after),
            (socket.IPPROTO_TCP, getattr(socket, "TCP_KEEPINTVL", 0), self._probe_every),
            (socket.IPPROTO_TCP, getattr(socket, "TCP_KEEPCNT", 0), _PROBES),
            (socket.IPPROTO_TCP, getattr(socket, "TCP_USER_TIMEOUT", 0), self.silence_seconds * 1_000),
        ]

    @property
    def _probe_after(self) -> int:
        return max(1, self.silence_seconds // 3)

    @property
    def _probe_every(self) -> int:
        return max(1, self.silence_seconds // 5)

    def _settings(self, how: str) -> str:
        # The one schema alone: a table that it lacks must not be found in that of another installation.
        return (
            f'{how} search_path = "{self.schema}";'
            f"{how} statement_timeout = {round(self.statement_seconds * 1_000)};"
            f"{how} idle_in_transaction_session_timeout = {round(self.idle_seconds * 1_000)}"
        )


_PROBES: Final = 3

PLAIN: Final = PostgresOptions()
ONE: Final = PostgresOptions(connections=1)


def addresses_of(url: str) -> list[str]:
    """Returns an address for each host of `postgresql://USER@HOST:PORT,HOST:PORT/NAME`."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return [url]
    return [urlunsplit((parts.scheme, f"{user}{at}{host}", *parts[2:])) for host in hosts.split(",")]


class Connector:
    """Opens connections to the database at `url`.

    Args:
        url: Its address. Of several hosts, the one that takes writes is used; of two that do (a primary that came back
            after another took its place), the one of the later timeline.
        options: The arguments of each connection.
        name: The application name of these connections.
        reading: Whether a host that takes no writes will do.
    """

    def __init__(
        self, url: str, options: PostgresOptions = PLAIN, *, name: str = "pressroom", reading: bool = False
    ) -> None:
        self._addresses = addresses_of(url)
        self._options = options
        self._reading = reading
        self._timeline = ""
        self._in_use: weakref.WeakSet[PostgresConnection] = weakref.WeakSet()
        self._arguments: dict[str, object] = {
            "timeout": options.connect_seconds,
            "server_settings": {"application_name": name, "timezone": "UTC"},
            "connection_class": options.connection_class(),
        }
        if options.by_transaction:
            # A prepared statement belongs to a session, and the next transaction may get another one.
            self._arguments["statement_cache_size"] = 0

    async def connect(self) -> PostgresConnection:
        """Returns a new connection. Raises one of `AWAY`, or the error of a server that refuses."""
        if len(self._addresses) == 1:
            return await self._open(self._addresses[0])
        # All at once: one after another, each host that hangs would cost its whole time limit.
        tasks = {asyncio.create_task(self._open_on(address)): address for address in self._addresses}
        pending = set(tasks)
        opened: list[tuple[str, PostgresConnection]] = []
        try:
            while pending and not self._is_settled(opened):
                done, pending = await asyncio.wait(
                    pending, timeout=GRACE if opened else None, return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    break
                opened += [task.result() for task in done if task.exception() is None]
            chosen = max(opened, key=lambda each: each[0], default=None)
            # A primary of an earlier timeline was replaced. Its commits of now are on no other server, and will be
            # lost.
            if chosen is None or chosen[0] < self._timeline:
                raise _refusal({tasks[task]: task.exception() for task in tasks if task.done()})
            opened.remove(chosen)
            self._note(*chosen)
            return chosen[1]
        finally:
            for task in pending:
                # A cancelled task may have its connection already.
                task.add_done_callback(_let_go)
                task.cancel()
            for _, connection in opened:
                connection.terminate()

    def _is_settled(self, opened: list[tuple[str, PostgresConnection]]) -> bool:
        """Returns whether no better host can be waited for: one is as late as the latest that was ever seen."""
        latest = max((timeline for timeline, _ in opened), default="")
        return bool(opened) and (self._reading or "" < self._timeline <= latest)

    def _note(self, timeline: str, connection: PostgresConnection) -> None:
        """Closes connections to an earlier primary once there is a later one: nothing more is written to it."""
        if timeline > self._timeline:
            self._timeline = timeline
            # Also those amid a transaction: to commit on an earlier primary would be an answer that the later one knows
            # nothing of.
            for earlier in self._in_use:
                earlier.terminate()
            self._in_use.clear()
        self._in_use.add(connection)

    async def _open_on(self, address: str) -> tuple[str, PostgresConnection]:
        """Returns a connection to one host of several and its timeline. Raises ConnectionError if it only reads."""
        connection = await self._open(address)
        try:
            if self._reading:
                return "", connection
            row = await connection.fetchrow(_STATE, timeout=self._options.connect_seconds)
            timeline = str(row[0]) if row else ""
            if not timeline:
                raise ConnectionError("it only reads")
        except BaseException:
            connection.terminate()
            raise
        return timeline, connection

    async def _open(self, address: str) -> PostgresConnection:
        connect = cast("Callable[..., Awaitable[PostgresConnection]]", asyncpg.connect)
        try:
            connection = await connect(address, **self._arguments)
        except (RuntimeError, AttributeError) as error:
            # The server hung up before the first write: uvloop refuses that write with a RuntimeError, and asyncpg then
            # calls a method that its protocol does not have.
            raise ConnectionResetError("The server hung up while the connection was made.") from error
        if not self._options.by_transaction:
            try:
                await connection.execute(self._options.session, timeout=self._options.connect_seconds)
            except BaseException:
                connection.terminate()
                raise
        return connection


def _refusal(failures: Mapping[str, BaseException | None]) -> BaseException:
    """Returns what to raise when no host will do, by the failures of their addresses; None: an earlier primary.

    It names each host with its fault. Where all hosts refuse the settings, it is the last host's refusal. Where the
    address of one is malformed, it names nothing: the text may be a piece of a password.
    """
    errors = [error for error in failures.values() if error is not None]
    malformed = next((error for error in errors if isinstance(error, ValueError)), None)
    if malformed is not None:
        return malformed
    if len(errors) == len(failures) and not any(map(_is_away, errors)):
        return errors[-1]
    said = "; ".join(f"{_host(address)}: {_reason(error)}" for address, error in failures.items())
    refusal = ConnectionError(f"No host of the database's address takes writes: {said}")
    refusal.__cause__ = errors[-1] if errors else None
    return refusal


def _is_away(error: BaseException) -> bool:
    return isinstance(error, AWAY)


def _host(address: str) -> str:
    """Returns the host and port of an address, without who signs in there."""
    return urlsplit(address).netloc.rpartition("@")[2]


def _reason(error: BaseException | None) -> str:
    return "another host took its place" if error is None else str(error) or "it does not answer"


def _let_go(task: "asyncio.Task[tuple[str, PostgresConnection]]") -> None:
    """Closes a connection that was opened after its request had ended."""
    if not task.cancelled() and task.exception() is None:
        task.result()[1].terminate()
