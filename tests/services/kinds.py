"""Shared fixtures of the tests of the servers themselves."""

import asyncio

import asyncpg
import pytest
import redis

from . import postgres
from . import redis as redis_service
from .server import Server

needs_postgres = pytest.mark.skipif(postgres.available() is not None, reason=str(postgres.available()))
needs_redis = pytest.mark.skipif(redis_service.available() is not None, reason=str(redis_service.available()))
both_kinds = pytest.mark.parametrize(
    "server_class",
    [
        pytest.param(postgres.PostgresServer, id="postgres", marks=needs_postgres),
        pytest.param(redis_service.RedisServer, id="redis", marks=needs_redis),
    ],
)
ServerClass = type[postgres.PostgresServer] | type[redis_service.RedisServer]


def query(url: str, statement: str) -> object:
    """Return the first value a PostgreSQL statement yields."""

    async def ask_database() -> object:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    return asyncio.run(ask_database())


def ask(server: Server) -> object:
    """Run a query that any server of its kind answers with something true."""
    if isinstance(server, postgres.PostgresServer):
        return query(server.url, "SELECT 1")
    with redis.Redis.from_url(server.url) as client:
        return client.ping()
