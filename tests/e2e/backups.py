"""Backups taken while programs publish, and the recipes of docs/backup.md."""

import asyncio
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import httpx

from tests.harness.owners import publish
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, told
from tests.harness.records import rows
from tests.harness.wire import ask
from tests.media.uploads import file, image, upload
from tests.services.installation import installed
from tests.services.process import wait_until

PUBLISHERS: Final = 8

BLOCKS: Final = re.findall(
    r"```sh\n(.*?)```", (Path(__file__).parents[2] / "docs" / "backup.md").read_text("utf-8"), re.DOTALL
)


class Before:
    """What was acknowledged before a backup began: contents by post, and addresses of pictures."""

    def __init__(self, posts: dict[str, str], pictures: list[str], told_: str) -> None:
        self.posts = posts
        self.pictures = pictures
        self._told = told_

    def check_held(self, copy: ServerProcess, key: str) -> None:
        """Raises AssertionError unless a server from the backup has it all, replays it, and counts what it has."""
        held = dict(rows(copy, "SELECT id, content FROM posts"))
        assert {post: held.get(post) for post in self.posts} == self.posts, self._told
        for post_id, content in list(self.posts.items())[:20]:
            replay = ask(publish(copy, key, content, content.replace(" ", "-")))
            assert (replay.status, replay.json()["id"]) == (200, post_id)
        assert [int(used) for (used,) in rows(copy, "SELECT sum(used) FROM content_quotas")] == [len(held)]
        assert len(self.pictures) >= 3
        with httpx.Client(base_url=copy.base_url, timeout=20) as reader:
            for address in self.pictures:
                path = httpx.URL(address).raw_path.decode()
                assert wait_until(lambda path=path: reader.get(path).status_code == 200), path


def back_up_under_load(server: ServerProcess, key: str, back_up: Callable[[], object]) -> Before:
    """Backs up while programs publish and pictures are processed; what was acknowledged before."""
    publishers = [Publisher(server, key, f"program{n}") for n in range(PUBLISHERS)]
    return asyncio.run(_back_up(server, publishers, key, back_up))


async def _back_up(
    server: ServerProcess, publishers: list[Publisher], key: str, back_up: Callable[[], object]
) -> Before:
    over = asyncio.Event()
    pictures: list[str] = []

    def send_pictures() -> None:
        with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
            while not over.is_set():
                answer = upload(client, file(image(colour=f"#{len(pictures):06x}")))
                pictures.append(answer.json()["media"][0]["url"])

    async with asyncio.timeout(240), asyncio.TaskGroup() as group:
        for publisher in publishers:
            group.create_task(publisher.publish(publisher.until(over)))
        group.create_task(asyncio.to_thread(send_pictures))
        try:
            while len(pictures) < 3 or sum(publisher.settled for publisher in publishers) < 200:
                await asyncio.sleep(0.01)
            posts = {post: content for each in publishers for content, post in each.acknowledged.items()}
            sent = list(pictures)
            await asyncio.to_thread(back_up)
        finally:
            over.set()
    return Before(posts, sent, told(publishers))


def recipe(*words: str) -> str:
    """The one recipe of docs/backup.md in which all of these words stand."""
    (found,) = [block for block in BLOCKS if all(word in block for word in words)]
    return str(found)


def run_recipe(script: str, folder: Path, **environment: object) -> None:
    """Runs lines of the docs in a folder, with PostgreSQL's own programs and no terminal."""
    place = installed()
    assert place is not None
    given: Mapping[str, str] = {name: str(value) for name, value in environment.items()}
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **given},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
