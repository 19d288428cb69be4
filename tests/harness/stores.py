"""Stores of files, looked into from outside, and commands that are killed while they fill them."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence

from pressroom.blobs import Blobs, open_blobs
from pressroom.operations.blob_copies import ANY_TIME
from pressroom.settings import Settings
from tests.blobs.conftest import listed, whole
from tests.harness.forks import fork
from tests.harness.process import ServerProcess


def contents(url: str) -> dict[str, bytes]:
    """Every file of a store, with its bytes."""

    async def read() -> dict[str, bytes]:
        store = open_blobs(Settings({"PRESSROOM_BLOBS_URL": url}))
        try:
            return {key: await whole(store.read(key)) for key in await listed(store.list_older("", ANY_TIME))}
        finally:
            await store.close()

    return asyncio.run(read())


def fill(url: str, files: dict[str, bytes]) -> None:
    """Puts files into a store."""

    async def put() -> None:
        store: Blobs = open_blobs(Settings({"PRESSROOM_BLOBS_URL": url}))
        try:
            for key, data in files.items():
                await store.put(key, data, "image/webp")
        finally:
            await store.close()

    asyncio.run(put())


def forget(url: str, keys: Sequence[str]) -> None:
    """Removes files from a store."""

    async def delete() -> None:
        store = open_blobs(Settings({"PRESSROOM_BLOBS_URL": url}))
        try:
            await store.delete(*keys)
        finally:
            await store.close()

    asyncio.run(delete())


def kill_within(seconds: float, server: ServerProcess, *arguments: str) -> None:
    """Starts a command and kills it with -9 after `seconds`, if it has not ended by then."""
    log, environment = server.folder / "killed.log", {**os.environ, **server.environment}
    command = fork(list(arguments), folder=server.folder, environment=environment, log=log)
    try:
        assert command.wait(seconds) == 0, log.read_text()
    except subprocess.TimeoutExpired:
        command.send_signal(signal.SIGKILL)
        command.wait(20)
