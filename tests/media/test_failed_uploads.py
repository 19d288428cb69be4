"""An upload that fails leaves nothing: no spool, no staged file, nothing in the store, no row."""

import importlib
import os
from collections.abc import Callable
from typing import Any

import pytest

from pressroom.db import DiskFull
from pressroom.errors import Unavailable
from pressroom.web.spool import Spool
from tests.api.actors import Actor, publish
from tests.api.conftest import one_engine
from tests.harness.roomy import ROOMY
from tests.harness.small_disk import can_mount, small_disk
from tests.media.uploads import file, kept, padded, upload

SETTINGS = ROOMY

FILES = 3
MOST_STEPS = 60


class Nth:
    """Stands before a function, and has its nth call from now fail."""

    def __init__(self, real: Callable[..., Any], number: int, error: Exception) -> None:
        self.left = number
        self._real = real
        self._error = error

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Counts, fails once, or does it."""
        self.left -= 1
        if self.left == 0:
            raise self._error
        return self._real(*given, **named)


FULL = OSError(28, "No space left on device")
STEPS: dict[str, tuple[Any, str, Exception]] = {
    "write to the store": ("pressroom.blobs.disk.write_whole", "", FULL),
    "flush to the store": (os, "fsync", OSError(5, "Input/output error")),
    "name in the store": ("pressroom.blobs.disk.Path.replace", "", FULL),
    "write to the spool": (Spool, "_write_now", FULL),
}


@one_engine
@pytest.mark.parametrize("step", STEPS)
def test_a_disk_that_fails_at_any_write(alice: Actor, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    owner, name, error = STEPS[step]
    if isinstance(owner, str):
        module, _, name = owner.rpartition(".")
        owner = import_owner(module)
    files = [file(padded(600_000 + number)) for number in range(FILES)]
    before = kept(alice.server)
    failed = 0
    for number in range(1, MOST_STEPS):
        nth = Nth(getattr(owner, name), number, error)
        with monkeypatch.context() as broken:
            broken.setattr(owner, name, as_method(nth) if isinstance(owner, type) else nth)
            answer = upload(alice.api, *files)
        if nth.left > 0:
            assert answer.status_code == 201
            break
        failed += 1
        assert (answer.status_code, answer.json()["error"]) == (503, "Unavailable"), number
        assert int(answer.headers["retry-after"]) > 0
        assert kept(alice.server) == before, number
    assert failed >= FILES


def import_owner(path: str) -> Any:
    """A module, or a class in one."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


def as_method(nth: Nth) -> Callable[..., Any]:
    """A function, so that a class binds it."""

    def method(*given: Any, **named: Any) -> Any:
        return nth(*given, **named)

    return method


def test_a_database_whose_disk_is_full(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    server = alice.server
    publish(alice)
    before = kept(server)
    real = server.runtime.db.transact

    async def full(action: Any, *given: Any, **named: Any) -> Any:
        raise DiskFull("The disk is full. Nothing was written.", 10)

    monkeypatch.setattr(server.runtime.db, "transact", full)
    answer = upload(alice.api, *(file() for _ in range(FILES)))
    monkeypatch.setattr(server.runtime.db, "transact", real)

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert kept(server) == before


def test_a_store_that_goes_away_after_some_files(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    server = alice.server
    before = kept(server)
    for number in range(1, FILES + 1):
        nth = Nth(server.runtime.blobs.put_file, number, Unavailable("The store is away.", 7))
        with monkeypatch.context() as away:
            away.setattr(server.runtime.blobs, "put_file", nth)
            answer = upload(alice.api, *(file() for _ in range(FILES)))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
        assert kept(server) == before


@one_engine
def test_forty_uploads_to_a_disk_that_is_full(alice: Actor) -> None:
    server = alice.server
    blobs = server.settings.data_dir / "blobs"
    if not can_mount(server.settings.data_dir / "probe"):
        pytest.skip("only root can mount a small disk")
    before = kept(server)
    with small_disk(blobs, "1m"):
        (blobs / "tmp").mkdir()
        answers = [upload(alice.api, *(file(padded(400_000)) for _ in range(FILES))) for _ in range(40)]
        assert {answer.status_code for answer in answers} == {503}
        assert [path for path in blobs.rglob("*") if path.is_file()] == []
    assert kept(server) == before
