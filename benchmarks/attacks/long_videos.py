"""Two accounts send small files of very many large pictures; strangers send a short clip and wait until it plays."""

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession, FormData
from tests.corpus.clips import Recipe, looped, write

from benchmarks.attacks import Attack, Measure, Stage, make_key, sign_up, usual

SIZE = (8_192, 6_000)
LOOPED = {"too much": 10_000, "just allowed": 1_500}
"""Pictures of each of the attackers' files: 341 loops of a second's clip, and the most that the limits take."""

PAUSE = 2.0


class LongVideos(Attack):
    """Each of two accounts keeps a queue of both files; nothing of them needs to be of any use."""

    name = "long videos"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        folder = Path(tempfile.mkdtemp(prefix="hostile-videos-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, times in LOOPED.items():
            await asyncio.to_thread(looped, folder / name, SIZE, times)
        await asyncio.to_thread(write, folder / "short", Recipe(size=(320, 180), seconds=1.0))
        sessions = [await sign_up(http, stage, f"mallory{number}") for number in range(2)]
        keys = [(await make_key(http, stage, session))[1] for session in sessions]
        _, stranger = await make_key(http, stage, await sign_up(http, stage, "stranger"))
        stage.notes |= {"folder": str(folder), "attackers": keys, "stranger": stranger}

    async def run(self, stage: Stage, http: ClientSession) -> None:
        files = [Path(stage.notes["folder"], name).read_bytes() for name in LOOPED]
        while True:
            for key in stage.notes["attackers"]:
                for data in files:
                    await upload(stage, http, key, data)
            await asyncio.sleep(PAUSE)

    @asynccontextmanager
    async def strangers(self, stage: Stage, http: ClientSession) -> AsyncGenerator[dict[str, Measure]]:
        yield playing(stage, http)


def playing(stage: Stage, http: ClientSession) -> dict[str, Measure]:
    """The usual requests, and a short clip by the key `stranger` until it plays."""
    data = Path(stage.notes["folder"], "short").read_bytes()
    under_way: list[asyncio.Task[None]] = []

    async def play() -> None:
        # One clip at a time; an upload that comes while it is processed waits for it too.
        if not under_way or under_way[0].done():
            under_way[:] = [asyncio.create_task(_until_it_plays(stage, http, data))]
        await asyncio.shield(under_way[0])

    return usual(stage, http) | {"a short clip until it plays": play}


async def _until_it_plays(stage: Stage, http: ClientSession, data: bytes) -> None:
    url = await upload(stage, http, stage.notes["stranger"], data)
    while True:
        async with http.get(url) as answer:
            if answer.status == 200:
                return
        await asyncio.sleep(0.1)


async def upload(stage: Stage, http: ClientSession, key: dict[str, str], data: bytes) -> str:
    """Publishes a post with a video; the video's address."""
    form = FormData()
    form.add_field("media", data, filename="a.mp4", content_type="video/mp4")
    async with http.post(stage.url("/api/posts/upload"), data=form, headers=key) as answer:
        answer.raise_for_status()
        return str((await answer.json())["media"][0]["url"])


ATTACK = LongVideos
