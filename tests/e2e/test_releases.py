"""The database of each earlier release is brought up to date, and serves its clients on."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw
import httpx
import pytest

from pressroom.db.migrate import all_migrations
from tests.corpus.releases import FOLDER, program
from tests.harness.process import ServerProcess
from tests.harness.records import rows, sqlite_file
from tests.harness.roomy import ROOMY
from tests.services.postgres import PostgresServer

DUMPS: Final = sorted(FOLDER.glob("*.sql"))


def load_sqlite(dump: Path, server: ServerProcess) -> None:
    """Makes the file of a server on SQLite."""
    file = sqlite_file(server)
    file.parent.mkdir(parents=True)
    connection = apsw.Connection(str(file))
    connection.execute(dump.read_text("utf-8")).fetchall()
    connection.close()


def load_postgres(dump: Path, server: ServerProcess) -> None:
    """Fills the empty database of a server on PostgreSQL."""
    command = [program("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={dump}"]
    url = f"--dbname={server.settings['DATABASE_URL']}"
    subprocess.run([*command, url], check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)


@pytest.mark.parametrize("dump", DUMPS, ids=[dump.name for dump in DUMPS])
def test_the_database_of_a_release_is_migrated_and_serves(
    dump: Path, process_server: Callable[..., ServerProcess], request: pytest.FixtureRequest
) -> None:
    version, _, engine = dump.stem.rpartition(".")
    known = json.loads((FOLDER / f"{version}.json").read_text("utf-8"))[engine]
    if engine == "sqlite":
        server = process_server(**ROOMY, DEV=1)
        load_sqlite(dump, server)
    else:
        postgres: PostgresServer = request.getfixturevalue("postgres_server")
        name = f"release_{os.getpid()}_{version}"
        server = process_server(**ROOMY, DEV=1, DATABASE_URL=postgres.create_database(name))
        load_postgres(dump, server)
    posts = rows(server, "SELECT count(*) FROM posts")

    assert "up to date" in server.command("migrate").stdout
    server.start()

    assert rows(server, "SELECT max(version) FROM schema_migrations") == [(all_migrations()[-1].version,)]
    assert rows(server, "SELECT count(*) FROM posts") == posts
    assert_it_serves(server, known)


def assert_it_serves(server: ServerProcess, known: dict[str, str]) -> None:
    """Its clients publish, read and sign in as before."""
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {known['key']}"}) as client:
        made = client.post("/api/posts", json={"content": "After the upgrade."})
        assert made.status_code == 201, made.text
        assert client.get(f"/api/posts/{known['post']}").json()["stats"]["likes"] == 1
        assert client.post(f"/api/posts/{known['post']}/comments", json={"content": "Still open."}).status_code == 201
        assert client.patch(f"/api/posts/{known['post']}", json={"content": "Edited. #release"}).status_code == 200
    with httpx.Client(base_url=server.base_url, timeout=20) as browser:
        signed_in = browser.post("/api/auth/login", json={"login": known["username"], "password": known["password"]})
        assert signed_in.status_code == 200, signed_in.text
        assert browser.get("/api/notifications").status_code == 200
        for path in (f"/post/{known['post']}", "/@alice", "/post/" + made.json()["id"], "/tag/release"):
            page = browser.get(path)
            assert page.status_code == 200, path
        assert "After the upgrade." in browser.get("/@alice").text


def test_there_is_a_database_of_each_engine() -> None:
    assert {dump.name.split(".")[-2] for dump in DUMPS} == {"sqlite", "postgres"}
