"""SQL of the media package."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.media.models import (
    REMOVED,
    AccountPicture,
    HiddenFile,
    KindBytes,
    Media,
    ProcessingStatus,
    ServedMedia,
    StoredBytes,
    leading_to,
)

BEYOND_PLACES: Final = 1_000
"""More than a draft can have files."""

_MEDIA: Final = (
    "id, account_id, owner_id, position, token, kind, alt_text, status, reason, width, height, duration, size_bytes,"
    " placeholder, has_medium, created_at, hidden_at"
)


TAKE_STORAGE: Final = Query(
    int,
    "INSERT INTO stored_media (account_id, bytes) VALUES (:account_id, :size)"
    " ON CONFLICT (account_id) DO UPDATE SET bytes = stored_media.bytes + excluded.bytes"
    " WHERE stored_media.bytes + excluded.bytes <= :limit RETURNING bytes",
)


# The account's sum moves by the difference, so that to do it twice does no harm.
COUNT_STORED_OF_ACCOUNT: Final = Command(
    "UPDATE stored_media SET bytes = bytes + :stored_bytes - (SELECT stored_bytes FROM media WHERE id = :media_id)"
    " WHERE account_id = (SELECT account_id FROM media WHERE id = :media_id)"
)

COUNT_STORED: Final = Command("UPDATE media SET stored_bytes = :stored_bytes WHERE id = :media_id")

LIST_OF_OWNERS: Final = Query(
    Media, f"SELECT {_MEDIA} FROM media WHERE owner_id IN ({in_list('owner')}) ORDER BY owner_id, position"
)

# The visibility of a file is that of its post or clip.
_SERVED: Final = (
    f"SELECT {_MEDIA},"
    " (SELECT p.visibility FROM posts p WHERE p.account_id = media.account_id AND p.id = media.owner_id)"
    " AS post_visibility,"
    " (SELECT c.visibility FROM clips c WHERE c.account_id = media.account_id AND c.id = media.owner_id)"
    " AS clip_visibility"
    " FROM media WHERE hidden_at IS NULL"
    " AND (SELECT a.suspended_at FROM accounts a WHERE a.id = media.account_id) IS NULL"
)

FIND_BY_TOKEN: Final = Query(ServedMedia, f"{_SERVED} AND token = :token")

FIND_BY_ID: Final = Query(ServedMedia, f"{_SERVED} AND id = :media_id")

# For a reader whose account is active: suspended and deleted accounts see nothing.
FIND_FOR_READER: Final = Query(
    ServedMedia,
    f"{_SERVED} AND id = :media_id"
    " AND (SELECT 1 FROM accounts r WHERE r.id = :reader AND r.suspended_at IS NULL) IS NOT NULL",
)

# Also a file of a deleted post: processing that has begun is finished.
FIND_ANY: Final = Query(Media, f"SELECT {_MEDIA} FROM media WHERE id = :media_id")


# Of the account's own pictures: `AccountPicture.owner_of`.
LIST_PICTURES: Final = Query(
    Media,
    f"SELECT {_MEDIA} FROM media WHERE account_id = :account_id AND owner_id = :owner_id AND hidden_at IS NULL"
    " ORDER BY position",
)

NEXT_PLACE: Final = Query(
    int,
    "SELECT coalesce(max(position), -1) + 1 FROM media WHERE account_id = :account_id AND owner_id = :owner_id",
)

HIDE_UNSHOWN: Final = Query(
    HiddenFile,
    "UPDATE media SET hidden_at = :now WHERE account_id = :account_id AND owner_id = :owner_id"
    " AND hidden_at IS NULL AND status <> 'READY' RETURNING id, status",
)

HIDE_OTHERS: Final = Query(
    HiddenFile,
    "UPDATE media SET hidden_at = :now WHERE account_id = :account_id AND owner_id = :owner_id"
    " AND hidden_at IS NULL AND id <> :but RETURNING id, status",
)


HAS_MEDIA: Final = Query(int, "SELECT 1 FROM media WHERE account_id = :account_id LIMIT 1")

LIST_EXISTING: Final = Query(str, f"SELECT id FROM media WHERE id IN ({in_list('id')})")

DELETE_MEDIA: Final = Command(f"DELETE FROM media WHERE account_id = :account_id AND id IN ({in_list('id')})")


# Also of a file that failed, while its dead job can be tried again.
NEEDS_UPLOAD: Final = Query(
    str,
    "SELECT id FROM media WHERE id = :media_id AND (status = 'PROCESSING' OR (status = 'FAILED' AND hidden_at IS NULL"
    " AND EXISTS (SELECT 1 FROM jobs j WHERE j.kind IN ('media', 'video', 'video.long') AND j.subject = media.id"
    " AND j.due_at IS NULL)))",
)


@sql.run(
    "INSERT INTO media (id, account_id, owner_id, position, token, kind, alt_text, status, created_at, stored_bytes)"
    " VALUES (:media_id, :account_id, :owner_id, :position, :token, :kind, :alt_text, 'PROCESSING',"
    " :now, :stored_bytes)"
)
async def insert_media(
    tx: Tx,
    *,
    media_id: str,
    account_id: str,
    owner_id: str,
    position: int,
    token: str,
    kind: str,
    alt_text: str | None,
    stored_bytes: int,
) -> None:
    """Inserts a file in the state PROCESSING."""
    ...


async def take_storage(tx: Tx, *, account_id: str, size: int, limit: int) -> bool:
    """Adds `size` bytes to the account's stored bytes; False when that would be more than `limit`."""
    return await tx.one(TAKE_STORAGE, account_id=account_id, size=size, limit=limit) is not None


@sql.one("SELECT bytes FROM stored_media WHERE account_id = :account_id FOR UPDATE")
async def lock_stored(tx: Tx, account_id: str) -> int:
    """Locks the count of the account's stored bytes, and returns it."""
    ...


async def count_stored(tx: Tx, media_id: str, stored_bytes: int) -> None:
    """Replaces the number of bytes that a file counts for among its account's stored media."""
    await tx.run(COUNT_STORED_OF_ACCOUNT, media_id=media_id, stored_bytes=stored_bytes)
    await tx.run(COUNT_STORED, media_id=media_id, stored_bytes=stored_bytes)


async def list_of_owners(tx: Tx, owner_ids: Sequence[str]) -> list[Media]:
    """The files of these posts or clips, at most BATCH of them, each one's in their order."""
    return await tx.all(LIST_OF_OWNERS, **spread("owner", owner_ids))


@sql.all(f"SELECT {_MEDIA} FROM media WHERE id > :after AND status <> 'FAILED' ORDER BY id LIMIT 1000")
async def list_stored(tx: Tx, after: str) -> list[Media]:
    """The next thousand files, by identifier, that did not fail."""
    ...


@sql.run(
    "UPDATE media SET status = 'READY', width = :width, height = :height, duration = :duration,"
    " size_bytes = :size_bytes, placeholder = :placeholder, has_medium = :has_medium WHERE id = :media_id"
    f" AND status IN ({leading_to(ProcessingStatus.READY)})"
)
async def make_ready(
    tx: Tx,
    media_id: str,
    *,
    width: int,
    height: int,
    duration: float | None,
    size_bytes: int,
    placeholder: str,
    has_medium: bool,
) -> None:
    """PROCESSING → READY."""
    ...


@sql.run(
    "UPDATE media SET status = 'FAILED', reason = :reason WHERE id = :media_id"
    f" AND status IN ({leading_to(ProcessingStatus.FAILED)})"
)
async def make_failed(tx: Tx, media_id: str, reason: str) -> None:
    """PROCESSING → FAILED."""
    ...


@sql.run(
    "UPDATE media SET status = 'PROCESSING', reason = NULL WHERE id = :media_id AND hidden_at IS NULL"
    f" AND status IN ({leading_to(ProcessingStatus.PROCESSING)})"
)
async def make_processing(tx: Tx, media_id: str) -> bool:
    """FAILED → PROCESSING. Returns False for a file that did not fail, or is hidden."""
    ...


@sql.all("SELECT id FROM media WHERE owner_id = :owner_id ORDER BY position")
async def list_of_owner(tx: Tx, owner_id: str) -> list[str]:
    """The ids of the files of a post or clip."""
    ...


@sql.run("UPDATE media SET token = :token WHERE id = :media_id")
async def renew_token(tx: Tx, media_id: str, token: str) -> None:
    """Gives a file another address."""
    ...


@sql.run("UPDATE media SET owner_id = :new_owner WHERE account_id = :account_id AND owner_id = :owner_id")
async def move_to_owner(tx: Tx, account_id: str, owner_id: str, new_owner: str) -> None:
    """Gives the files of a draft to its post."""
    ...


# Into places that no file has, so that each can take its new one afterwards.
@sql.run(f"UPDATE media SET position = position + {BEYOND_PLACES} WHERE owner_id = :owner_id")
async def clear_places(tx: Tx, owner_id: str) -> None:
    """Moves the files of a draft out of their places."""
    ...


@sql.run("UPDATE media SET position = :position WHERE account_id = :account_id AND id = :media_id")
async def set_place(tx: Tx, account_id: str, media_id: str, position: int) -> None:
    """Gives a file a place among those of its draft."""
    ...


@sql.run("UPDATE media SET alt_text = :alt_text WHERE account_id = :account_id AND id = :media_id")
async def describe(tx: Tx, account_id: str, media_id: str, alt_text: str | None) -> None:
    """Changes the description of a file."""
    ...


@sql.run(
    f"UPDATE media SET hidden_at = :now, owner_id = '{REMOVED}' || id, position = 0"
    " WHERE account_id = :account_id AND id = :media_id"
)
async def take_from_owner(tx: Tx, account_id: str, media_id: str) -> None:
    """Hides a file of a draft, to which it belongs no longer."""
    ...


@sql.run("UPDATE media SET hidden_at = :now WHERE owner_id = :owner_id")
async def hide_of_owner(tx: Tx, owner_id: str) -> None:
    """Hides the files of a post or clip."""
    ...


@sql.one("SELECT id FROM media WHERE status = 'PROCESSING' ORDER BY id LIMIT 1")
async def find_waiting(tx: Tx) -> str | None:
    """The file that waits longest to be processed."""
    ...


@sql.one(f"SELECT {_MEDIA} FROM media WHERE status = 'READY' AND hidden_at IS NULL ORDER BY id DESC LIMIT 1")
async def find_newest_ready(tx: Tx) -> Media | None:
    """The file that was processed most recently of those that are served."""
    ...


@sql.run(
    "UPDATE media SET hidden_at = :now WHERE account_id = :account_id AND id IN"
    " (SELECT id FROM media WHERE account_id = :account_id AND hidden_at IS NULL LIMIT :batch)"
)
async def hide_of_account(tx: Tx, account_id: str, batch: int) -> int:
    """Hides up to `batch` files of an account, and returns their number."""
    ...


@sql.all(
    "SELECT id FROM media WHERE account_id = :account_id AND hidden_at IS NOT NULL AND status <> 'PROCESSING'"
    " ORDER BY id LIMIT :limit"
)
async def list_ended(tx: Tx, account_id: str, *, limit: int) -> list[str]:
    """Returns the ids of an account's hidden files that are not being processed."""
    ...


async def delete_media(tx: Tx, account_id: str, media_ids: Sequence[str]) -> None:
    """Removes the rows of these files, at most BATCH."""
    await tx.run(DELETE_MEDIA, account_id=account_id, **spread("id", media_ids))


async def has_media(tx: Tx, account_id: str) -> bool:
    """Returns whether the account has files, served or not."""
    return await tx.one(HAS_MEDIA, account_id=account_id) is not None


@sql.run("DELETE FROM stored_media WHERE account_id = :account_id")
async def delete_stored(tx: Tx, account_id: str) -> None:
    """Removes the count of stored bytes of an account that has no files any more."""
    ...


@sql.one("SELECT bytes FROM stored_media WHERE account_id = :account_id")
async def find_stored_bytes(tx: Tx, account_id: str) -> int:
    """Returns how many bytes of media an account stores."""
    ...


async def list_existing(tx: Tx, media_ids: Sequence[str]) -> list[str]:
    """Returns those of these ids, at most BATCH, that a file has."""
    return await tx.all(LIST_EXISTING, **spread("id", media_ids))


@sql.all("SELECT account_id, bytes FROM stored_media ORDER BY bytes DESC, account_id LIMIT :limit")
async def list_largest(tx: Tx, limit: int) -> list[StoredBytes]:
    """Returns the accounts that store most."""
    ...


@sql.all(
    "SELECT kind, count(*) AS files, CAST(sum(stored_bytes) AS BIGINT) AS bytes FROM media"
    " WHERE account_id = :account_id GROUP BY kind ORDER BY kind"
)
async def list_kinds(tx: Tx, account_id: str) -> list[KindBytes]:
    """Returns the stored files of an account by the kinds of its uploads."""
    ...


@sql.one("SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM stored_media")
async def count_all_stored(tx: Tx) -> int:
    """Returns the bytes that all accounts store."""
    ...


async def find_any(tx: Tx, media_id: str) -> Media | None:
    """Returns a file, also a hidden one."""
    return await tx.one(FIND_ANY, media_id=media_id)


async def list_pictures(tx: Tx, account_id: str, picture: AccountPicture) -> list[Media]:
    """Returns the account's pictures that are not hidden, by upload: the one that is shown, a newer one."""
    return await tx.all(LIST_PICTURES, account_id=account_id, owner_id=picture.owner_of(account_id))


async def next_place(tx: Tx, account_id: str, picture: AccountPicture) -> int:
    """Returns the position of the account's next picture of the kind."""
    return await tx.one(NEXT_PLACE, account_id=account_id, owner_id=picture.owner_of(account_id)) or 0


async def hide_unshown(tx: Tx, account_id: str, picture: AccountPicture) -> list[HiddenFile]:
    """Hides the pictures of the kind that are not READY, and returns them."""
    return await tx.all(HIDE_UNSHOWN, account_id=account_id, owner_id=picture.owner_of(account_id), now=tx.now)


async def hide_others(tx: Tx, account_id: str, picture: AccountPicture, *, but: str) -> list[HiddenFile]:
    """Hides the account's pictures of the kind but the one with the id `but`, and returns them."""
    return await tx.all(HIDE_OTHERS, account_id=account_id, owner_id=picture.owner_of(account_id), but=but, now=tx.now)
