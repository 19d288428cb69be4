"""`pressroom backup --into`: a folder of backups that share their media, and `--verify`."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from pressroom.errors import SettingError
from pressroom.operations.kept_backups import kept, parse_keep
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import ask
from tests.media.uploads import upload, wait_until_processed
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

KEYS: dict[str, str] = {}
"""The key of each server, by its address."""


@pytest.fixture
def server(process_server: MakeServer) -> ServerProcess:
    """A server with one picture that is READY."""
    server = process_server().start()
    key = Owner(server).key("all", ("posts:write", "media:write"))
    KEYS[server.base_url] = key
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}) as client:
        assert upload(client).status_code == 201
    wait_until_processed(server)
    return server


def backups(server: ServerProcess) -> list[Path]:
    """The backups in the folder, oldest first."""
    return sorted(each for each in (server.folder / "backups").iterdir() if each.is_dir())


def back_up(server: ServerProcess, *options: str) -> Path:
    """Makes a backup and returns it."""
    said = server.command("backup", "--into", "backups", *options).stdout
    return server.folder / said.splitlines()[0].rpartition(" to ")[2].rstrip(".")


def age(backup: Path, name: str) -> Path:
    """Gives a backup the name of another time."""
    return backup.rename(backup.with_name(name))


def media(backup: Path) -> dict[str, int]:
    """The media of a backup and their inodes."""
    return {
        file.relative_to(backup).as_posix(): file.stat().st_ino
        for file in (backup / "blobs").rglob("*")
        if file.is_file()
    }


def begun(server: ServerProcess) -> list[str]:
    """The files of backups without a manifest. The command may be removing some of them."""
    partial = [each for each in backups(server) if not (each / "manifest.json").exists()]
    return [file for each in partial for _, _, files in os.walk(each) for file in files]


def test_second_backup_shares_media_with_the_first_and_restores(
    server: ServerProcess, process_server: MakeServer
) -> None:
    first = age(back_up(server), "2026-11-20T03-15-00Z")
    ask(publish(server, KEYS[server.base_url], "After the first backup"))
    second = back_up(server)
    server.stop()

    assert media(first)
    assert media(first).items() <= media(second).items()
    shutil.rmtree(first)
    assert server.command("backup", "--verify", str(second)).stdout.startswith("All ")
    copy = process_server()
    copy.command("restore", "--from", str(second))
    assert ("After the first backup",) in rows(copy, "SELECT content FROM posts")


def test_backups_past_their_rules_are_removed(server: ServerProcess) -> None:
    for name in ("2026-11-01T03-15-00Z", "2026-11-20T03-15-00Z", "2026-11-20T18-00-00Z"):
        age(back_up(server), name)

    newest = back_up(server, "--keep", "daily=2")

    assert [each.name for each in backups(server)] == ["2026-11-20T18-00-00Z", newest.name]
    assert server.command("backup", "--verify", str(backups(server)[0])).returncode == 0


def test_backup_that_was_cut_off_is_removed_by_the_next_and_never_linked(server: ServerProcess) -> None:
    cut_off = age(back_up(server), "2026-11-20T03-15-00Z")
    (cut_off / "manifest.json").unlink()
    beside = server.folder / "backups" / "notes"
    beside.mkdir()

    made = back_up(server, "--keep", "daily=1")

    assert [each.name for each in backups(server)] == [made.name, "notes"]


def test_killed_backups_leave_complete_ones_alone(server: ServerProcess) -> None:
    first = age(back_up(server, "--keep", "daily=1"), "2026-11-20T03-15-00Z")
    arguments = [*server.program, "backup", "--into", "backups", "--keep", "daily=1"]
    for files in range(1, 2 + len(media(first))):
        with subprocess.Popen(arguments, cwd=server.folder, env=server.environment) as command:
            while command.poll() is None and len(begun(server)) < files:
                pass
            command.kill()
        complete = [each for each in backups(server) if (each / "manifest.json").exists()]
        assert complete
        for each in complete:
            assert server.command("backup", "--verify", str(each)).returncode == 0

    # A backup is named after its second, and the last command may have made one in this second.
    assert wait_until(lambda: backups(server)[-1].name < datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ"))
    newest = back_up(server, "--keep", "daily=1")
    assert newest in backups(server)
    assert all((each / "manifest.json").exists() for each in backups(server))


def test_old_backup_is_reported_by_doctor(server: ServerProcess) -> None:
    made = back_up(server)
    record = Path(str(server.settings["DATA_DIR"])) / "last-backup.json"
    assert f"in {made}." in server.command("doctor", check=False).stdout

    record.write_text(record.read_text().replace(made.name[:4], "2020", 1))

    told = server.command("doctor", check=False)
    assert "bad  backup" in told.stdout
    assert told.returncode == 1


def test_file_of_another_size_is_copied_again(server: ServerProcess) -> None:
    first = age(back_up(server), "2026-11-20T03-15-00Z")
    damaged, *_ = media(first)
    (first / damaged).write_bytes(b"half of it")

    assert server.command("backup", "--verify", str(back_up(server))).returncode == 0
    refused = server.command("backup", "--verify", str(first), check=False)
    assert refused.returncode == 2
    assert damaged in refused.stderr


def test_flipped_bit_is_found_by_verify(server: ServerProcess) -> None:
    made = back_up(server)
    database = made / "pressroom.db"
    whole = bytearray(database.read_bytes())
    whole[-1] ^= 1
    database.write_bytes(whole)

    refused = server.command("backup", "--verify", str(made), check=False)

    assert refused.returncode == 2
    assert "pressroom.db is missing, or differs from the manifest" in refused.stderr


def test_manifest_of_a_linked_backup_lists_every_file(server: ServerProcess) -> None:
    first, second = age(back_up(server), "2026-11-20T03-15-00Z"), back_up(server)

    files = [json.loads((each / "manifest.json").read_text())["files"] for each in (first, second)]

    assert {name: files[0][name] for name in media(first)} == {name: files[1][name] for name in media(second)}


@pytest.mark.parametrize(
    "options",
    [(), ("--to", "a", "--into", "b"), ("--to", "a", "--keep", "daily=1"), ("--into", "b", "--keep", "hourly=3")],
)
def test_options_that_do_not_go_together_are_refused(process_server: MakeServer, options: tuple[str, ...]) -> None:
    assert process_server().command("backup", *options, check=False).returncode == 2


DAYS = [f"2026-11-{day:02}T03-15-00Z" for day in range(1, 28)]


@pytest.mark.parametrize(
    ("names", "keep", "expected"),
    [
        (DAYS, {"daily": 3}, DAYS[-3:]),
        (DAYS, {"weekly": 2}, [DAYS[21], DAYS[26]]),
        (DAYS, {"daily": 1, "monthly": 5}, [DAYS[26]]),
        (["2025-12-31T23-59-59Z", "2026-01-01T00-00-01Z"], {"weekly": 9}, ["2026-01-01T00-00-01Z"]),
        (["2026-01-31T01-00-00Z", "2026-02-01T01-00-00Z"], {"monthly": 2}, None),
        ([*DAYS[:3], "2026-11-03T18-00-00Z"], {"daily": 2}, [DAYS[1], "2026-11-03T18-00-00Z"]),
    ],
)
def test_newest_of_each_period_is_kept(names: list[str], keep: dict[str, int], expected: list[str] | None) -> None:
    assert sorted(kept(names, keep)) == (names if expected is None else expected)


@pytest.mark.parametrize("rules", ["", "daily", "daily=0", "daily=-1", "daily=7;weekly=4", "yearly=1", "daily=7,"])
def test_rules_that_are_not_understood_are_refused(rules: str) -> None:
    with pytest.raises(SettingError):
        parse_keep(rules)
