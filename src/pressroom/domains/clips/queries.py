"""SQL of the clips package."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.clips.models import Clip, OwnClip
from pressroom.domains.follows.queries import blocks_sql, follows_sql, mutes_sql
from pressroom.domains.limits.models import KeyWrite
from pressroom.domains.posts.visibility import Relationship, Visibility

_SEEN: Final = (
    "SELECT c.id, c.account_id, c.key_id, c.caption, c.visibility, c.hub_id, c.created_at, c.edited_at,"
    " coalesce(c.deleted_at, a.deleted_at) AS deleted_at, a.username, a.display_name, a.avatar_token, a.verified,"
    " k.label AS key_label, k.key_prefix, h.name AS hub_name, h.slug AS hub_slug,"
    " c.account_id = :reader AS is_author,"
    f" {follows_sql(':reader', 'c.account_id')} AS follows, {follows_sql('c.account_id', ':reader')} AS followed_back,"
    f" {blocks_sql(':reader', 'c.account_id')} AS blocked, {mutes_sql(':reader', 'c.account_id')} AS muted,"
    " (a.suspended_at IS NOT NULL AND (a.deleted_at IS NULL OR a.deleted_at <> a.suspended_at)) AS suspended"
    " FROM clips c JOIN accounts a ON a.id = c.account_id LEFT JOIN api_keys k ON k.id = c.key_id"
    " LEFT JOIN hubs h ON h.id = c.hub_id"
)

FIND_CLIP: Final = Query(Clip, f"{_SEEN} WHERE c.id = :clip_id")


FIND_CLIPS: Final = Query(Clip, f"{_SEEN} WHERE c.id IN ({in_list('id')})")


def _list_of(*visibilities: Visibility) -> str:
    """Returns the statement that lists an account's newest clips of each visibility, by the part of the index that is
    its own. They are no parameters: PostgreSQL would plan for any, and might walk through clips of others."""
    return " UNION ALL ".join(
        f"SELECT id FROM (SELECT id FROM clips WHERE account_id = :author AND visibility = '{visibility}'"
        f" AND deleted_at IS NULL AND id < :before ORDER BY id DESC LIMIT :limit) AS {visibility.lower()}"
        for visibility in visibilities
    )


LIST_PUBLIC: Final = Query(str, _list_of(Visibility.PUBLIC))
LIST_FOR_FOLLOWER: Final = Query(str, _list_of(Visibility.PUBLIC, Visibility.FOLLOWERS))
LIST_FOR_CONNECTION: Final = Query(str, _list_of(Visibility.PUBLIC, Visibility.FOLLOWERS, Visibility.CONNECTIONS))
LIST_FOR_AUTHOR: Final = Query(str, _list_of(*Visibility))


# The writes of a key since a time: read when the process that counted its requests was killed.
CLIPS_BY_KEY: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM clips"
    " WHERE account_id = (SELECT account_id FROM api_keys WHERE id = :key_id) AND id >= :first_id AND key_id = :key_id"
    " AND created_at >= :since",
)

# The writes of a session: its windows are named `account:` and the account's id.
CLIPS_SIGNED_IN: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM clips WHERE account_id = substr(:key_id, 9) AND id >= :first_id"
    " AND key_id IS NULL AND created_at >= :since",
)


@sql.run(
    "INSERT INTO clips (id, account_id, key_id, caption, visibility, hub_id, created_at)"
    " VALUES (:clip_id, :account_id, :key_id, :caption, :visibility, :hub_id, :now)"
)
async def insert_clip(
    tx: Tx,
    *,
    clip_id: str,
    account_id: str,
    key_id: str | None,
    caption: str | None,
    visibility: str,
    hub_id: str | None,
) -> None:
    """Inserts a new clip."""
    ...


async def find_clip(tx: Tx, clip_id: str, *, reader: str) -> Clip | None:
    """Returns the clip with this id, visible or not, as `reader` (an account's id, or empty) finds it."""
    return await tx.one(FIND_CLIP, clip_id=clip_id, reader=reader)


@sql.all(
    f"{_SEEN} WHERE c.account_id = :reader AND c.deleted_at IS NULL AND c.id < :before ORDER BY c.id DESC LIMIT :limit"
)
async def list_own(tx: Tx, reader: str, *, before: str, limit: int) -> list[Clip]:
    """Returns the reader's own clips that are not deleted, newest first, with ids below `before`."""
    ...


async def find_clips(tx: Tx, clip_ids: Sequence[str], *, reader: str) -> list[Clip]:
    """Returns the clips with these ids, at most BATCH, in no order."""
    return await tx.all(FIND_CLIPS, reader=reader, **spread("id", clip_ids))


async def list_of_account(tx: Tx, author: str, relationship: Relationship, *, before: str, limit: int) -> list[str]:
    """Returns the ids, below `before`, of an account's newest clips of each visibility that this relationship may see,
    in no order."""
    if relationship.blocked:
        return []
    seen = LIST_PUBLIC
    if relationship.is_author:
        seen = LIST_FOR_AUTHOR
    elif relationship.follows:
        seen = LIST_FOR_CONNECTION if relationship.followed_back else LIST_FOR_FOLLOWER
    return await tx.all(seen, author=author, before=before, limit=limit)


# The holder of this row's lock alone changes the clip.
@sql.one(
    "UPDATE clips SET caption = caption WHERE account_id = :account_id AND id = :clip_id AND deleted_at IS NULL"
    " RETURNING caption, visibility"
)
async def lock_own(tx: Tx, account_id: str, clip_id: str) -> OwnClip | None:
    """Returns the account's own clip, if it stands; nobody else changes it until the transaction ends."""
    ...


@sql.run(
    "UPDATE clips SET caption = :caption, visibility = :visibility, edited_at = :now"
    " WHERE account_id = :account_id AND id = :clip_id"
)
async def edit_clip(tx: Tx, account_id: str, clip_id: str, *, caption: str | None, visibility: str) -> None:
    """Changes a clip's caption and audience."""
    ...


@sql.run("UPDATE clips SET deleted_at = :now WHERE account_id = :account_id AND id = :clip_id")
async def delete_clip(tx: Tx, account_id: str, clip_id: str) -> None:
    """Marks a clip as deleted."""
    ...


@sql.run(
    "UPDATE clips SET caption = NULL, key_id = NULL, edited_at = NULL, deleted_at = coalesce(deleted_at, :now)"
    " WHERE account_id = :account_id AND id IN (SELECT id FROM clips WHERE account_id = :account_id"
    " AND (caption IS NOT NULL OR key_id IS NOT NULL OR deleted_at IS NULL) LIMIT :batch)"
)
async def erase_clips(tx: Tx, account_id: str, batch: int) -> int:
    """Erases the content of clips of a deleted account; returns their number."""
    ...
