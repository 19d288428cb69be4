"""Backups taken while programs publish, and the recipes of docs/backup.md."""

import asyncio
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import httpx

from tests.harness.observations import NONE_NEEDED, observe
from tests.harness.owners import publish
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, Schedule, told
from tests.harness.records import rows
from tests.harness.wire import ask
from tests.media.uploads import file, image, upload
from tests.services.installation import installed
from tests.services.process import wait_until

PUBLISHERS: Final = 8
POSTS_PER_SECOND: Final = 200
PICTURE_AT: Final = 100
"""Each so many-th post has a picture."""

BLOCKS: Final = re.findall(
    r"```sh\n(.*?)```", (Path(__file__).parents[2] / "docs" / "backup.md").read_text("utf-8"), re.DOTALL
)


class Before:
    """Acknowledged posts before a backup began: contents by post, and addresses of pictures."""

    def __init__(self, posts: dict[str, str], pictures: list[str], told_: str, rate: float) -> None:
        self.posts = posts
        self.pictures = pictures
        self.rate = rate
        self._told = told_

    def observe(self, how: str) -> None:
        """Records that a backup, taken in this way, held all of it."""
        observe(
            f"a backup taken by {how} while {POSTS_PER_SECOND} posts a second are offered",
            f"all of {len(self.posts)} posts acknowledged before it began are there, {len(self.pictures)} pictures"
            f" open; {self.rate:.0f} posts a second reached meanwhile",
            NONE_NEEDED,
        )

    def check_held(self, copy: ServerProcess, key: str) -> None:
        """Raises AssertionError unless a server from the backup has it all, replays it, and has the right counts."""
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
    """Backs up while programs publish, some with pictures; returns the posts acknowledged before."""
    publishers = [Publisher(server, key, f"program{n}") for n in range(PUBLISHERS)]
    return asyncio.run(_back_up(server, publishers, key, back_up))


async def _back_up(
    server: ServerProcess, publishers: list[Publisher], key: str, back_up: Callable[[], object]
) -> Before:
    over, schedule = asyncio.Event(), Schedule(POSTS_PER_SECOND)
    pictures: list[str] = []

    def send_picture(client: httpx.Client, number: int) -> None:
        answer = upload(client, file(image(colour=f"#{number:06x}")))
        pictures.append(answer.json()["media"][0]["url"])

    async def work(publisher: Publisher, client: httpx.Client) -> None:
        while not over.is_set():
            number = await schedule.due()
            if number % PICTURE_AT:
                await publisher.publish_one(number)
            else:
                await asyncio.to_thread(send_picture, client, number)
        publisher.hang_up()

    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        async with asyncio.timeout(240), asyncio.TaskGroup() as group:
            for publisher in publishers:
                group.create_task(work(publisher, client))
            try:
                while len(pictures) < 3 or sum(publisher.settled for publisher in publishers) < 200:
                    await asyncio.sleep(0.01)
                posts = {post: content for each in publishers for content, post in each.acknowledged.items()}
                sent = list(pictures)
                await asyncio.to_thread(back_up)
                rate = schedule.reached(sum(len(each.acknowledged) for each in publishers) + len(pictures))
            finally:
                over.set()
    return Before(posts, sent, told(publishers), rate)


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
