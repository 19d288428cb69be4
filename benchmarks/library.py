"""What pages are measured on: accounts with few posts and with many, and a post with many comments.

python -m benchmarks.library FOLDER    makes `pressroom.db` there, by the package that is imported
"""

import argparse
from pathlib import Path
from typing import Final

import uvloop

from pressroom.clock import SystemClock
from pressroom.db import Command, Tx
from pressroom.db.migrate import migrate
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope

FEW: Final = 100
MANY: Final = 100_000
COMMENTS: Final = 1_000
AUTHORS: Final = 50

FILL: Final = Command(
    "INSERT INTO posts (id, account_id, type, content, visibility, created_at, updated_at, comments)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT '0000000' || (2000000000000000000 + 10 * i + :place), :account_id, 'POST', :content, 'PUBLIC',"
    " :now, :now, 0 FROM n"
)

DISCUSS: Final = Command(
    "INSERT INTO comments (account_id, id, post_id, parent_id, thread_id, content, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :count - 1)"
    " SELECT a.id, '0000000' || (2000000000000000000 + i), :post_id,"
    " CASE WHEN i % 4 > 0 THEN '0000000' || (2000000000000000000 + i - 1) END,"
    " '0000000' || (2000000000000000000 + i - i % 4), :content, :now"
    " FROM n JOIN accounts a ON a.username_key = 'author' || (i % :authors)"
)

COUNT: Final = Command("UPDATE posts SET comments = :count WHERE id = :post_id")

CONTENT: Final = (
    "The harbour bridge opens again on Monday, two weeks early. @author1 has the pictures, and what it cost:"
    " https://example.org/harbour/bridge?from=pressroom #harbour #bridges"
)
"""A post as people write them: with an address, a mention and hashtags, which all become links."""

PAGES: Final = {
    f"permalink with {COMMENTS:,} comments": f"/post/0000000{2_000_000_000_000_000_010}",
    f"profile of {FEW:,} posts": "/@author0",
    f"profile of {MANY:,} posts": "/@author1",
}
"""The pages by their names."""


async def make_library(file: Path) -> str:
    """Makes a database in `file` with all that the pages show; the secret of a key."""
    db = open_sqlite(file, SystemClock())
    try:
        await migrate(db)
        return await db.transact(_fill)
    finally:
        await db.close()


async def _fill(tx: Tx) -> str:
    names = [f"author{number}" for number in range(AUTHORS)]
    authors = [await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash")) for name in names]
    for place, count in enumerate((FEW, MANY)):
        await tx.run(FILL, account_id=authors[place].id, count=count, place=place, content=CONTENT, now=tx.now)
    post_id = PAGES[f"permalink with {COMMENTS:,} comments"].removeprefix("/post/")
    await tx.run(DISCUSS, post_id=post_id, count=COMMENTS, authors=AUTHORS, content=CONTENT, now=tx.now)
    await tx.run(COUNT, post_id=post_id, count=COMMENTS)
    _, secret = await create_key(tx, authors[0].id, NewKey("key", list(Scope)))
    return secret


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.library", description=__doc__)
    parser.add_argument("folder", type=Path)
    uvloop.run(make_library(parser.parse_args().folder / "pressroom.db"))


if __name__ == "__main__":
    main()
