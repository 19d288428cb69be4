"""SQL of the clips package."""

from typing import Final

from pressroom.db import Command, Query, Tx
from pressroom.domains.clips.models import Clip
from pressroom.domains.follows.queries import follows_sql
from pressroom.domains.limits.models import KeyWrite

INSERT_CLIP: Final = Command(
    "INSERT INTO clips (id, account_id, key_id, caption, visibility, hub_id, created_at)"
    " VALUES (:id, :account_id, :key_id, :caption, :visibility, :hub_id, :now)"
)

FIND_CLIP: Final = Query(
    Clip,
    "SELECT c.id, c.account_id, c.key_id, c.caption, c.visibility, c.hub_id, c.created_at, a.username, a.display_name,"
    " a.verified, k.label AS key_label, k.key_prefix, h.name AS hub_name, h.slug AS hub_slug,"
    " c.account_id = :reader AS is_author,"
    f" {follows_sql(':reader', 'c.account_id')} AS follows, {follows_sql('c.account_id', ':reader')} AS followed_back,"
    " a.suspended_at IS NOT NULL AS suspended"
    " FROM clips c JOIN accounts a ON a.id = c.account_id LEFT JOIN api_keys k ON k.id = c.key_id"
    " LEFT JOIN hubs h ON h.id = c.hub_id WHERE c.id = :clip_id",
)

# What a key wrote since a time: of use when the process that counted its requests was killed.
CLIPS_BY_KEY: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM clips"
    " WHERE account_id = (SELECT account_id FROM api_keys WHERE id = :key_id) AND id >= :first_id AND key_id = :key_id"
    " AND created_at >= :since",
)

# The same of an account that is signed in, whose windows are named `account:` and its id.
CLIPS_SIGNED_IN: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM clips WHERE account_id = substr(:key_id, 9) AND id >= :first_id"
    " AND key_id IS NULL AND created_at >= :since",
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
    await tx.run(
        INSERT_CLIP,
        id=clip_id,
        account_id=account_id,
        key_id=key_id,
        caption=caption,
        visibility=visibility,
        hub_id=hub_id,
        now=tx.now,
    )


async def find_clip(tx: Tx, clip_id: str, *, reader: str) -> Clip | None:
    """Returns the clip with this id, visible or not, as `reader` (an account's id, or empty) finds it."""
    return await tx.one(FIND_CLIP, clip_id=clip_id, reader=reader)
