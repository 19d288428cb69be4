"""The server dies amid uploads and their processing: acknowledged files are READY in the end, once, and alone."""

import asyncio
import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import psutil

from pressroom.clock import HOUR
from pressroom.domains.media.jobs import LEFTOVER, sweep_folders
from pressroom.logs import Log
from pressroom.server.runtime import open_runtime
from pressroom.settings import Settings
from tests.corpus.clips import Recipe
from tests.e2e.kills import STORY_SECONDS
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import Connection, Reply, Request, ask, send
from tests.media.uploads import (
    UPLOAD,
    blobs_below,
    file_part,
    files_below,
    form,
    form_headers,
    image,
    padded,
    text_part,
    video_bytes,
)
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

KILLS = 12
UPLOADERS = 4
PAUSE = 0.15
"""Seconds between two posts of an uploader: more would only wait to be processed."""

BROKEN = b"\xff\xd8\xff\xe0 no picture"


class Uploader:
    """Uploads one post after the other, each under its own Idempotency-Key, until it is acknowledged."""

    def __init__(self, server: ServerProcess, key: str, name: str, video: bytes) -> None:
        self.acknowledged: dict[str, str] = {}
        self.surprises: list[Reply] = []
        self.unanswered = self.replayed = 0
        self._server = server
        self._key = key
        self._name = name
        self._forms = [
            [file_part(image("JPEG", (640, 400)))],
            [file_part(image("PNG"), kind="image/png"), file_part(BROKEN), file_part(image("GIF"), kind="image/gif")],
            [file_part(video, kind="video/mp4"), file_part(padded(300_000))],
        ]

    async def upload_until(self, over: asyncio.Event) -> None:
        """Uploads until `over` is set, and ends its last one."""
        number = 0
        while not over.is_set():
            content = f"{self._name} {number}"
            while content not in self.acknowledged:
                await self._attempt(content, number)
                await asyncio.sleep(0.03)
            number += 1
            await asyncio.sleep(PAUSE)

    async def _attempt(self, content: str, number: int) -> None:
        body = form([*self._forms[number % 3], text_part("content", content)])
        headers = {**form_headers(body, self._key), "Idempotency-Key": content.replace(" ", "-")}
        try:
            connection = await Connection.open(self._server.port)
            with contextlib.closing(connection):
                connection.send(Request(self._server.port, "POST", UPLOAD, headers).head + body)
                reply = await connection.reply()
        except TimeoutError:
            raise
        except OSError:
            self.unanswered += 1
            return
        if reply.status in {200, 201}:
            self.replayed += reply.status == 200
            self.acknowledged[content] = reply.json()["id"]
        elif reply.status != 503:
            self.surprises.append(reply)


def test_a_killed_server_loses_and_doubles_no_media(roomy_server: MakeServer, seed: int, tmp_path: Path) -> None:
    server = roomy_server().start()
    key = Owner(server).key(scopes=("media:write",))
    video = video_bytes(tmp_path, Recipe("mp4", size=(160, 90), seconds=0.4))
    uploaders = [Uploader(server, key, f"program{n}", video) for n in range(UPLOADERS)]

    children = asyncio.run(upload_through(uploaders, server, Random(seed)))

    unanswered, replayed = (sum(getattr(each, name) for each in uploaders) for name in ("unanswered", "replayed"))
    acknowledged = {text: post for each in uploaders for text, post in each.acknowledged.items()}
    story = f"PRESSROOM_TEST_SEED={seed}; {len(acknowledged)} posts, {unanswered} unanswered, {replayed} replayed"
    assert wait_until(lambda: rows(server, "SELECT count(*) FROM jobs") == [(0,)], STORY_SECONDS), story
    assert [reply for each in uploaders for reply in each.surprises] == [], story
    assert all(each.acknowledged for each in uploaders), story
    assert children, story
    assert wait_until(lambda: not any(map(alive, children))), story
    assert dict(rows(server, "SELECT content, id FROM posts")) == acknowledged, story
    assert rows(server, "SELECT count(*) FROM posts") == [(len(acknowledged),)], story
    check_media(server, acknowledged, story)
    assert server.stop() == 0, story
    check_leftovers(server, story)
    print(story)


async def upload_through(uploaders: list[Uploader], server: ServerProcess, chance: Random) -> list[psutil.Process]:
    """All upload while the server is killed; the processes that were its children at a kill."""
    over = asyncio.Event()
    children: list[psutil.Process] = []
    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
        for uploader in uploaders:
            group.create_task(uploader.upload_until(over))
        try:
            for number in range(KILLS):
                await asyncio.sleep(chance.uniform(0, 0.8))
                children += psutil.Process(server.pid).children(recursive=True)
                server.kill()
                if number % 5 == 4:
                    server.launch()
                    await asyncio.sleep(chance.uniform(0, 0.8))
                    server.kill()
                await asyncio.to_thread(server.restart)
        finally:
            over.set()
    return children


def alive(process: psutil.Process) -> bool:
    """Whether a process still does anything."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def check_media(server: ServerProcess, acknowledged: dict[str, str], story: str) -> None:
    """Every file is READY, or FAILED when it is the broken one; it is there once, and it is served."""
    wanted = {0: ["READY"], 1: ["READY", "FAILED", "READY"], 2: ["READY", "READY"]}
    found: dict[str, list[str]] = {}
    tokens: list[str] = []
    for owner, status, token in rows(server, "SELECT owner_id, status, token FROM media ORDER BY owner_id, position"):
        found.setdefault(owner, []).append(status)
        if status == "READY":
            tokens.append(token)
    assert found == {post: wanted[int(text.split()[1]) % 3] for text, post in acknowledged.items()}, story
    answers = Counter(ask(Request(server.port, "GET", f"/media/{token}")).status for token in tokens)
    assert answers == {200: len(tokens)}, story
    used, posts = rows(server, "SELECT sum(used) FROM content_quotas"), len(acknowledged)
    assert (used, rows(server, "SELECT count(*) FROM events")) == ([(posts,)], [(posts,)]), story


def check_leftovers(server: ServerProcess, story: str) -> None:
    """An hour later only served files are left on the disk."""
    data_dir = Path(str(server.settings["DATA_DIR"]))
    long_ago = time.time() - 2 * LEFTOVER / 1_000
    for place in [*data_dir.glob("incoming/*"), *data_dir.glob("processing/*"), *data_dir.glob("blobs/tmp/*")]:
        os.utime(place, (long_ago, long_ago))
    settings = Settings({f"PRESSROOM_{name}": str(value) for name, value in server.settings.items()})

    async def sweep() -> None:
        runtime = await open_runtime(settings, Log(requests=False))
        await runtime.processing.sweep(runtime.clock.now() + LEFTOVER + 1_000)
        await runtime.close()

    asyncio.run(sweep())
    sweep_folders(data_dir)

    ready = {media_id.lower() for (media_id,) in rows(server, "SELECT id FROM media WHERE status = 'READY'")}
    assert {name.split("/")[1] for name in blobs_below(data_dir, "media/")} == ready, story
    assert len(files_below(data_dir)) == len(blobs_below(data_dir, "media/")), story
    assert not [*data_dir.glob("incoming/*"), *data_dir.glob("processing/*")], story


def test_restart_resumes_processing_at_once(roomy_server: MakeServer, tmp_path: Path) -> None:
    server = roomy_server().start()
    key = Owner(server).key(scopes=("media:write",))
    slow = video_bytes(tmp_path, Recipe("webm", "libvpx", None, size=(1280, 720), seconds=3))
    body = form([file_part(slow, kind="video/webm")])
    reply = asyncio.run(send(server, Request(server.port, "POST", UPLOAD, form_headers(body, key)).head + body))
    assert reply.status == 201
    processing = Path(str(server.settings["DATA_DIR"])) / "processing"
    assert wait_until(lambda: any(processing.glob("*/video.mp4")))

    server.kill()
    assert rows(server, "SELECT status, tries FROM media, jobs WHERE subject = media.id") == [("PROCESSING", 0)]
    # Alone on its file it need not wait until the lease of the killed process has run out.
    rows(server, f"UPDATE jobs SET leased_until = leased_until + {HOUR} WHERE lease_token IS NOT NULL")  # noqa: S608
    server.restart()

    ended = wait_until(lambda: rows(server, "SELECT status FROM media") == [("READY",)], STORY_SECONDS)
    assert ended, server.output()
    assert rows(server, "SELECT count(*) FROM jobs") == [(0,)]
