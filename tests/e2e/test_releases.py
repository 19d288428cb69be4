"""The database of each release is migrated to the schema of the next version, and goes on serving its clients."""

import itertools
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw
import httpx
import pytest

from pressroom.db.migrate import newest_schema
from tests.corpus.releases import FOLDER, dump_postgres, dump_sqlite, populate, program
from tests.harness import versions
from tests.harness.process import ServerProcess
from tests.harness.records import rows, sqlite_file
from tests.harness.roomy import ROOMY
from tests.services.postgres import PostgresServer

_numbers = itertools.count()

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


def kept(release: str, folder: Path, new: Callable[..., ServerProcess]) -> tuple[Path, dict[str, str]]:
    """Returns the dump of a release, or of the program of today, and what clients of that database know."""
    version, _, engine = release.rpartition(".")
    if version != "today":
        return FOLDER / f"{release}.sql", json.loads((FOLDER / f"{version}.json").read_text("utf-8"))[engine]
    server = new().migrate()
    known = populate(server)
    dump = folder / f"{release}.sql"
    dump.write_text((dump_sqlite if engine == "sqlite" else dump_postgres)(server), "utf-8")
    return dump, known


@pytest.mark.parametrize("release", [*(dump.stem for dump in DUMPS), "today.sqlite", "today.postgres"])
def test_database_of_a_release_is_migrated_and_serves(
    release: str, process_server: Callable[..., ServerProcess], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    engine = release.rpartition(".")[2]

    def new() -> ServerProcess:
        if engine == "sqlite":
            return process_server(**ROOMY, DEV=1)
        postgres: PostgresServer = request.getfixturevalue("postgres_server")
        url = postgres.create_database(f"release_{os.getpid()}_{next(_numbers)}")
        return process_server(**ROOMY, DEV=1, DATABASE_URL=url)

    dump, known = kept(release, tmp_path, new)
    server = versions.of(versions.later_source(tmp_path / "later", versions.LATER), new())
    (load_sqlite if engine == "sqlite" else load_postgres)(dump, server)
    posts = rows(server, "SELECT count(*) FROM posts")

    assert "up to date" in server.command("migrate").stdout
    server.start()

    assert rows(server, "SELECT max(version) FROM schema_migrations") == [(newest_schema() + len(versions.LATER),)]
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
