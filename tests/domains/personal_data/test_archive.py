"""The copy of a large account: complete, and written in bounded memory."""

import asyncio
import json
import tracemalloc
import zipfile
from pathlib import Path

from pressroom.blobs.disk import DiskBlobs
from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Tx
from pressroom.db.migrate import migrate
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.media.models import rendition
from pressroom.domains.personal_data.archive import write_archive

POSTS = 10_000
CHARACTERS = 4_000
VIDEO = 40_000_000
MEMORY = 12_000_000
"""Bytes that may be in use at once: of some 80 million that the copy holds."""

FILL = Command(
    "INSERT INTO posts (id, account_id, content, type, visibility, created_at, updated_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT printf('%026d', i), :account_id, hex(randomblob(:bytes)), 'POST', 'PUBLIC', i, i FROM n"
)

ADD_VIDEO = Command(
    "INSERT INTO media (id, account_id, owner_id, position, token, kind, status, stored_bytes,"
    " created_at) VALUES (:id, :account_id, 'x', 0, 't', 'video/mp4', 'READY', 0, 1)"
)


async def fill(tx: Tx) -> str:
    """Makes an account with many posts and a video; returns its id."""
    account = await create_account(tx, NewAccount("alice", "alice@example.org", "no hash"))
    await tx.run(FILL, account_id=account.id, count=POSTS, bytes=CHARACTERS // 2)
    await tx.run(ADD_VIDEO, account_id=account.id, id="0" * 26)
    return account.id


async def write(folder: Path) -> tuple[Path, int]:
    """Writes the copy of such an account; the zip file, and the most memory that was in use (bytes)."""
    db: Database = open_sqlite(folder / "test.db", SettableClock())
    blobs = DiskBlobs.open(folder / "blobs")
    await migrate(db)
    account_id = await db.transact(fill)
    video = folder / "video"
    with video.open("wb") as file:
        file.truncate(VIDEO)
    await blobs.put_file(rendition("0" * 26, "video.mp4"), video, "video/mp4")
    tracemalloc.start()
    try:
        path = await write_archive(db, blobs, account_id, folder)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        await db.close()
        await blobs.close()
    assert path is not None
    return path, most


def test_a_large_account_takes_little_memory(tmp_path: Path) -> None:
    path, most = asyncio.run(write(tmp_path))

    assert most < MEMORY
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo(f"media/{'0' * 26}.mp4").file_size == VIDEO
        posts = json.loads(archive.read("posts.json"))
        assert len({post["id"] for post in posts}) == POSTS
        assert all(len(post["content"]) == CHARACTERS for post in posts)
