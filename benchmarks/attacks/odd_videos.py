"""One account sends videos of an hour, of very large pictures and of many tracks, as fast as they are taken."""

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import ClientSession
from tests.corpus.clips import Recipe, looped, made, many_tracks

from benchmarks.attacks import Attack, Measure, Stage, make_key, sign_up
from benchmarks.attacks.long_videos import PAUSE, playing, upload

FILES: Final[dict[str, Callable[[Path], None]]] = {
    "an hour, a picture a second": made(Recipe(audio=None, size=(640, 360), rate=1, seconds=3_600)),
    "just short enough": made(Recipe(audio=None, size=(640, 360), rate=1, seconds=590)),
    "four seconds of 8K": lambda path: looped(path, (7_680, 4_320), 100),
    "many tracks": many_tracks,
}


class OddVideos(Attack):
    """A queue of each file, whatever becomes of those before."""

    name = "odd videos"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        folder = Path(tempfile.mkdtemp(prefix="hostile-videos-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, make in FILES.items():
            await asyncio.to_thread(make, folder / name)
        await asyncio.to_thread(made(Recipe(size=(320, 180), seconds=1.0)), folder / "short")
        _, attacker = await make_key(http, stage, await sign_up(http, stage, "mallory"))
        _, stranger = await make_key(http, stage, await sign_up(http, stage, "stranger"))
        stage.notes |= {"folder": str(folder), "attacker": attacker, "stranger": stranger}

    async def run(self, stage: Stage, http: ClientSession) -> None:
        files = [Path(stage.notes["folder"], name).read_bytes() for name in FILES]
        while True:
            for data in files:
                await upload(stage, http, stage.notes["attacker"], data)
            await asyncio.sleep(PAUSE)

    @asynccontextmanager
    async def strangers(self, stage: Stage, http: ClientSession) -> AsyncGenerator[dict[str, Measure]]:
        yield playing(stage, http)


ATTACK = OddVideos
