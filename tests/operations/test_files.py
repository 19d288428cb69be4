"""Copied media: an error of a store arrives unchanged, for the command to print in one line."""

import asyncio
from pathlib import Path

import pytest

from pressroom.blobs.disk import DiskBlobs
from pressroom.blobs.store import BlobInfo, BlobsAway
from pressroom.errors import SettingError
from pressroom.operations.blob_copies import copy_blobs

KEYS = [f"cards/{number:032}.webp" for number in range(3)]


class Away(DiskBlobs):
    """A store that does not answer."""

    async def stat(self, key: str) -> BlobInfo | None:
        """Fails."""
        raise BlobsAway(f"The store is away: {key}.")


class Forgetful(DiskBlobs):
    """A store that keeps something else than it is given."""

    async def put_file(self, key: str, file: Path, content_type: str) -> None:
        """Stores nothing of the file."""
        await self.put(key, b"else", content_type)


@pytest.mark.parametrize(
    ("store", "error", "says"),
    [(Away, BlobsAway, "The store is away: cards/"), (Forgetful, SettingError, "Run the command once more")],
)
def test_failed_copy_reports_its_reason(
    tmp_path: Path, store: type[DiskBlobs], error: type[Exception], says: str
) -> None:
    async def work() -> None:
        source, target = DiskBlobs.open(tmp_path / "from"), store.open(tmp_path / "to")
        for key in KEYS:
            await source.put(key, key.encode(), "image/webp")
        try:
            with pytest.raises(error, match=says):
                await copy_blobs(source, target, tmp_path, reread=True)
        finally:
            await source.close()
            await target.close()

    asyncio.run(work())
