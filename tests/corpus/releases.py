"""Databases of releases: `python -m tests.corpus.releases` keeps one of this version on each engine, as SQL.

releases/0.1.0.sqlite.sql      what `.dump` of SQLite prints
releases/0.1.0.postgres.sql    what pg_dump prints
releases/0.1.0.json            what clients of both know
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw.shell
import httpx

from pressroom import __version__
from tests.harness.deliveries import Endpoint
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows, sqlite_file
from tests.harness.roomy import ROOMY
from tests.media.uploads import upload
from tests.services.installation import installed
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until

FOLDER: Final = Path(__file__).parent / "releases"
PASSWORD: Final = "correct horse"


def program(name: str) -> str:
    """The path of a program of PostgreSQL."""
    place = installed()
    assert place is not None
    return str(place / "bin" / name)


def populate(server: ServerProcess) -> dict[str, str]:
    """Does on a server what makes rows in most tables; what its clients know afterwards."""
    server.start()
    owner, friend = Owner(server), Owner(server, "bob")
    made = owner.new_key("release", ("posts:write", "media:write", "comments:write", "bounces:write")).json()
    Endpoint(server, owner, made["id"], "http://127.0.0.1:9/hook", ["post.created"])
    with (
        httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {made['key']}"}) as client,
        httpx.Client(base_url=server.base_url, headers={"Cookie": friend.cookie}) as reader,
    ):
        poll = {"options": ["yes", "no"]}
        post = _created(client, "/api/posts", {"content": "Of a #release. @bob", "poll": poll})
        client.patch(f"/api/posts/{post}", json={"content": "Of an earlier #release. @bob"}).raise_for_status()
        _created(client, f"/api/posts/{post}/comments", {"content": "A comment."})
        _created(client, f"/api/posts/{post}/bounce", {"content": "A quote."})
        for place in ("like", "save"):
            reader.post(f"/api/posts/{post}/{place}").raise_for_status()
        reader.post(f"/api/posts/{post}/poll/votes", json={"choices": [0]}).raise_for_status()
        reader.post("/api/accounts/alice/follow").raise_for_status()
        _created(reader, "/api/hubs", {"name": "A hub", "slug": "a-hub"})
        assert upload(client).status_code == 201
    wait_until(lambda: rows(server, "SELECT status FROM media") == [("READY",)])
    assert server.stop() == 0
    return {"username": "alice", "password": PASSWORD, "key": made["key"], "post": post}


def dump_sqlite(server: ServerProcess) -> str:
    """The database of a server on SQLite, as SQL."""
    said = io.StringIO()
    shell = apsw.shell.Shell(stdout=said, args=[str(sqlite_file(server))])
    shell.process_command(".dump")
    return said.getvalue()


def dump_postgres(server: ServerProcess) -> str:
    """The database of a server on PostgreSQL, as SQL."""
    command = [program("pg_dump"), "--no-owner", "--no-privileges", f"--dbname={server.settings['DATABASE_URL']}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    # Lines that hold a random word each time, and that only psql of the same age understands.
    return re.sub(r"^\\(un)?restrict .*\n", "", done.stdout, flags=re.MULTILINE)


def keep(folder: Path, version: str) -> None:
    """Writes the databases of this version to a folder."""
    folder.mkdir(exist_ok=True)
    known: dict[str, dict[str, str]] = {}
    dumps: dict[str, Callable[[ServerProcess], str]] = {"sqlite": dump_sqlite, "postgres": dump_postgres}
    with tempfile.TemporaryDirectory() as name, PostgresServer.start(Path(name) / "postgres") as postgres:
        urls = {"sqlite": {}, "postgres": {"DATABASE_URL": postgres.create_database(f"release_{os.getpid()}")}}
        for engine, dump in dumps.items():
            server = ServerProcess(Path(name) / engine, **ROOMY, DEV=1, **urls[engine]).migrate()
            known[engine] = populate(server)
            (folder / f"{version}.{engine}.sql").write_text(dump(server), "utf-8")
    (folder / f"{version}.json").write_text(json.dumps(known, indent=2) + "\n", "utf-8")


def _created(client: httpx.Client, path: str, body: dict[str, object]) -> str:
    answer = client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


if __name__ == "__main__":
    keep(FOLDER, sys.argv[1] if len(sys.argv) > 1 else __version__.partition(".dev")[0])
