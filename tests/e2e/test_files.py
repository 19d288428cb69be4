"""The readers of a server's files on disk, and the report of `doctor`."""

import contextlib
import os
import re
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.harness.process import ServerProcess
from tests.harness.small_disk import can_mount, small_disk
from tests.media.uploads import upload
from tests.services.process import wait_until

MakeProcess = Callable[..., ServerProcess]

NOBODY = 65_534
OPEN_HANDED = (
    "import os, sys; os.umask(0); os.execv(sys.executable, [sys.executable, '-m', 'pressroom', *sys.argv[1:]])"
)
# Everything is loaded first: nobody may be kept from the folder that holds Python.
AS_NOBODY = f"""
import os
import asyncio, concurrent.futures.thread, encodings.idna, importlib.readers, importlib.resources, uvloop
import rich._emoji_codes, rich.console
import pressroom.cli, pressroom.db.migrate, pressroom.db.schema, pressroom.operations.doctor
known = pressroom.db.migrate.all_migrations()
pressroom.db.migrate.all_migrations = pressroom.db.schema.all_migrations = lambda: known
if os.geteuid() == 0:
    os.setgroups([]), os.setresgid({NOBODY}, {NOBODY}, {NOBODY}), os.setresuid({NOBODY}, {NOBODY}, {NOBODY})
pressroom.cli.main()
"""


def open_to_others(folder: Path) -> list[str]:
    """What below `folder`, and that itself, has a mode that gives other users any right.

    The server may remove files meanwhile.
    """
    found: list[str] = []
    for place, _, files in os.walk(folder):
        for path in (Path(place), *(Path(place, name) for name in files)):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mode & 0o077:
                    found.append(str(path))
    return found


def test_files_are_readable_by_their_user_only(process_server: MakeProcess) -> None:
    server = process_server()
    server.program = [sys.executable, "-c", OPEN_HANDED]
    email, password = "alice@example.org", "correct horse"
    server.command("migrate")
    server.command("account", "create", "alice", "--email", email, "--password", password)
    scopes = ("--scope", "posts:write", "--scope", "media:write")
    key = server.command("key", "create", "alice", "--label", "test", *scopes).stdout.strip()
    server.start()
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}) as client:
        assert upload(client).status_code == 201
    data = server.folder / "data"
    made = {path.name for path in data.iterdir()}
    assert {"pressroom.db", "pressroom.db-wal", "pressroom.db-shm", "pressroom.db.lock", "blobs"} <= made
    assert open_to_others(data) == []


def test_open_permissions_are_closed_and_reported_at_a_start(process_server: MakeProcess) -> None:
    server = process_server().start()
    server.kill()
    data = server.folder / "data"
    wide = [data, *(data / name for name in ("pressroom.db", "pressroom.db-wal", "pressroom.db-shm", "blobs"))]
    for path in wide:
        path.chmod(0o777 if path.is_dir() else 0o666)
    done = server.command("doctor", check=False)
    assert done.returncode == 1
    assert f"{data}/pressroom.db is open to other users (mode 0666)" in done.stdout

    server.start()
    assert open_to_others(data) == []
    assert wait_until(lambda: "files were open to other users" in server.output())
    assert server.command("doctor").returncode == 0


def test_a_folder_that_holds_other_things_keeps_its_mode(process_server: MakeProcess) -> None:
    server = process_server()
    data = server.folder / "data"
    data.mkdir(parents=True)
    (data / "thesis.odt").touch()
    data.chmod(0o755)
    server.start()
    assert data.stat().st_mode & 0o777 == 0o755
    assert (data / "pressroom.db").stat().st_mode & 0o777 == 0o600


def test_a_link_is_not_followed_and_a_second_name_is_left_alone(process_server: MakeProcess) -> None:
    server = process_server()
    data, victim = server.folder / "data", server.folder / "victim"
    server.folder.mkdir()
    server.folder.chmod(0o755)
    victim.touch()
    victim.chmod(0o644)
    data.mkdir(mode=0o777)
    (data / "blobs").symlink_to(server.folder, target_is_directory=True)
    (data / "pressroom.db.lock").hardlink_to(victim)
    server.start()
    assert victim.stat().st_mode & 0o777 == 0o644
    assert server.folder.stat().st_mode & 0o777 == 0o755


@pytest.fixture
def nobodys() -> Iterator[ServerProcess]:
    """A server in a folder that everybody reaches, run once, whose data are nobody's where the test is root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        server = ServerProcess(folder).start()
        server.stop()
        give(folder / "data")
        server.program = [sys.executable, "-c", AS_NOBODY]
        yield server
        server.kill()


def give(path: Path) -> None:
    """Makes a folder and all that it holds nobody's, where the test is root."""
    if os.geteuid() == 0:
        for each in (path, *path.rglob("*")):
            os.chown(each, NOBODY, NOBODY)


def findings(server: ServerProcess) -> dict[str, str]:
    """The report of `doctor`, by subject; faults begin with "bad"."""
    done = server.command("doctor", check=False)
    assert done.stderr == ""
    found = {line[5:16].strip(): f"{line[:3].strip()}: {line[16:].strip()}" for line in done.stdout.splitlines()}
    assert done.returncode == any(says.startswith("bad") for says in found.values())
    return found


def bad(server: ServerProcess) -> dict[str, str]:
    """Those of the findings that are bad."""
    return {subject: says for subject, says in findings(server).items() if says.startswith("bad")}


def test_a_sound_installation_is_ok(nobodys: ServerProcess) -> None:
    assert bad(nobodys) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root can give a file away.")
def test_a_database_that_belongs_to_someone_else(nobodys: ServerProcess) -> None:
    file = nobodys.folder / "data" / "pressroom.db"
    os.chown(file, 0, 0)
    file.chmod(0o644)
    found = bad(nobodys)
    assert "pressroom.db belongs to user 0; this is user 65534" in found["files"]
    assert "database" in found


def test_a_database_that_cannot_be_written(nobodys: ServerProcess) -> None:
    (nobodys.folder / "data" / "pressroom.db").chmod(0o400)
    assert {"files", "database"} <= bad(nobodys).keys()


@pytest.mark.parametrize("place", ["blobs", "blobs/tmp", "incoming", "processing", ""])
def test_folders_that_cannot_be_used(nobodys: ServerProcess, place: str) -> None:
    folder = nobodys.folder / "data" / place
    folder.mkdir(exist_ok=True)
    give(folder)
    folder.chmod(0o000)
    try:
        found = bad(nobodys)
    finally:
        folder.chmod(0o700)
    assert found.keys() & ({"blobs"} if place.startswith("blobs") else {"disk"})


@pytest.mark.parametrize("place", ["blobs", ""])
def test_doctor_reports_a_missing_folder_and_makes_none(nobodys: ServerProcess, place: str) -> None:
    folder = nobodys.folder / "data" / place
    folder.rename(nobodys.folder / "moved")
    found = bad(nobodys)
    assert f"{folder} is not there." in found["blobs" if place else "disk"]
    assert not folder.exists()


def test_a_working_folder_on_a_full_disk_of_its_own(process_server: MakeProcess) -> None:
    server = process_server().start()
    assert server.stop() == 0
    data = server.folder / "data"
    if not can_mount(server.folder / "probe"):
        pytest.skip("only root can mount a small disk")
    with small_disk(data / "processing", "1m"):
        says = findings(server)["disk"]
    assert says.startswith("bad")
    assert re.search(rf"{data} has [\d,]+ MiB free\. {data}/processing has \d MiB free\.", says)


def test_a_port_that_something_else_has(nobodys: ServerProcess) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", nobodys.port))
        taken.listen()
        assert "Address already in use" in bad(nobodys)["port"]


def test_a_port_that_this_pressroom_has(process_server: MakeProcess) -> None:
    server = process_server().start()
    assert re.match(r"ok: A Pressroom answers on 127\.0\.0\.1:\d+\.", findings(server)["port"])
