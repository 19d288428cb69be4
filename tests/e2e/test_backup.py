"""`pressroom backup` of an installation that serves, and `pressroom restore` into an empty folder."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import httpx
import pytest

from pressroom.db.migrate import all_migrations
from tests.e2e.backups import back_up_under_load
from tests.harness.beside import api_alone
from tests.harness.deliveries import Endpoint
from tests.harness.observations import observe
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import ask
from tests.media.uploads import upload, wait_until_processed
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

CUT_OFF = "`pressroom serve` refuses what is there of it, and says so; once restored again all is served"


def test_a_backup_under_load_holds_all_that_was_acknowledged_before_it(roomy_server: MakeServer) -> None:
    server = roomy_server().start()
    key = Owner(server).key("all", ("posts:write", "media:write"))

    before = back_up_under_load(server, key, lambda: server.command("backup", "--to", "backup"))
    assert server.stop() == 0

    copy = roomy_server()
    restored = copy.command("restore", "--from", str(server.folder / "backup"))
    assert restored.stdout.startswith("Restored ")
    before.check_held(copy.start(), key)
    before.observe("`pressroom backup`")


def test_a_backup_holds_the_uploads_that_wait(process_server: MakeServer) -> None:
    """Without a word of files that are not made yet, and with one of an upload that is gone."""
    server = process_server()
    with api_alone(server):
        key = Owner(server).key("all", ("media:write",))
        with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}) as client:
            assert upload(client).status_code == 201
        assert server.command("backup", "--to", "backup").stderr == ""

        (waiting,) = (Path(str(server.settings["DATA_DIR"])) / "blobs").rglob("uploads=*")
        waiting.unlink()
        assert "the store lacks uploads/" in server.command("backup", "--to", "another").stderr
    assert json.loads((server.folder / "another" / "manifest.json").read_text())["missing"]


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of one post with a picture."""
    server = ServerProcess(tmp_path_factory.mktemp("origin")).start()
    key = Owner(server).key("all", ("media:write",))
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}) as client:
        assert upload(client).status_code == 201
    wait_until_processed(server)
    server.stop()
    server.command("backup", "--to", "backup")
    return server.folder / "backup"


@pytest.fixture
def damaged(backup: Path, tmp_path: Path) -> Path:
    """A copy of the backup, for a test to spoil."""
    return Path(shutil.copytree(backup, tmp_path / "damaged"))


def refused(server: ServerProcess, *arguments: str) -> str:
    """The one line that a command is refused with, which prints nothing else."""
    done = server.command(*arguments, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line for line in done.stderr.splitlines() if not line.startswith('{"')]
    assert len(lines) == 1, done.stderr
    return lines[0]


def holds(server: ServerProcess) -> set[str]:
    """What stands in the data folder, but for the lock."""
    folder = Path(str(server.settings["DATA_DIR"]))
    return {entry.name for entry in folder.iterdir()} - {"pressroom.db.lock"} if folder.exists() else set()


def test_a_damaged_file_is_named_and_nothing_is_restored(process_server: MakeServer, damaged: Path) -> None:
    server = process_server()
    names = json.loads((damaged / "manifest.json").read_text())["files"]
    spoils = (lambda whole: whole[:-1], lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]), lambda _: None)
    for name, spoil in zip(names, itertools.cycle(spoils), strict=False):
        whole = (damaged / name).read_bytes()
        spoilt = spoil(whole)
        (damaged / name).unlink()
        if spoilt is not None:
            (damaged / name).write_bytes(spoilt)
        assert name in refused(server, "restore", "--from", str(damaged))
        assert holds(server) == set()
        (damaged / name).write_bytes(whole)
    assert server.command("restore", "--from", str(damaged)).returncode == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": all_migrations()[-1].version + 1}, "newer than this version knows"),
        ({"format": 99}, "format that this version does not know"),
        ({"files": {}}, "damaged"),
        ({"files": {"pressroom.db": {"size": 1, "sha256": ""}, "../evil": {"size": 1, "sha256": ""}}}, "../evil"),
        ({"files": {"pressroom.db": {"size": 1, "sha256": ""}, "/etc/evil": {"size": 1, "sha256": ""}}}, "/etc/evil"),
        ({"files": 5}, "damaged"),
    ],
)
def test_a_manifest_that_cannot_be_followed_is_refused(
    process_server: MakeServer, damaged: Path, change: dict[str, object], words: str
) -> None:
    server, file = process_server(), damaged / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    assert words in refused(server, "restore", "--from", str(damaged))
    assert holds(server) == set()


def test_a_folder_that_is_no_backup_is_refused(process_server: MakeServer, tmp_path: Path) -> None:
    assert "is no backup" in refused(process_server(), "restore", "--from", str(tmp_path))


def test_a_folder_in_use_or_not_empty_is_not_restored_into(process_server: MakeServer, backup: Path) -> None:
    server = process_server().start()
    before = holds(server)
    assert "serves this database already" in refused(server, "restore", "--from", str(backup))
    server.stop()
    assert "is not empty" in refused(server, "restore", "--from", str(backup))
    assert holds(server) >= before - {"pressroom.db-wal", "pressroom.db-shm"}


def test_a_backup_is_not_written_over(process_server: MakeServer, backup: Path) -> None:
    server = process_server().start()
    assert "is not empty" in refused(server, "backup", "--to", str(backup))


def test_backup_into_its_own_source_is_refused(process_server: MakeServer) -> None:
    server = process_server().start()
    folder = Path(str(server.settings["DATA_DIR"]))
    for place in (folder / "backup", folder / "blobs" / "x", folder / "blobs" / ".." / "backup"):
        assert "Name a folder elsewhere" in refused(server, "backup", "--to", str(place))
        assert not place.exists()


def test_non_file_in_the_store_is_named_and_not_opened(process_server: MakeServer, tmp_path: Path) -> None:
    server = process_server()
    server.create_account()
    place = Path(str(server.settings["DATA_DIR"])) / "blobs" / "ab" / "cd"
    (place / "folder").mkdir(parents=True)
    os.mkfifo(place / "pipe")
    (place / "link").symlink_to("/dev/zero")
    with contextlib.chdir(place), socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")  # a whole path may be longer than the address of a socket
    (place / "picture").write_bytes(b"picture")

    done = server.command("backup", "--to", str(tmp_path / "backup"))

    manifest = json.loads((tmp_path / "backup" / "manifest.json").read_bytes())
    odd = [f"blobs/ab/cd/{name}" for name in ("folder", "link", "pipe", "socket")]
    assert manifest["skipped"] == odd
    assert [line.split()[1] for line in done.stderr.splitlines()] == odd
    assert manifest["files"].keys() == {"pressroom.db", "blobs/ab/cd/picture"}


def test_a_backup_with_a_pipe_in_the_place_of_a_file_is_refused(process_server: MakeServer, damaged: Path) -> None:
    picture = next(path for path in (damaged / "blobs").rglob("*") if path.is_file())
    picture.unlink()
    os.mkfifo(picture)
    server = process_server()
    assert str(picture) in refused(server, "restore", "--from", str(damaged))
    assert holds(server) == set()


def test_backup_without_a_database_is_refused(process_server: MakeServer) -> None:
    assert "There is no database" in refused(process_server(), "backup", "--to", "backup")


def test_postgres_is_left_to_its_own_tools(process_server: MakeServer, postgres_server: PostgresServer) -> None:
    server = process_server(DATABASE_URL=postgres_server.create_database("no_backup"))
    for arguments in (("backup", "--to", "x"), ("restore", "--from", "x")):
        assert "pg_dump" in refused(server, *arguments)


def test_a_restore_that_was_cut_off_is_never_served(process_server: MakeServer, backup: Path, seed: int) -> None:
    chance, cut_off, tries = Random(seed), 0, 0
    while tries < 4 or (cut_off == 0 and tries < 100):  # a machine at work may leave the test no moment in the middle
        tries += 1
        server = process_server()
        server.folder.mkdir()
        command = [sys.executable, "-m", "pressroom", "restore", "--from", str(backup)]
        restoring = subprocess.Popen(
            command, cwd=server.folder, env=server.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        data = Path(str(server.settings["DATA_DIR"]))
        wait_until(lambda data=data, process=restoring: (data / ".restoring").exists() or process.poll() is not None)
        for _ in range(chance.randrange(2_000)):
            os.getpid()
        restoring.send_signal(signal.SIGKILL)
        restoring.wait(60)
        if (data / ".restoring").exists():
            cut_off += 1
            assert "was cut off" in refused(server, "serve")
            assert server.command("restore", "--from", str(backup)).returncode == 0
        server.start()
        assert rows(server, "SELECT status FROM media") == [("READY",)]
        server.stop()
    assert cut_off, f"PRESSROOM_TEST_SEED={seed}: no kill came in the middle"
    observe("`pressroom restore` killed with -9", CUT_OFF, "by another `pressroom restore`")


def test_doctor_reports_a_restore_that_was_cut_off(process_server: MakeServer) -> None:
    server = process_server()
    data = Path(str(server.settings["DATA_DIR"]))
    (data / ".restoring").mkdir(parents=True)

    doctor = server.command("doctor", check=False)

    assert doctor.returncode == 1
    assert "A restore into" in doctor.stdout
    assert holds(server) - {".restoring"} == set()


def test_acknowledged_writes_of_a_killed_server_are_backed_up(process_server: MakeServer) -> None:
    server = process_server().start()
    post = ask(publish(server, Owner(server).key(), "acknowledged")).json()["id"]
    server.kill()
    server.command("backup", "--to", "backup")
    copy = process_server()
    copy.command("restore", "--from", str(server.folder / "backup"))
    assert rows(copy, "SELECT id FROM posts") == [(post,)]


def test_a_backup_is_one_file_without_a_log(backup: Path) -> None:
    assert {entry.name for entry in backup.iterdir()} == {"pressroom.db", "blobs", "manifest.json"}
    connection = apsw.Connection(str(backup / "pressroom.db"), flags=apsw.SQLITE_OPEN_READONLY)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA journal_mode").fetchall() == [("delete",)]
    connection.close()


def test_restored_copy_served_as_api_alone_delivers_nothing(process_server: MakeServer, tmp_path: Path) -> None:
    server = process_server(**ROOMY, DEV=1).start("--only", "api")
    owner = Owner(server, "rehearsal")
    key = owner.new_key().json()
    with Receiver() as receiver:
        Endpoint(server, owner, key["id"], receiver.url("/hook"), ["post.created"])
        assert ask(publish(server, key["key"], "Delivered by nobody yet.")).status == 201
        server.command("backup", "--to", str(tmp_path / "backup"))
        server.stop()
        copy = process_server(**ROOMY, DEV=1)
        copy.command("restore", "--from", str(tmp_path / "backup"))
        copy.command("maintenance", "on", "--message", "A drill.")

        copy.start("--only", "api")
        page = httpx.get(f"{copy.base_url}/@rehearsal", timeout=20)
        copy.stop()
        log = copy.log.read_text()
        during = receiver.count()
        copy.command("maintenance", "off")
        copy.start()
        receiver.wait(lambda _: receiver.count("/hook") == 1)

    assert (page.status_code, "A drill." in page.text) == (503, True)
    assert "no webhooks are delivered" in log
    assert during == 0
