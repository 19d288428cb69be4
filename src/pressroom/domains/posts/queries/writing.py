"""Creating, changing, deleting and erasing posts, and their counters."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, Value, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.limits.models import KeyWrite
from pressroom.domains.posts.models import POST_COLUMNS, Post, PostType
from pressroom.domains.posts.visibility import Visibility

_COLUMNS: Final = ", ".join(POST_COLUMNS)
_VALUES: Final = ", ".join(f":{column}" for column in POST_COLUMNS)

INSERT_POST: Final = Command(f"INSERT INTO posts ({_COLUMNS}) VALUES ({_VALUES})")

INSERT_IMPORTED: Final = Query(
    str,
    f"INSERT INTO posts ({_COLUMNS}, imported_as) VALUES ({_VALUES}, :imported_as)"
    " ON CONFLICT (account_id, imported_as) WHERE imported_as IS NOT NULL DO NOTHING RETURNING id",
)

LIST_IMPORTED: Final = Query(
    str,
    f"SELECT imported_as FROM posts WHERE account_id = :account_id AND imported_as IN ({in_list('source')})"
    " AND imported_as IS NOT NULL",
)


class OwnPost(msgspec.Struct):
    """The columns that editing, deleting and hiding a post read."""

    type: PostType
    content: str | None
    visibility: Visibility
    original_id: str | None
    has_media: bool
    preview_url: str | None
    preview_forced: bool
    written_at: int
    hidden_at: int | None


_OWNED: Final = (
    "type, content, visibility, original_id, has_media, preview_url, preview_forced,"
    " coalesce(edited_at, created_at) AS written_at, hidden_at"
)
_STANDING: Final = "WHERE account_id = :account_id AND id = :post_id AND deleted_at IS NULL"


INSERT_VERSION: Final = Command(
    "INSERT INTO post_versions (account_id, post_id, id, content, visibility, written_at, replaced_at, replaced_by_key)"
    " VALUES (:account_id, :post_id, :id, :content, :visibility, :written_at, :replaced_at, :replaced_by_key)"
)


# The count comes first: it locks the post, and a refusal that follows rolls it back.
COUNT_BOUNCE: Final = Query(
    str,
    "UPDATE posts SET shares = shares + :plain, share_count = share_count + 1"
    " WHERE id = :post_id AND deleted_at IS NULL RETURNING visibility",
)

UNCOUNT_BOUNCE: Final = Command(
    "UPDATE posts SET shares = shares - :plain, share_count = share_count - 1 WHERE id = :post_id"
)


# The writes of a key since a time: read when the process that counted its requests was killed.
POSTS_BY_KEY: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, type = 'POST' AND NOT has_media AS is_post FROM posts"
    " WHERE account_id = (SELECT account_id FROM api_keys WHERE id = :key_id) AND id >= :first_id AND key_id = :key_id"
    " AND created_at >= :since",
)

# The writes of a session: its windows are named `account:` and the account's id.
POSTS_SIGNED_IN: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM posts WHERE account_id = substr(:key_id, 9) AND id >= :first_id"
    " AND key_id IS NULL AND created_at >= :since",
)

EDITS_BY_KEY: Final = Query(
    KeyWrite,
    "SELECT replaced_at AS at, FALSE AS is_post FROM post_versions"
    " WHERE replaced_by_key = :key_id AND replaced_at >= :since",
)

DELETIONS_BY_KEY: Final = Query(
    KeyWrite,
    "SELECT deleted_at AS at, FALSE AS is_post FROM posts WHERE deleted_by_key = :key_id AND deleted_at >= :since",
)


_values_of: Final = attrgetter(*POST_COLUMNS)


async def insert_post(tx: Tx, post: Post) -> None:
    """Inserts a new post."""
    await tx.later(INSERT_POST, **post_values(post))


async def insert_imported(tx: Tx, post: Post, imported_as: str) -> bool:
    """Inserts a post that has a source. Returns False when the account has one of this source already."""
    return await tx.one(INSERT_IMPORTED, **post_values(post), imported_as=imported_as) is not None


async def list_imported(tx: Tx, account_id: str, sources: Sequence[str]) -> list[str]:
    """Returns the sources, of at most BATCH, that the account has imported, also into posts deleted since."""
    return await tx.all(LIST_IMPORTED, account_id=account_id, **spread("source", sources))


def post_values(post: Post) -> dict[str, Value]:
    """Returns the values of a post's columns."""
    return dict(zip(POST_COLUMNS, _values_of(post), strict=True))


# The holder of this row's lock alone changes the post.
@sql.one(f"UPDATE posts SET views = views {_STANDING} RETURNING {_OWNED}")
async def lock_own(tx: Tx, account_id: str, post_id: str) -> OwnPost | None:
    """Returns the account's own post, if it stands; nobody else changes it until the transaction ends."""
    ...


@sql.one(f"SELECT {_OWNED} FROM posts {_STANDING}")
async def find_own(tx: Tx, account_id: str, post_id: str) -> OwnPost | None:
    """Returns the account's own post, if it stands."""
    ...


async def insert_version(
    tx: Tx, *, account_id: str, post_id: str, version_id: str, before: OwnPost, at: int, key_id: str | None
) -> None:
    """Inserts the version before an edit that a key made `at` (milliseconds)."""
    await tx.run(
        INSERT_VERSION,
        account_id=account_id,
        post_id=post_id,
        id=version_id,
        content=before.content,
        visibility=before.visibility,
        written_at=before.written_at,
        replaced_at=at,
        replaced_by_key=key_id,
    )


@sql.run(
    "UPDATE posts SET content = :content, visibility = :visibility, preview_url = :preview_url, edited_at = :at,"
    " updated_at = :at"
    " WHERE account_id = :account_id AND id = :post_id"
)
async def edit_post(
    tx: Tx,
    *,
    account_id: str,
    post_id: str,
    content: str | None,
    visibility: str,
    preview_url: str | None,
    at: int,
) -> None:
    """Changes content, link card and audience of a post, `at` (milliseconds)."""
    ...


@sql.run("UPDATE posts SET commenters = :commenters WHERE account_id = :account_id AND id = :post_id")
async def set_commenters(tx: Tx, account_id: str, post_id: str, commenters: str) -> None:
    """Changes who may comment on a post."""
    ...


@sql.run(
    "UPDATE posts SET deleted_at = :now, updated_at = :now, deleted_by_key = :key_id"
    " WHERE account_id = :account_id AND id = :post_id"
)
async def delete_post(tx: Tx, account_id: str, post_id: str, key_id: str | None) -> None:
    """Marks a post as deleted, with which key."""
    ...


@sql.run(
    "UPDATE posts SET visibility = 'PRIVATE', hidden_at = :now, updated_at = :now"
    " WHERE account_id = :account_id AND id = :post_id"
)
async def hide_post(tx: Tx, account_id: str, post_id: str) -> None:
    """Makes a post PRIVATE and marks it as hidden by an admin."""
    ...


@sql.run("UPDATE posts SET hidden_at = NULL, updated_at = :now WHERE account_id = :account_id AND id = :post_id")
async def unhide_post(tx: Tx, account_id: str, post_id: str) -> None:
    """Takes the mark of a hidden post off."""
    ...


async def count_bounce(tx: Tx, post_id: str, *, plain: bool) -> str | None:
    """Counts one more bounce of a post. Returns the post's visibility, None when it is deleted."""
    return await tx.one(COUNT_BOUNCE, post_id=post_id, plain=int(plain))


async def uncount_bounce(tx: Tx, post_id: str, *, plain: bool) -> None:
    """Takes one bounce of a post out of its counters."""
    await tx.run(UNCOUNT_BOUNCE, post_id=post_id, plain=int(plain))


@sql.one(
    "SELECT id FROM posts WHERE account_id = :account_id AND original_id = :original_id"
    " AND type = 'SHARE' AND deleted_at IS NULL"
)
async def find_plain_bounce(tx: Tx, account_id: str, original_id: str) -> str | None:
    """Returns the account's plain bounce of a post, if it stands."""
    ...


@sql.run("UPDATE posts SET comments = comments + 1 WHERE id = :post_id AND deleted_at IS NULL")
async def count_comment(tx: Tx, post_id: str) -> bool:
    """Counts one more comment under a post, which locks the post. Returns False when it is deleted."""
    ...


@sql.run("UPDATE posts SET comments = comments - 1 WHERE id = :post_id")
async def uncount_comment(tx: Tx, post_id: str) -> None:
    """Takes one comment under a post out of its count, which locks the post."""
    ...


@sql.run("UPDATE posts SET views = views + :count WHERE id = :post_id")
async def add_views(tx: Tx, post_id: str, count: int) -> None:
    """Counts openings of a post's permalink."""
    ...


# The row stays, with its visibility: routes go on answering 404 for the id. The allowlist is erased.
ERASE_POST: Final = Command(
    "UPDATE posts SET content = NULL, location_name = NULL, latitude = NULL, longitude = NULL, preview_url = NULL,"
    " key_id = NULL, deleted_by_key = NULL, edited_at = NULL, imported_as = NULL, has_poll = FALSE,"
    " visibility = CASE WHEN visibility = 'CUSTOM' THEN 'PRIVATE' ELSE visibility END"
    " WHERE account_id = :account_id AND id = :post_id"
)

ERASE_VERSIONS: Final = Command("DELETE FROM post_versions WHERE account_id = :account_id AND post_id = :post_id")

ERASE_POLL: Final = Command("UPDATE polls SET question = NULL WHERE post_id = :post_id")

ERASE_MENTIONED: Final = Command("DELETE FROM post_mentions WHERE post_id = :post_id")

ERASE_OPTIONS: Final = Command("UPDATE poll_options SET label = '' WHERE post_id = :post_id")


# Tombstones without content are passed over.
@sql.all(
    "SELECT id FROM posts WHERE account_id = :account_id AND id < :before AND (deleted_at IS NULL"
    " OR content IS NOT NULL OR location_name IS NOT NULL OR preview_url IS NOT NULL OR key_id IS NOT NULL"
    " OR deleted_by_key IS NOT NULL OR edited_at IS NOT NULL OR imported_as IS NOT NULL OR has_poll"
    " OR visibility = 'CUSTOM')"
    " ORDER BY id DESC LIMIT :limit"
)
async def list_unerased(tx: Tx, account_id: str, *, before: str, limit: int) -> list[str]:
    """Returns the ids of an account's posts before `before` that still have content, newest first."""
    ...


async def erase_post(tx: Tx, account_id: str, post_id: str) -> None:
    """Erases the content of a deleted post in every version, its poll and its mentions."""
    await tx.run(ERASE_POST, account_id=account_id, post_id=post_id)
    await tx.run(ERASE_VERSIONS, account_id=account_id, post_id=post_id)
    await tx.run(ERASE_POLL, post_id=post_id)
    await tx.run(ERASE_OPTIONS, post_id=post_id)
    await tx.run(ERASE_MENTIONED, post_id=post_id)
