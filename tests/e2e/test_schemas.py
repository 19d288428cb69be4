"""Several installations in one PostgreSQL, each in a schema of its own (docs/operations.md#several-installations)."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from tests.e2e.backups import run_recipe
from tests.e2e.processes import one_line
from tests.harness.beside import api_alone, worker
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint, wait_until_settled
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.roomy import ROOMY
from tests.harness.wire import Request, ask, at_once
from tests.services import pgbouncer
from tests.services.kinds import query
from tests.services.pgbouncer import PgBouncer
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]

SCHEMAS = ("shop", "club")
TOGETHER = 20


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    """An empty database."""
    return postgres_server.create_database(f"schemas_{os.getpid()}_{time.monotonic_ns()}")


@pytest.fixture
def installations(process_server: MakeServer, url: str) -> Callable[..., list[ServerProcess]]:
    """Makes an installation, migrated, in each of two schemas of one database: `installations(REDIS_URL=…)`."""

    def make(**settings: object) -> list[ServerProcess]:
        made = [
            process_server(**ROOMY, **QUICK_RETRIES, DATABASE_URL=url, DATABASE_SCHEMA=schema, **settings)
            for schema in SCHEMAS
        ]
        for each in made:
            assert "up to date" in each.command("migrate").stdout
        return made

    return make


def contents(server: ServerProcess, username: str) -> set[str]:
    """The texts of somebody's posts, as a visitor reads them."""
    page = ask(Request(server.port, "GET", f"/@{username}"))
    assert page.status == 200
    return {f"{schema} {number}" for schema in SCHEMAS for number in range(9) if f"{schema} {number}" in str(page.body)}


def test_installations_in_two_schemas_of_one_database_share_nothing(
    installations: Callable[..., list[ServerProcess]], url: str
) -> None:
    made = installations()
    for server in made:
        server.start()  # each is the one process that counts, in its own schema
    owners = [Owner(server, "alice") for server in made]
    keys = [owner.key() for owner in owners]
    for server, key, schema in zip(made, keys, SCHEMAS, strict=True):
        replies = at_once([publish(server, key, f"{schema} {number}", f"key-{number}") for number in range(3)])
        assert {reply.status for reply in replies} == {201}

    for server, own, other, schema in zip(made, keys, reversed(keys), SCHEMAS, strict=True):
        assert ask(who_am_i(server, own)).status == 200
        assert ask(who_am_i(server, other)).status == 401
        assert contents(server, "alice") == {f"{schema} {number}" for number in range(3)}
        assert query(url, f"SELECT count(*) FROM {schema}.posts") == 3  # noqa: S608
    assert query(url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0


def test_a_second_process_in_the_same_schema_is_refused(installations: Callable[..., list[ServerProcess]]) -> None:
    first, _ = installations()
    second = ServerProcess(first.folder / "second", **{**first.settings, "PORT": 1})
    first.start()
    assert "Another Pressroom serves this database already" in one_line(second, "serve")


def test_deliveries_of_a_schema_are_made_by_its_own_worker(
    installations: Callable[..., list[ServerProcess]],
) -> None:
    shop, club = installations()
    with Receiver() as receiver, api_alone(shop) as shop_api, api_alone(club) as club_api, worker(club_api):
        endpoints = {}
        for api, path in ((shop_api, "/shop"), (club_api, "/club")):
            owner = Owner(api)
            made = owner.new_key().json()
            endpoints[path] = Endpoint(api, owner, made["id"], receiver.url(path), (POST,))
            replies = at_once([publish(api, made["key"], f"post {number}") for number in range(TOGETHER)])
            assert {reply.status for reply in replies} == {201}
        wait_until_settled(club_api)
        assert receiver.count("/shop") == 0
        with worker(shop_api):
            wait_until_settled(shop_api)
        assert [endpoint.states() for endpoint in endpoints.values()] == [{"delivered": TOGETHER}] * 2
    for path in endpoints:
        assert len({request.id for request in receiver.of(path)}) == TOGETHER


def test_limits_in_a_shared_redis_are_counted_apart(
    installations: Callable[..., list[ServerProcess]], redis_server: RedisServer
) -> None:
    made = installations(REDIS_URL=redis_server.url)
    ids = []
    for server in made:
        new = Owner(server.start()).new_key().json()
        ids.append(new["id"])
        assert ask(who_am_i(server, new["key"])).status == 200
    with redis.Redis.from_url(redis_server.url) as client:
        names = [name.decode() for name in client.scan_iter()]
    for schema, key_id in zip(SCHEMAS, ids, strict=True):
        assert {name.partition(":")[0] for name in names if key_id in name} == {f"pressroom_{schema}"}


def test_a_pooler_by_transaction_keeps_each_installation_in_its_schema(
    process_server: MakeServer, postgres_server: PostgresServer, url: str, tmp_path: Path
) -> None:
    if reason := pgbouncer.available():
        pytest.skip(reason)
    with PgBouncer.start(tmp_path / "pgbouncer", postgres_server.port, mode="transaction", pool=4) as bouncer:
        by_pooler = url.replace(f":{postgres_server.port}/", f":{bouncer.port}/")
        given = {"DATABASE_URL": by_pooler, "DATABASE_DIRECT_URL": url, "DATABASE_POOLER": "transaction", **ROOMY}
        made = [process_server(**given, DATABASE_SCHEMA=schema) for schema in SCHEMAS]
        requests = []
        for server, schema in zip(made, SCHEMAS, strict=True):
            server.command("migrate")
            key = Owner(server.start()).key()
            requests += [publish(server, key, f"{schema} {number}") for number in range(9)]
        assert {reply.status for reply in at_once(requests)} == {201}
        for server, schema in zip(made, SCHEMAS, strict=True):
            assert contents(server, "alice") == {f"{schema} {number}" for number in range(9)}


def test_a_schema_that_is_missing_is_made_by_migrate_alone(process_server: MakeServer, url: str) -> None:
    server = process_server(DATABASE_URL=url, DATABASE_SCHEMA="shop", **ROOMY)
    assert "pressroom migrate" in one_line(server, "serve")
    assert query(url, "SELECT count(*) FROM pg_namespace WHERE nspname = 'shop'") == 0
    server.command("migrate")
    server.start()


def test_migrate_without_create_right_prints_the_statement(process_server: MakeServer, url: str) -> None:
    role = f"guest_{time.monotonic_ns()}"
    query(url, f"CREATE ROLE {role} LOGIN PASSWORD 'guest'")
    guest = f"postgresql://{role}:guest@{url.rpartition('@')[2]}"
    server = process_server(DATABASE_URL=guest, DATABASE_SCHEMA="shop", **ROOMY)
    line = one_line(server, "migrate")
    assert 'CREATE SCHEMA "shop" AUTHORIZATION' in line
    query(url, f"CREATE SCHEMA shop AUTHORIZATION {role}")
    assert "up to date" in server.command("migrate").stdout
    server.start()
    assert server.stop() == 0
    for statement in ("DROP SCHEMA shop CASCADE", f"DROP OWNED BY {role}", f"DROP ROLE {role}"):
        query(url, statement)


def test_a_schema_that_was_dumped_and_restored_elsewhere_serves_again(
    installations: Callable[..., list[ServerProcess]],
    process_server: MakeServer,
    postgres_server: PostgresServer,
    url: str,
    tmp_path: Path,
) -> None:
    shop, club = installations()
    keys = [Owner(server.start()).key() for server in (shop, club)]
    assert ask(publish(shop, keys[0], "shop 1", "one")).status == 201
    assert shop.stop() == 0
    run_recipe('pg_dump --format=custom --schema=shop --file=shop.dump "$URL"', tmp_path, URL=url)
    other = postgres_server.create_database(f"moved_{os.getpid()}_{time.monotonic_ns()}")
    back = 'pg_restore --exit-on-error --single-transaction --no-owner --dbname="$URL" shop.dump'
    run_recipe(back, tmp_path, URL=other)

    moved = process_server(**{**shop.settings, "DATABASE_URL": other}).start()
    again = ask(publish(moved, keys[0], "shop 1", "one"))
    assert again.status == 200, "the stored answer of the write before the move"
    assert contents(moved, "alice") == {"shop 1"}
    assert query(other, "SELECT count(*) FROM pg_namespace WHERE nspname = 'club'") == 0
    assert ask(who_am_i(club, keys[1])).status == 200, "the neighbour serves all the while"
