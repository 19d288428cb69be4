"""`pressroom transfer`: an installation on SQLite moves to PostgreSQL, killed on the way, and serves there."""

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import apsw
import asyncpg
import httpx
import pytest

from pressroom.db.migrate import all_migrations
from pressroom.operations.transfer.tables import OF_THE_DATABASE
from tests.blobs.conftest import bucket_url, credentials, s3_server
from tests.e2e.processes import one_line
from tests.harness.databases import migrated_database
from tests.harness.deliveries import Endpoint
from tests.harness.forks import fork
from tests.harness.observations import observe
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Request, ask
from tests.media.uploads import upload, wait_until_processed
from tests.services.postgres import PostgresServer
from tests.services.session import run_folder

__all__ = ["bucket_url", "credentials", "s3_server"]

STOPS = (
    ("accounts", "TRUE"),
    ("api_keys", "TRUE"),
    ("idempotent_answers", "NEW.idempotency_key = 'bulk 2700'"),
    ("idempotent_answers", "NEW.idempotency_key = 'bulk 3900'"),
    ("webhooks", "TRUE"),
)
"""Rows before which a transfer waits, in its own order, until it is killed. The first is before anything has come."""

LOCK = 4_242
POSTS = [f"post {number}" for number in range(20)]

# In the order of the key, which is that of the text, so that the stops come in the middle of a table.
BULK = (
    "INSERT INTO idempotent_answers (account_id, method, path, idempotency_key, body, body_hash, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 4200)"
    " SELECT (SELECT min(id) FROM accounts), 'POST', '/api/posts', 'bulk ' || i, '{}', '', 1 FROM n"
)


@dataclass(frozen=True)
class Origin:
    """An installation on SQLite that was stopped, and its clients' knowledge."""

    folder: Path
    key: str
    key_id: str
    cookie: str
    posts: dict[str, str]
    picture: str
    receiver: Receiver

    @property
    def database(self) -> Path:
        """The file of its database."""
        return self.folder / "pressroom.db"

    @property
    def arguments(self) -> list[str]:
        """What names it to the command."""
        return ["transfer", "--from", f"sqlite:///{self.database}", "--blobs-from", f"file://{self.folder / 'blobs'}"]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Origin]:
    """An installation with a key, posts, a picture, an endpoint and many stored answers."""
    with Receiver() as receiver:
        server = ServerProcess(tmp_path_factory.mktemp("origin"), DEV=1, **ROOMY).start()
        owner = Owner(server)
        made = owner.new_key("all", ("posts:write", "media:write")).json()
        Endpoint(server, owner, made["id"], receiver.url("/hook"), ["post.created"])
        posts = {text: ask(publish(server, made["key"], text, text.replace(" ", "-"))).json()["id"] for text in POSTS}
        with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {made['key']}"}) as client:
            picture = upload(client).json()["media"][0]["url"]
        wait_until_processed(server)
        receiver.wait(lambda _: receiver.count("/hook") == len(POSTS) + 1)
        server.stop()
        rows(server, BULK)
        rows(server, "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
        folder = Path(str(server.settings["DATA_DIR"]))
        path = httpx.URL(picture).raw_path.decode()
        yield Origin(folder, made["key"], made["id"], owner.cookie, posts, path, receiver)


@pytest.fixture
def origin(template: Origin, tmp_path: Path) -> Origin:
    """A copy of the installation, of this test's own."""
    shutil.copytree(template.folder, tmp_path / "origin")
    return replace(template, folder=tmp_path / "origin")


@pytest.fixture
def target(
    process_server: Callable[..., ServerProcess],
    postgres_server: PostgresServer,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> ServerProcess:
    """A server that is not started, on an empty PostgreSQL database."""
    name = f"target_{os.getpid()}_{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12]}"
    url = migrated_database(postgres_server, run_folder(tmp_path_factory.getbasetemp()), name)
    return process_server(DATABASE_URL=url, DEV=1, **ROOMY)


@contextlib.asynccontextmanager
async def connected(server: ServerProcess) -> AsyncGenerator[asyncpg.Connection]:
    connection = await asyncpg.connect(
        str(server.settings["DATABASE_URL"]),
        server_settings={"search_path": str(server.settings.get("DATABASE_SCHEMA", "public"))},
    )
    try:
        yield connection
    finally:
        await connection.close()


def run_statements(server: ServerProcess, *statements: str) -> None:
    """Runs statements in the server's PostgreSQL database."""

    async def run() -> None:
        async with connected(server) as connection:
            for statement in statements:
                await connection.execute(statement)

    asyncio.run(run())


async def kill_at_the_next_stop(target: ServerProcess, origin: Origin, number: int) -> None:
    """Starts a transfer, kills it with -9 where it waits, and takes the stop away."""
    alike = "datname = current_database() AND application_name = 'pressroom transfer'"
    waiting = f"SELECT count(*) FROM pg_stat_activity WHERE {alike} AND wait_event = 'advisory'"  # noqa: S608
    there = f"SELECT count(*) FROM pg_stat_activity WHERE {alike}"  # noqa: S608
    async with connected(target) as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK)
        log = target.folder / f"transfer{number}.log"
        moving = fork(origin.arguments, folder=target.folder, environment=target.environment, log=log)
        try:
            while not await connection.fetchval(waiting):
                assert moving.poll() is None, log.read_text()
                await asyncio.sleep(0.02)
        finally:
            moving.send_signal(signal.SIGKILL)
            moving.wait(60)
        async with connected(target) as other:
            await connection.execute("SELECT pg_advisory_unlock($1)", LOCK)
            while await other.fetchval(there):
                await asyncio.sleep(0.02)
            await other.execute(f"DROP TRIGGER stop{number} ON {STOPS[number][0]}")


def put_stops(target: ServerProcess) -> None:
    wait = f"BEGIN PERFORM pg_advisory_xact_lock({LOCK}); RETURN NEW; END"
    run_statements(
        target,
        f"CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS '{wait}'",
        *(
            f"CREATE TRIGGER stop{number} BEFORE INSERT ON {table} FOR EACH ROW WHEN ({when})"
            " EXECUTE FUNCTION stop_here()"
            for number, (table, when) in enumerate(STOPS)
        ),
    )


def contents(ask_for: Callable[[str], list[tuple[object, ...]]], tables: list[str]) -> dict[str, list[str]]:
    """Every row of each table, in one form whatever the engine."""
    return {
        table: sorted(
            str([int(value) if isinstance(value, bool) else value for value in row])
            for row in ask_for(f"SELECT * FROM {table}")  # noqa: S608  # names of the schema
        )
        for table in tables
    }


def of_sqlite(file: Path, statement: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(file))
    try:
        return list(connection.execute(statement))
    finally:
        connection.close()


def tables_of(origin: Origin) -> list[str]:
    found = of_sqlite(origin.database, "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'")
    return sorted({str(name) for (name,) in found} - OF_THE_DATABASE - {"_litestream_seq", "sqlite_schema"})


@pytest.mark.parametrize("store", ["disk", "s3"])
def test_a_transfer_that_is_killed_five_times_goes_on_and_its_target_serves(
    origin: Origin, target: ServerProcess, store: str, request: pytest.FixtureRequest
) -> None:
    if store == "s3":
        # Into a schema, beside another installation in the same database and bucket.
        target.settings |= {"BLOBS_URL": request.getfixturevalue("bucket_url"), "DATABASE_SCHEMA": "shop"}
        target.command("migrate")
    source = ServerProcess(origin.folder.parent / "source", DATA_DIR=origin.folder, DEV=1, **ROOMY)
    target.folder.mkdir(exist_ok=True)
    put_stops(target)
    for number in range(len(STOPS)):
        asyncio.run(kill_at_the_next_stop(target, origin, number))
        assert "has not ended" in one_line(source, "serve")
        assert "has not ended" in one_line(target, "serve")
    assert "has not ended" in one_line(target, "key", "list", "alice")
    assert "has not ended" in target.command("doctor", check=False).stdout
    halfway = rows(target, "SELECT count(*) FROM idempotent_answers")

    began = time.monotonic()
    done = target.command(*origin.arguments)
    took = time.monotonic() - began

    assert (done.stderr, halfway != [(0,)]) == ("", True)
    assert "both sides are equal" in done.stdout
    tables = tables_of(origin)
    assert contents(lambda statement: rows(target, statement), tables) == contents(
        lambda statement: of_sqlite(origin.database, statement), tables
    )
    assert_it_serves(origin, target)
    assert "is being served" in one_line(target, *origin.arguments)
    target.stop()
    assert "not empty" in one_line(target, *origin.arguments)
    assert source.command("key", "list", "alice").returncode == 0, "the source may be served again"
    observe(
        f"a transfer from SQLite to PostgreSQL killed with -9 {len(STOPS)} times, media on {store}",
        "neither side is served before it has ended; ended by another call, all rows and files are equal",
        took,
        "the call that ends it",
    )


async def kill_at_mark(target: ServerProcess, origin: Origin, moment: str) -> None:
    """Starts a transfer, and kills it with -9 where it marks the target: at the INSERT or the UPDATE."""
    waits = f"BEGIN PERFORM pg_advisory_xact_lock({LOCK}); RETURN NEW; END"
    async with connected(target) as connection:
        await connection.execute(f"CREATE FUNCTION wait_here() RETURNS trigger LANGUAGE plpgsql AS '{waits}'")
        trigger = f"CREATE TRIGGER mark BEFORE {moment} ON transfers FOR EACH ROW EXECUTE FUNCTION wait_here()"
        await connection.execute(trigger)
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK)
        moving = fork(
            origin.arguments, folder=target.folder, environment=target.environment, log=target.folder / "marking.log"
        )
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        waiting = f"SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND {others}"  # noqa: S608
        while not await connection.fetchval(waiting):
            assert moving.poll() is None
            await asyncio.sleep(0.02)
        moving.send_signal(signal.SIGKILL)
        moving.wait(60)
        await connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")  # noqa: S608
        await connection.execute("SELECT pg_advisory_unlock($1)", LOCK)
        while await connection.fetchval(f"SELECT count(*) FROM pg_stat_activity WHERE {others}"):  # noqa: S608
            await asyncio.sleep(0.02)
        await connection.execute("DROP FUNCTION wait_here() CASCADE")


@pytest.mark.parametrize("moment", ["INSERT", "UPDATE"])
def test_source_is_marked_before_the_target_and_until_after_it(
    origin: Origin, target: ServerProcess, moment: str
) -> None:
    source = ServerProcess(origin.folder.parent / "source", DATA_DIR=origin.folder, DEV=1, **ROOMY)
    target.folder.mkdir()
    asyncio.run(kill_at_mark(target, origin, moment))

    assert "has not ended" in one_line(source, "serve")

    assert "both sides are equal" in target.command(*origin.arguments).stdout
    assert_it_serves(origin, target)


def test_transfer_killed_at_its_last_moment_reports_completion(origin: Origin, target: ServerProcess) -> None:
    assert "both sides are equal" in target.command(*origin.arguments).stdout
    done = "The transfer has ended before; nothing is left to do.\n"
    mark = origin.database.with_name("pressroom.db.transferring")
    assert not mark.exists()
    assert target.command(*origin.arguments).stdout == done
    ((transfer_id,),) = rows(target, "SELECT id FROM transfers")
    mark.write_text(str(transfer_id))
    assert target.command(*origin.arguments).stdout == done
    assert not mark.exists()
    of_sqlite(origin.database, "UPDATE accounts SET bio = 'changed since'")
    assert "not empty" in one_line(target, *origin.arguments)


def assert_it_serves(origin: Origin, target: ServerProcess) -> None:
    """Keys, sessions, stored answers, files and endpoints work as they did."""
    target.start()
    assert ask(who_am_i(target, origin.key)).status == 200
    assert ask(Request(target.port, "GET", "/api/auth/me", {"Cookie": origin.cookie})).status == 200
    for text, post_id in origin.posts.items():
        replay = ask(publish(target, origin.key, text, text.replace(" ", "-")))
        assert (replay.status, replay.json()["id"], replay.headers["idempotent-replayed"]) == (200, post_id, "true")
    answer = httpx.get(f"{target.base_url}{origin.picture}", follow_redirects=True, timeout=20)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    before = origin.receiver.count("/hook")
    post = ask(publish(target, origin.key, "after the move"))
    assert post.status == 201
    origin.receiver.wait(lambda each: each.count("/hook") > before)


def refused(origin: Origin, target: ServerProcess) -> str:
    """The line with which a transfer is refused, which changed nothing."""
    before = hashlib.sha256(origin.database.read_bytes()).digest() if origin.database.exists() else b""
    said = one_line(target, *origin.arguments)
    assert not origin.database.with_name("pressroom.db.transferring").exists()
    after = hashlib.sha256(origin.database.read_bytes()).digest() if origin.database.exists() else b""
    assert before == after
    return said


def is_empty(target: ServerProcess) -> bool:
    return rows(target, "SELECT id FROM accounts UNION ALL SELECT id FROM transfers") == []


NEWER = f"INSERT INTO schema_migrations VALUES ({all_migrations()[-1].version + 1}, 'later')"  # noqa: S608  # a number
OLDER = f"DELETE FROM schema_migrations WHERE version = {all_migrations()[-1].version}"  # noqa: S608  # a number


@pytest.mark.parametrize(
    ("statement", "words"), [(NEWER, "newer than this version knows"), (OLDER, "run pressroom migrate on it")]
)
def test_a_source_of_another_version_is_refused(
    origin: Origin, target: ServerProcess, statement: str, words: str
) -> None:
    of_sqlite(origin.database, statement)
    assert words in refused(origin, target)
    assert is_empty(target)


@pytest.mark.parametrize("damage", ["garbage", "cut off", "a page", "an orphan", "another's", "absent"])
def test_a_source_that_is_damaged_or_absent_is_refused(origin: Origin, target: ServerProcess, damage: str) -> None:
    whole, words = origin.database.read_bytes(), "is damaged"
    match damage:
        case "garbage":
            origin.database.write_bytes(b"garbage " * 10_000)
        case "cut off":
            origin.database.write_bytes(whole[: len(whole) // 2])
        case "a page":
            spoilt = bytearray(whole)
            spoilt[len(whole) // 2 : len(whole) // 2 + 4_096] = b"\xff" * 4_096
            origin.database.write_bytes(spoilt)
        case "an orphan":
            of_sqlite(origin.database, "INSERT INTO likes VALUES ('post', 'nobody', 0)")
        case "another's":
            origin.database.unlink()
            of_sqlite(origin.database, "CREATE TABLE another (id TEXT)")
            words = "no database of Pressroom"
        case _:
            origin.database.unlink()
            words = "There is no database"
    assert words in refused(origin, target)
    assert is_empty(target)


def test_a_source_that_is_served_is_refused(origin: Origin, target: ServerProcess) -> None:
    source = ServerProcess(origin.folder.parent / "source", DATA_DIR=origin.folder, DEV=1, **ROOMY).start()
    try:
        assert "is being served" in one_line(target, *origin.arguments)
    finally:
        source.kill()
    assert is_empty(target)


def test_a_target_that_is_not_empty_is_refused(origin: Origin, target: ServerProcess) -> None:
    target.create_account("bob")
    assert "is not empty" in refused(origin, target)
    assert rows(target, "SELECT username FROM accounts") == [("bob",)]


def test_a_target_that_is_served_is_refused(origin: Origin, target: ServerProcess) -> None:
    target.start()
    assert "is being served" in refused(origin, target)


def test_a_target_that_is_not_migrated_is_refused(
    origin: Origin, target: ServerProcess, postgres_server: PostgresServer
) -> None:
    target.settings["DATABASE_URL"] = postgres_server.create_database(f"not_migrated_{os.getpid()}")
    assert "run `pressroom migrate`" in refused(origin, target)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "postgresql://x"], "sqlite:///FILE"),
        (["--from", "/some/file"], "sqlite:///FILE"),
        (["--from", "{database}", "--blobs-from", "file:///not/there"], "must be there"),
        (["--from", "{database}", "--blobs-from", "s3://bucket"], "file:///FOLDER"),
        (["--from", "{database}", "--to", "{database}"], "a transfer fills PostgreSQL"),
        (["--from", "{database}", "--to", "mysql://x"], "neither sqlite:///FILE nor postgresql://"),
        ([], "Missing option '--from'"),
    ],
)
def test_addresses_that_name_nothing_are_refused(
    origin: Origin, target: ServerProcess, arguments: list[str], words: str
) -> None:
    given = [each.format(database=f"sqlite:///{origin.database}") for each in arguments]
    assert words in one_line(target, "transfer", *given)
    assert is_empty(target)


def test_a_target_on_sqlite_is_refused(origin: Origin, process_server: Callable[..., ServerProcess]) -> None:
    assert "a transfer fills PostgreSQL" in refused(origin, process_server())


def test_a_target_that_is_named_in_the_command_wins_over_the_setting(
    origin: Origin, target: ServerProcess, process_server: Callable[..., ServerProcess]
) -> None:
    elsewhere = process_server(BLOBS_URL=f"file://{target.folder / 'data' / 'blobs'}")

    done = elsewhere.command(*origin.arguments, "--to", str(target.settings["DATABASE_URL"]))

    assert "both sides are equal" in done.stdout
    assert_it_serves(origin, target)


def test_a_transfer_of_which_the_source_was_served_meanwhile_does_not_go_on(
    origin: Origin, target: ServerProcess
) -> None:
    target.folder.mkdir()
    put_stops(target)
    asyncio.run(kill_at_the_next_stop(target, origin, 0))
    origin.database.with_name("pressroom.db.transferring").unlink()
    assert "its source was served since" in refused(origin, target)


def test_a_row_that_differs_at_the_end_is_found_and_nothing_is_served(origin: Origin, target: ServerProcess) -> None:
    target.folder.mkdir()
    put_stops(target)
    for number in range(3):
        asyncio.run(kill_at_the_next_stop(target, origin, number))
    spoil = "UPDATE api_keys SET label = 'spoilt'"
    run_statements(target, spoil, "DROP FUNCTION stop_here() CASCADE")
    assert "The table api_keys differs" in one_line(target, *origin.arguments)
    assert "has not ended" in one_line(target, "serve")


def test_a_file_that_the_store_lacks_is_named(origin: Origin, target: ServerProcess) -> None:
    lost = next(path for path in (origin.folder / "blobs").rglob("*thumbnail.webp") if path.is_file())
    lost.unlink()
    (origin.folder / "blobs" / "ab" / "cd").mkdir(parents=True, exist_ok=True)
    os.mkfifo(origin.folder / "blobs" / "ab" / "cd" / "pipe")
    said = target.command(*origin.arguments).stderr
    assert "thumbnail.webp, which the database refers to" in said
    assert "pipe is not a file of the store" in said
