"""`pressroom media`: who stores how much; all media move into another store, killed on the way, beside a server."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import httpx
import pytest

from tests.blobs.conftest import bucket_url, credentials, s3_server
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.stores import contents, fill, forget, kill_within
from tests.media.uploads import upload, wait_until_processed
from tests.services.process import wait_until

__all__ = ["bucket_url", "credentials", "s3_server"]

MakeServer = Callable[..., ServerProcess]

FILES = 240
"""Blobs of the store that moves, of 1 byte to 200 KB."""

KILLS = 6


def blobs_of(server: ServerProcess) -> str:
    """The store of a server that has no setting for it."""
    return f"file://{Path(str(server.settings['DATA_DIR'])) / 'blobs'}"


def post_with_picture(server: ServerProcess, owner: Owner) -> str:
    """The path of the picture of a new post, once it is READY."""
    key = owner.new_key("media", ("posts:write", "media:write")).json()["key"]
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=20) as client:
        answer = upload(client)
    assert answer.status_code == 201, answer.text
    wait_until_processed(server)
    return httpx.URL(answer.json()["media"][0]["url"]).raw_path.decode()


def picture(server: ServerProcess, path: str) -> bytes:
    """A file as a reader gets it, from the server or from where it leads."""
    answer = httpx.get(f"{server.base_url}{path}", follow_redirects=True, timeout=20)
    assert answer.status_code == 200, answer.text
    return answer.content


def test_usage_lists_the_accounts_that_store_most(
    process_server: MakeServer, engine_settings: dict[str, object]
) -> None:
    server = process_server(**{**ROOMY, "DEV": 1, **engine_settings}).migrate().start()
    small, large = Owner(server, "small"), Owner(server, "large")
    post_with_picture(server, small)
    for _ in range(2):
        post_with_picture(server, large)
    stored = {
        str(account): int(str(size)) for account, size in rows(server, "SELECT account_id, bytes FROM stored_media")
    }

    usage = json.loads(server.command("media", "usage", "--json").stdout)
    first = json.loads(server.command("media", "usage", "--json", "--limit", "1").stdout)
    table = server.command("media", "usage").stdout

    assert [each["username"] for each in usage["accounts"]] == ["large", "small"]
    assert {each["accountId"]: each["bytes"] for each in usage["accounts"]} == stored
    assert usage["bytes"] == first["bytes"] == sum(stored.values())
    assert [kind["files"] for kind in usage["accounts"][0]["kinds"]] == [2]
    assert sum(kind["bytes"] for kind in usage["accounts"][0]["kinds"]) == stored[large.id]
    assert [each["username"] for each in first["accounts"]] == ["large"]
    assert f"All accounts store {sum(stored.values()):,} bytes." in table


def test_media_move_into_a_bucket_beside_a_server(
    process_server: MakeServer, engine_settings: dict[str, object], bucket_url: str
) -> None:
    server = process_server(**{**ROOMY, "DEV": 1, **engine_settings}).migrate().start()
    owner, here = Owner(server, "mover"), blobs_of(server)
    first = post_with_picture(server, owner)
    before = contents(here)

    dry = server.command("media", "move", "--to", bucket_url, "--dry-run").stdout
    nothing = contents(bucket_url)
    moved = server.command("media", "move", "--to", bucket_url).stdout
    again = server.command("media", "move", "--to", bucket_url).stdout
    second = post_with_picture(server, owner)
    added = len(contents(here)) - len(before)
    later = server.command("media", "move", "--to", bucket_url).stdout
    bytes_before = [picture(server, path) for path in (first, second)]

    assert dry.startswith(f"{len(before)} of {len(before)} files ({sum(map(len, before.values())):,} bytes) would be")
    assert nothing == {}
    assert moved.startswith(f"{len(before)} of {len(before)} files")
    assert "set PRESSROOM_BLOBS_URL to the new store" in moved
    assert again.startswith(f"0 of {len(before)} files (0 bytes) copied")
    assert added > 0
    assert later.startswith(f"{added} of {len(before) + added} files")
    assert contents(bucket_url) == contents(here)
    server.stop()
    server.settings["BLOBS_URL"] = bucket_url
    server.start()
    assert [picture(server, path) for path in (first, second)] == bytes_before
    refused = server.command("media", "move", "--to", bucket_url, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "already" in refused.stderr


def test_files_deleted_since_they_were_copied_are_pruned(process_server: MakeServer, tmp_path: Path) -> None:
    server, there = process_server(**ROOMY, DEV=1).start(), f"file://{tmp_path / 'there'}"
    owner = Owner(server, "gone")
    post_with_picture(server, owner)
    server.command("media", "move", "--to", there)
    kept = post_with_picture(server, Owner(server, "stays"))
    copied = contents(there)
    server.command("account", "delete", "gone", "--yes")
    assert wait_until(lambda: not rows(server, f"SELECT id FROM media WHERE account_id = '{owner.id}'"))  # noqa: S608

    dry = server.command("media", "move", "--to", there, "--prune", "--dry-run").stdout
    assert copied.keys() <= contents(there).keys()
    done = server.command("media", "move", "--to", there, "--prune").stdout

    assert f"{len(copied)} files would be removed there." in dry
    assert f"{len(copied)} files removed there." in done
    assert contents(there) == contents(blobs_of(server)) != {}
    assert picture(server, kept)


def test_file_with_a_row_is_never_pruned(process_server: MakeServer, tmp_path: Path) -> None:
    server, there = process_server(**ROOMY, DEV=1).start(), f"file://{tmp_path / 'there'}"
    post_with_picture(server, Owner(server, "after"))
    ((media_id,),) = rows(server, "SELECT id FROM media")
    # As after the change to the new store, with a command that still has the earlier settings.
    newer = {f"media/{str(media_id).lower()}/video.mp4": b"newer", "uploads/newer": b"staged", "media/x": b"foreign"}
    fill(there, newer)

    server.command("media", "move", "--to", there, "--prune")

    left = contents(there)
    assert {key: left.get(key) for key in newer} == {**newer, "media/x": None}


@pytest.mark.parametrize("way", ["disk to s3", "s3 to disk"])
def test_move_killed_at_any_moment_is_ended_by_another_run(
    way: str, process_server: MakeServer, bucket_url: str, tmp_path: Path, seed: int
) -> None:
    dice, folder = Random(seed), f"file://{tmp_path / 'folder'}"
    here, there = (folder, bucket_url) if way == "disk to s3" else (bucket_url, folder)
    server = process_server(**ROOMY, BLOBS_URL=here)
    server.create_account()
    files = {
        f"media/{number:026}/large.webp": dice.randbytes(dice.choice((1, 900, 200_000))) for number in range(FILES)
    }
    fill(here, files)
    arguments = ["media", "move", "--to", there]

    began = time.monotonic()
    server.command(*arguments)
    longest = time.monotonic() - began
    assert contents(there) == files

    for _ in range(KILLS):
        # So that each run has work left at the moment of its end, however quick it is.
        present = sorted(contents(there))
        forget(there, dice.sample(present, len(present) // 2))
        kill_within(dice.uniform(longest / 4, longest), server, "media", "move", "--to", there)
        copied = contents(there)
        assert copied == {key: files[key] for key in copied}, "no file is there in part"
        assert contents(here) == files

    done = server.command(*arguments).stdout

    assert f"of {FILES} files" in done
    assert contents(there) == files == contents(here)
    assert server.command(*arguments).stdout.startswith(f"0 of {FILES} files")
