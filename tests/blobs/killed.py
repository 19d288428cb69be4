"""Puts two files under one key in turns until it is killed. Arguments: the blobs' folder, the key, the two files."""

import itertools
import sys
from pathlib import Path

import uvloop

from pressroom.blobs.disk import DiskBlobs


async def put_on(folder: Path, key: str, files: list[Path]) -> None:
    """Says `ready` after the first put, and goes on."""
    blobs = DiskBlobs.open(folder)
    for turn, file in enumerate(itertools.cycle(files)):
        await blobs.put_file(key, file, "video/mp4")
        if turn == 0:
            print("ready", flush=True)


if __name__ == "__main__":
    uvloop.run(put_on(Path(sys.argv[1]), sys.argv[2], [Path(name) for name in sys.argv[3:]]))
