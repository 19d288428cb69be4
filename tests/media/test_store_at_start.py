"""A bucket that is not there, and a secret that is wrong: told at the start, in one line, and nothing is changed."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.processes import one_line
from tests.harness.process import ServerProcess
from tests.services import seaweed


def contents(folder: Path) -> dict[str, str]:
    """What every file holds."""
    files = (each for each in folder.rglob("*") if each.is_file())
    return {str(each): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


@pytest.mark.parametrize("fault", ["bucket", "secret"])
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_unusable_store_is_reported_at_the_start(
    process_server: Callable[..., ServerProcess],
    bucket_url: str,
    fault: str,
    database: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if fault == "secret" and (reason := seaweed.available()):
        pytest.skip(f"no other store here looks at secrets: {reason}")
    settings: dict[str, object] = {"BLOBS_URL": bucket_url}
    if database == "postgres":
        settings["DATABASE_URL"] = request.getfixturevalue("postgres_server").create_database(f"at_start_{fault}")
    server = process_server(**settings).migrate().start()
    server.stop()
    before = contents(server.folder / "data")
    if fault == "bucket":
        bucket = bucket_url.removeprefix("s3://").partition("/")[0]
        server.settings["BLOBS_URL"] = bucket_url.replace(bucket, "no-such-bucket")
    else:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")

    for command in (("serve",), ("worker",)) if database == "postgres" else (("serve",),):
        line = one_line(server, *command)
        assert "PRESSROOM_BLOBS_URL: the bucket" in line
        assert {"bucket": "404 NoSuchBucket", "secret": "403 SignatureDoesNotMatch"}[fault] in line
        assert "another" not in line
    assert contents(server.folder / "data") == before

    told = server.command("doctor", check=False)
    assert told.returncode == 1
    assert "PRESSROOM_BLOBS_URL: the bucket" in told.stdout + told.stderr
