"""A script of Redis, called on connections that redis-py makes: its layers cost more CPU than the call.

The figures are in docs/decisions/0008-limiter-calls-to-redis.md.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, cast

import hiredis
import redis.exceptions
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster

Words = tuple[str | int, ...]
"""A command."""

PACK = cast("Callable[[Words], bytes]", hiredis.pack_command)  # pyright: ignore[reportUnknownMemberType]  # its stub has one word
BROKEN: Final = (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError)


class RedisScript:
    """A script, loaded into Redis when it is not there. Only a cluster is called through redis-py.

    The caller bounds how many calls run at once, each on a connection of its own, and how long one may take.

    Args:
        client: Makes the connections, and closes them when it is closed.
        text: The script, in Lua.
    """

    def __init__(self, client: Redis | RedisCluster, text: str) -> None:
        self._text = text
        self._script = client.register_script(text)
        self._pool: Any = None if isinstance(client, RedisCluster) else client.connection_pool
        self._idle: list[Any] = []

    async def call(self, keys: Sequence[str], arguments: Sequence[str | int]) -> list[bytes | int]:
        """Returns the reply of the script. It may run twice when a connection breaks.

        Raises:
            redis.exceptions.RedisError: Redis is away or refuses, or the client fails on a connection that ends.
            OSError: A connection cannot be made or ends.
        """
        if self._pool is None:
            try:
                return cast("list[bytes | int]", await self._script(keys, arguments))
            except Exception as error:
                _raise_known(error)
        words: Words = ("EVALSHA", self._script.sha, len(keys), *keys, *arguments)
        try:
            return await self._send(words)
        # After a restart or a fail-over Redis has no scripts. It refused without running anything, so nothing was
        # counted.
        except redis.exceptions.NoScriptError:
            await self._send(("SCRIPT", "LOAD", self._text))
            return await self._send(words)

    async def _send(self, words: Words) -> list[bytes | int]:
        """Returns the answer. Sends again when the connection is dead, as all are after a restart of Redis."""
        connection = await self._take()
        packed = PACK(words)
        try:
            return await self._exchange(connection, packed)
        except redis.exceptions.NoScriptError:
            raise
        except redis.exceptions.RedisError as error:
            while self._idle:  # The others may be as dead, or be to a primary that is none any more.
                await self._close(self._idle.pop())
            # A refusal of Redis itself would come again. Only a broken connection may have been an old one.
            if not isinstance(error, BROKEN):
                raise
        return await self._exchange(await self._take(), packed)

    async def _take(self) -> Any:
        if self._idle:
            return self._idle.pop()
        try:
            return await self._pool.get_connection()
        except Exception as error:
            _raise_known(error)

    async def _exchange(self, connection: Any, packed: bytes) -> list[bytes | int]:
        """Returns the reply."""
        # A connection whose reply did not come is closed: the next call on it would read this call's reply as its own.
        try:
            await connection.send_packed_command(packed)
            answer = await connection.read_response()
        except BaseException as error:
            await self._close(connection)
            _raise_known(error)
        # Set when a node announced that it moves, or was asked to go: the reply is good, the connection is not.
        if connection.should_reconnect():
            await self._close(connection)
        else:
            self._idle.append(connection)
        return cast("list[bytes | int]", answer)

    async def _close(self, connection: Any) -> None:
        """Closes a connection. The pool opens it when it is needed, and asks the sentinels where to."""
        await connection.disconnect(nowait=True)
        await self._pool.release(connection)


def _raise_known(error: BaseException) -> NoReturn:
    """Raises an error of the client's call, as one of Redis where it is neither that nor the system's.

    When a connection ends under redis-py, for example as it reads anew which nodes a cluster has, the next command on
    it fails with whatever error that causes there: RuntimeError of a closed transport, AttributeError of a writer that
    is gone. Nothing but the client's own call is wrapped, so no mistake of ours is taken for a Redis that is away.
    """
    if isinstance(error, Exception) and not isinstance(error, redis.exceptions.RedisError | OSError):
        raise redis.exceptions.ConnectionError(f"redis-py failed: {type(error).__name__}: {error}") from error
    raise error
