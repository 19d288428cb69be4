"""`pressroom backup --into s3://…`: backups in a store, incremental, encrypted, pruned, killed, and restored."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import httpx
import msgspec
import pyrage
import pytest

from pressroom.operations.manifests import Manifest
from tests.blobs.conftest import bucket_url, credentials, s3_server
from tests.harness.mail_server import MailServer
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.stores import contents, fill, forget, kill_within
from tests.harness.wire import ask
from tests.media.uploads import upload, wait_until_processed

__all__ = ["bucket_url", "credentials", "s3_server"]

MakeServer = Callable[..., ServerProcess]

FILES = 60
"""Files of the store of media at a kill, of 1 byte to 200 KB; half of them are others at the next."""

KILLS = 6


@pytest.fixture
def server(process_server: MakeServer) -> ServerProcess:
    """A server that was stopped, with a post that has a picture."""
    server = process_server().start()
    key = Owner(server).key("all", ("posts:write", "media:write"))
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}) as client:
        assert upload(client).status_code == 201
    wait_until_processed(server)
    server.stop()
    return server


def blobs_of(server: ServerProcess) -> str:
    """The store of media of a server."""
    return f"file://{Path(str(server.settings['DATA_DIR'])) / 'blobs'}"


def manifests(store: dict[str, bytes]) -> dict[str, Manifest]:
    """The manifests in a store of backups, by name."""
    return {
        key.removeprefix("backups/").upper(): msgspec.json.decode(data, type=Manifest)
        for key, data in store.items()
        if key.startswith("backups/")
    }


def objects(store: dict[str, bytes]) -> set[str]:
    """The keys of the files in a store of backups."""
    return {key for key in store if key.startswith("objects/")}


def used(store: dict[str, bytes]) -> set[str]:
    """The keys of the files to which the manifests in a store of backups refer."""
    return {f"{each.objects}/{entry.sha256}" for each in manifests(store).values() for entry in each.files.values()}


def age(there: str, name: str) -> None:
    """Gives the only backup of a store the name of another time."""
    (key,) = [key for key in contents(there) if key.startswith("backups/")]
    fill(there, {f"backups/{name.lower()}": contents(there)[key]})
    forget(there, [key])


def test_second_backup_in_a_bucket_adds_new_files_alone_and_restores(
    server: ServerProcess, process_server: MakeServer, bucket_url: str
) -> None:
    server.command("backup", "--into", bucket_url)
    age(bucket_url, "2026-11-20T03-15-00Z")
    first = objects(contents(bucket_url))
    server.start()
    ask(publish(server, Owner(server, "later").key("post"), "After the first backup"))
    server.stop()

    told = server.command("backup", "--into", bucket_url).stdout

    store = contents(bucket_url)
    assert len(objects(store) - first) == 1, "the database alone was sent"
    assert first < objects(store) == used(store)
    assert f"to the bucket {bucket_url.split('/')[2]}/some/prefix, as {max(manifests(store))}." in told
    assert server.command("backup", "--verify", bucket_url).stdout.startswith("All ")
    copy = process_server()
    copy.command("restore", "--from", bucket_url)
    assert ("After the first backup",) in rows(copy, "SELECT content FROM posts")
    assert contents(blobs_of(copy)) == contents(blobs_of(server)) != {}
    earlier = process_server()
    earlier.command("restore", "--from", bucket_url, "--name", "2026-11-20T03-15-00Z")
    assert ("After the first backup",) not in rows(earlier, "SELECT content FROM posts")


def test_encrypted_backup_is_opened_by_its_key_alone(
    server: ServerProcess, process_server: MakeServer, tmp_path: Path
) -> None:
    there = f"file://{tmp_path / 'there'}"
    keys = [pyrage.x25519.Identity.generate() for _ in range(2)]
    for number, each in enumerate(keys):
        (tmp_path / f"key{number}").write_text(f"# created: today\n{each}\n")
    server.command("backup", "--into", there)
    plain = objects(contents(there))

    for _ in range(2):
        server.command("backup", "--into", there, "--encrypt-to", str(keys[0].to_public()))

    store = contents(there)
    assert len(objects(store)) == 2 * len(plain)
    assert all(store[key].startswith(b"age-encryption.org/v1\n") for key in objects(store) - plain)
    for options in ((), ("--identity", str(tmp_path / "key1"))):
        refused = server.command("backup", "--verify", there, *options, check=False)
        assert refused.returncode == 2
        assert "is encrypted" in refused.stderr if not options else "cannot be decrypted" in refused.stderr
    opening = ("--identity", str(tmp_path / "key0"))
    assert server.command("backup", "--verify", there, *opening).stdout.startswith("All ")
    copy = process_server()
    copy.command("restore", "--from", there, *opening)
    assert contents(blobs_of(copy)) == contents(blobs_of(server)) != {}
    assert {path.stat().st_mode & 0o777 for path in copy.folder.rglob("*=*")} == {0o600}


def test_backups_past_their_rules_leave_a_bucket_with_their_files(server: ServerProcess, bucket_url: str) -> None:
    gone = {"media/00000000000000000000000001/large.webp": b"deleted since"}
    fill(blobs_of(server), gone)
    server.command("backup", "--into", bucket_url)
    age(bucket_url, "2026-11-20T03-15-00Z")
    forget(blobs_of(server), list(gone))
    before = objects(contents(bucket_url))

    told = server.command("backup", "--into", bucket_url, "--keep", "daily=1").stdout

    store = contents(bucket_url)
    assert "Removed 2026-11-20T03-15-00Z." in told
    assert len(manifests(store)) == 1
    assert objects(store) == used(store)
    assert before - objects(store)
    assert server.command("backup", "--verify", bucket_url).returncode == 0


def test_manifest_that_cannot_be_read_keeps_all_files(server: ServerProcess, tmp_path: Path) -> None:
    there = f"file://{tmp_path / 'there'}"
    server.command("backup", "--into", there)
    age(there, "2026-11-20T03-15-00Z")
    fill(there, {"backups/2026-11-19t03-15-00z": b"{}"})
    before = contents(there)

    refused = server.command("backup", "--into", there, "--keep", "daily=3", check=False)

    assert refused.returncode == 2
    assert "2026-11-19T03-15-00Z" in refused.stderr
    assert before.items() <= contents(there).items()


def test_damaged_and_missing_files_of_a_store_are_found(server: ServerProcess, tmp_path: Path) -> None:
    there = f"file://{tmp_path / 'there'}"
    server.command("backup", "--into", there)
    store = contents(there)
    (manifest,) = manifests(store).values()
    fill(there, {f"{manifest.objects}/{manifest.files['pressroom.db'].sha256}": b"another"})

    refused = server.command("backup", "--verify", there, check=False)
    assert refused.returncode == 2
    assert "pressroom.db is missing, or differs from the manifest" in refused.stderr

    forget(there, list(objects(store)))
    refused = server.command("restore", "--from", there, check=False)
    assert refused.returncode == 2


def test_backup_killed_at_any_moment_leaves_whole_backups(server: ServerProcess, bucket_url: str, seed: int) -> None:
    dice = Random(seed)
    command = ("backup", "--into", bucket_url, "--keep", "daily=1")

    def change_media(round_: int) -> None:
        here = [key for key in contents(blobs_of(server)) if key.startswith("media/9")]
        forget(blobs_of(server), dice.sample(here, len(here) // 2))
        files = FILES if not here else FILES // 2
        new = {
            f"media/9{round_:04}{number:021}/large.webp": dice.randbytes(dice.choice((1, 900, 200_000)))
            for number in range(files)
        }
        fill(blobs_of(server), new)

    change_media(0)
    began = time.monotonic()
    server.command(*command)
    longest = time.monotonic() - began
    for round_ in range(1, KILLS + 1):
        change_media(round_)
        kill_within(dice.uniform(longest / 4, longest), server, *command)
        store = contents(bucket_url)
        assert manifests(store)
        assert used(store) <= objects(store), "each backup has its files"
        for name in manifests(store):
            assert server.command("backup", "--verify", bucket_url, "--name", name).returncode == 0

    server.command(*command)

    store = contents(bucket_url)
    assert len(manifests(store)) == 1
    assert objects(store) == used(store), "nothing is left of the commands that were killed"
    assert not list(Path(str(server.settings["DATA_DIR"])).glob("backup.tmp*"))
    assert server.command("backup", "--verify", bucket_url).returncode == 0


@pytest.fixture
def mails() -> Iterator[MailServer]:
    """A mail server."""
    server = MailServer()
    server.start()
    yield server
    server.stop()


def test_failed_and_late_backups_are_mailed_by_doctor(
    server: ServerProcess, mails: MailServer, bucket_url: str, tmp_path: Path
) -> None:
    server.settings["SMTP_URL"] = mails.url
    told = ("doctor", "--backup-within", "26", "--mail", "operator@example.org")
    assert server.command(*told, check=False).returncode == 1
    assert "backup: There is none yet." in mails.received[-1].text

    nowhere = bucket_url.replace("s3://", "s3://no-such-")
    assert server.command("backup", "--into", nowhere, check=False).returncode == 2
    assert server.command(*told, check=False).returncode == 1
    assert "failed: PRESSROOM_BLOBS_URL: the bucket" in mails.received[-1].text

    server.command("backup", "--into", bucket_url)
    count = len(mails.received)
    assert server.command(*told).returncode == 0
    assert len(mails.received) == count

    record = Path(str(server.settings["DATA_DIR"])) / "last-backup.json"
    record.write_text(record.read_text().replace('"createdAt":"20', '"createdAt":"19'))
    assert server.command(*told, check=False).returncode == 1
    assert "hours ago" in mails.received[-1].text


@pytest.mark.parametrize(
    "options",
    [
        ("--into", "folder", "--encrypt-to", "age1x"),
        ("--into", "file:///nowhere/at/all", "--encrypt-to", "age1x"),
        ("--verify", "folder", "--name", "2026-11-20T03-15-00Z"),
        ("--to", "s3://bucket"),
    ],
)
def test_options_that_do_not_fit_the_place_are_refused(process_server: MakeServer, options: tuple[str, ...]) -> None:
    assert process_server().command("backup", *options, check=False).returncode == 2
