"""Likes and saves."""

from typing import Final

from pressroom.db import Command, Tx, sql

INSERT_LIKE: Final = Command(
    "INSERT INTO likes (post_id, account_id, created_at) VALUES (:post_id, :account_id, :now) ON CONFLICT DO NOTHING"
)

DELETE_LIKE: Final = Command("DELETE FROM likes WHERE post_id = :post_id AND account_id = :account_id")

COUNT_LIKE: Final = Command("UPDATE posts SET likes = likes + :count WHERE id = :post_id AND deleted_at IS NULL")


async def insert_like(tx: Tx, post_id: str, account_id: str) -> bool:
    """Inserts a like. Returns False when there is one already."""
    return bool(await tx.run(INSERT_LIKE, post_id=post_id, account_id=account_id, now=tx.now))


async def delete_like(tx: Tx, post_id: str, account_id: str) -> bool:
    """Deletes a like. Returns whether there was one."""
    return bool(await tx.run(DELETE_LIKE, post_id=post_id, account_id=account_id))


async def count_like(tx: Tx, post_id: str, count: int) -> bool:
    """Adds to the post's likes. Returns False when it is deleted."""
    return bool(await tx.run(COUNT_LIKE, post_id=post_id, count=count))


@sql.run(
    "INSERT INTO saves (post_id, account_id, created_at) VALUES (:post_id, :account_id, :now) ON CONFLICT DO NOTHING"
)
async def insert_save(tx: Tx, post_id: str, account_id: str) -> None:
    """Inserts a save, if there is none yet."""
    ...


@sql.run("DELETE FROM saves WHERE post_id = :post_id AND account_id = :account_id")
async def delete_save(tx: Tx, post_id: str, account_id: str) -> None:
    """Deletes a save, if there is one."""
    ...
