"""Stores media bytes under keys, on local disk or in an S3-compatible store (docs/operations.md#media).

blobs = open_blobs(settings)
await blobs.put_file("media/01J…/large.webp", file, "image/webp")     durable when it returns
async for piece in blobs.read("media/01J…/large.webp", 0, 1_000):     pieces of at most 32 KiB
    …
"""

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

from pressroom.blobs.disk import DiskBlobs
from pressroom.blobs.store import BlobInfo, BlobMissing, Blobs, BlobsAway
from pressroom.settings import Settings

__all__ = ["BlobInfo", "BlobMissing", "Blobs", "BlobsAway", "open_blobs", "opened_blobs"]


def open_blobs(settings: Settings) -> Blobs:
    """Opens the store of PRESSROOM_BLOBS_URL and checks that it can be used. Blocks: call it at the start only.

    Raises SettingError when the folder cannot be made or written, or the bucket is missing or out of reach.
    """
    url = settings.blobs_url
    if url.startswith("file://"):
        return DiskBlobs.open(Path(url.removeprefix("file://")))
    from pressroom.blobs.s3 import S3Blobs  # its client takes 4 MB

    folder = settings.installation
    return S3Blobs.open(url, settings.blobs_timeout_seconds, "" if folder == "pressroom" else folder)


@contextlib.asynccontextmanager
async def opened_blobs(settings: Settings) -> AsyncGenerator[Blobs]:
    """Opens the store as `open_blobs` does, for a command, and closes it at the end of the block."""
    blobs = open_blobs(settings)
    try:
        yield blobs
    finally:
        await blobs.close()
