"""The power is cut on SQLite and a disk that loses everything unsynced: acknowledged writes are there."""

import asyncio
import contextlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from pressroom.operations.backup import back_up
from pressroom.operations.manifests import FolderBackup
from pressroom.operations.restore import restore
from pressroom.operations.transfer import marks
from pressroom.operations.transfer.source import remove_mark, write_mark
from tests.e2e.kills import STORY_SECONDS
from tests.harness import volatile_disk
from tests.harness.databases import settings_of
from tests.harness.observations import NONE_NEEDED, observe
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, told
from tests.harness.records import disagreements, rows
from tests.harness.volatile_disk import PowerCut, VolatileDisk, after_power_cut, mounted
from tests.harness.wire import ask
from tests.media.uploads import file, image, upload, wait_until_processed
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

CUTS = 3
POSTS_BEFORE_A_CUT = 60


def data_of(server: ServerProcess) -> Path:
    """Its data folder."""
    return Path(str(server.settings["DATA_DIR"]))


def put_on_volatile_disk(server: ServerProcess, disk: Path | None = None) -> Path:
    """Has the server start on a disk, that of its data unless another is given. Returns the folder of what is kept."""
    disk = disk or data_of(server)
    kept = disk.with_name(f"{disk.name}.kept")
    server.program = [sys.executable, volatile_disk.__file__, str(disk), str(kept)]
    return kept


def cut_power(server: ServerProcess, kept: Path) -> None:
    """Ends the server, and gives it the disk after a power cut."""
    server.kill()
    place = data_of(server)
    server.settings["DATA_DIR"] = after_power_cut(kept, place.with_name(f"{place.name}+"))


def test_acknowledged_posts_survive_power_cuts(roomy_server: MakeServer) -> None:
    server = roomy_server().start()
    keys = [Owner(server, name).key() for name in ("alice", "bob")]
    publishers = [Publisher(server, keys[n % 2], f"program{n}") for n in range(6)]
    assert server.stop() == 0

    async def story() -> None:
        over = asyncio.Event()
        async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
            for publisher in publishers:
                group.create_task(publisher.publish(publisher.until(over)))
            try:
                for cut in range(1, CUTS + 1):
                    kept = put_on_volatile_disk(server)
                    await asyncio.to_thread(server.restart)
                    while sum(each.settled for each in publishers) < cut * POSTS_BEFORE_A_CUT:
                        await asyncio.sleep(0.01)
                    await asyncio.to_thread(cut_power, server, kept)
                put_on_volatile_disk(server)
                await asyncio.to_thread(server.restart)
            finally:
                over.set()

    asyncio.run(story())
    assert server.stop() == 0, server.output()
    assert disagreements(server, publishers) == [], told(publishers)
    observe(
        f"the power is cut {CUTS} times on SQLite; the disk loses every write that was not synced",
        f"all of {sum(len(each.acknowledged) for each in publishers)} acknowledged posts are there, each once",
        NONE_NEEDED,
    )


def test_first_post_survives_a_power_cut(roomy_server: MakeServer, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    server = roomy_server(DATA_DIR=disk / "new" / "data", DEV=1)
    kept = put_on_volatile_disk(server, disk)
    server.start()
    key = server.printed_key()
    post = ask(publish(server, key, "first", "once")).json()
    server.kill()

    server.settings["DATA_DIR"] = after_power_cut(kept, tmp_path / "left") / "new" / "data"
    put_on_volatile_disk(server)
    server.start()
    replay = ask(publish(server, key, "first", "once"))
    assert (replay.status, replay.json()["id"]) == (200, post["id"])


def test_acknowledged_pictures_survive_a_power_cut(roomy_server: MakeServer) -> None:
    server = roomy_server().start()
    key = Owner(server).key("all", ("posts:write", "media:write"))
    assert server.stop() == 0
    kept = put_on_volatile_disk(server)
    server.start()
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=20) as client:
        answers = [upload(client, file(image(colour=f"#{number:06x}"))) for number in range(4)]
        assert wait_until(lambda: ("READY",) in rows(server, "SELECT status FROM media"))
        answers.append(upload(client, file(image(colour="blue"))))
    assert {answer.status_code for answer in answers} == {201}
    cut_power(server, kept)
    put_on_volatile_disk(server)
    server.start()

    with httpx.Client(base_url=server.base_url, timeout=20) as reader:
        for answer in answers:
            path = httpx.URL(answer.json()["media"][0]["url"]).raw_path.decode()
            assert wait_until(lambda path=path: reader.get(path).status_code == 200), path
    assert rows(server, "SELECT DISTINCT status FROM media") == [("READY",)]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> ServerProcess:
    """An installation that was stopped, of a post with a picture and one without."""
    server = ServerProcess(tmp_path_factory.mktemp("origin")).start()
    key = Owner(server).key("all", ("media:write", "posts:write"))
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}) as client:
        assert upload(client).status_code == 201
    assert ask(publish(server, key, "text")).status == 201
    wait_until_processed(server)
    assert server.stop() == 0
    return server


def taken_backup(installation: ServerProcess, to: Path) -> None:
    """Takes a backup in this process."""
    asyncio.run(back_up(settings_of(installation.settings), to))


def is_whole(folder: Path, installation: ServerProcess) -> bool:
    """Whether a data folder holds the rows of the installation."""
    names = {path.relative_to(folder) for path in folder.rglob("*") if "blobs" in path.parts and path.is_file()}
    blobs = data_of(installation) / "blobs"
    expected = {path.relative_to(blobs.parent) for path in blobs.rglob("*") if path.is_file()}
    copy = ServerProcess(folder.parent, DATA_DIR=folder)
    return names == expected and len(rows(copy, "SELECT id FROM posts WHERE content IS NOT NULL")) == 1


def test_backup_cut_off_at_any_sync_is_no_backup_or_a_whole_one(installation: ServerProcess, tmp_path: Path) -> None:
    wholes, ended = [], False
    for cut_at in range(200):
        seen = tmp_path / f"disk{cut_at}"
        seen.mkdir()
        with mounted(VolatileDisk(seen, tmp_path / f"kept{cut_at}", cut_at)), contextlib.suppress(PowerCut):
            taken_backup(installation, seen / "backup")
            ended = True
        left = after_power_cut(tmp_path / f"kept{cut_at}", tmp_path / f"left{cut_at}")
        wholes.append((left / "backup" / "manifest.json").exists())
        if wholes[-1]:
            data = tmp_path / f"data{cut_at}"
            data.mkdir()
            asyncio.run(restore(settings_of({"DATA_DIR": data}), FolderBackup(left / "backup")))
            assert is_whole(data, installation)
        for folder in (seen, left):
            shutil.rmtree(folder)
        if ended:
            break
    assert ended
    assert (wholes[0], wholes[-1]) == (False, True)


def test_restore_cut_off_at_any_sync_is_not_served_or_whole(installation: ServerProcess, tmp_path: Path) -> None:
    taken_backup(installation, tmp_path / "backup")
    ends, ended = [], False
    for cut_at in range(200):
        seen = tmp_path / f"disk{cut_at}"
        seen.mkdir()
        with mounted(VolatileDisk(seen, tmp_path / f"kept{cut_at}", cut_at)), contextlib.suppress(PowerCut):
            asyncio.run(restore(settings_of({"DATA_DIR": seen}), FolderBackup(tmp_path / "backup")))
            ended = True
        left = after_power_cut(tmp_path / f"kept{cut_at}", tmp_path / f"left{cut_at}")
        there = {entry.name for entry in left.iterdir()} - {"pressroom.db.lock"}
        if there and ".restoring" not in there:
            assert is_whole(left, installation)
        elif cut_at % 5 == 0 or ended:
            asyncio.run(restore(settings_of({"DATA_DIR": left}), FolderBackup(tmp_path / "backup")))
            assert is_whole(left, installation)
        ends.append("whole" if there and ".restoring" not in there else "refused" if there else "empty")
        if ended:
            break
    assert ended
    assert ends[-1] == "whole"
    assert "refused" in ends


def test_mark_of_a_transfer_survives_a_power_cut_until_it_is_removed(tmp_path: Path) -> None:
    seen = tmp_path / "disk"
    seen.mkdir()
    (seen / "pressroom.db").touch()
    with mounted(VolatileDisk(seen, tmp_path / "kept")):
        write_mark(seen / "pressroom.db", "an id")
        marked = after_power_cut(tmp_path / "kept", tmp_path / "marked")
        remove_mark(seen / "pressroom.db")
        unmarked = after_power_cut(tmp_path / "kept", tmp_path / "unmarked")
    assert marks.read_file(marked / "pressroom.db") == "an id"
    assert marks.read_file(unmarked / "pressroom.db") is None
