"""A database with hundreds of thousands of posts, each page of them once among few and once among many."""

from typing import Final

from pressroom.db import Command, Database, Tx, Value
from pressroom.db.migrate import migrate
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.follows.queries import insert_follow
from pressroom.domains.hubs.queries import insert_hub
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope

FEW, MANY = 100, 100_000
SIZES: Final = (FEW, MANY)
"""Posts on a shelf."""

SHORT, LONG = 150, 1_000
COMMENTS: Final = (SHORT, LONG)
"""Comments in a thread."""

DELETED = 20_000
"""Deleted comments before those of a short thread."""

PORTION: Final = 20_000
"""Posts that one statement puts on a shelf: a database on a busy machine must finish it within its time."""

OTHERS: Final = 500
"""Accounts, each with a key, whose posts are in the hubs; and hubs without posts."""

OLD, NEW = 1_000_000_000_000_000_000, 2_000_000_000_000_000_000
"""The beginnings of the ids of posts that are older than the others, and of the others."""

FILL: Final = Command(
    "INSERT INTO posts (id, account_id, type, content, visibility, created_at, updated_at, deleted_at, hub_id)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT '0000000' || CAST(CAST(:first AS BIGINT) + 10 * i AS TEXT), a.id, 'POST', 'Lead, ink and patience.',"
    " CAST(:visibility AS TEXT), i, i, CAST(:deleted_at AS BIGINT), CAST(:hub_id AS TEXT)"
    " FROM n JOIN accounts a ON a.username_key = CAST(:owner AS TEXT) || CAST(i % :owners AS TEXT)"
)
TAG: Final = Command(
    "INSERT INTO post_tags (account_id, post_id, tag, hidden)"
    " SELECT account_id, id, hub_id, FALSE FROM posts WHERE hub_id = :hub_id"
)
LIKE: Final = Command(
    "INSERT INTO likes (post_id, account_id, created_at) SELECT p.id, a.id, 1 FROM posts p JOIN accounts a"
    " ON a.username_key IN ('follower', 'other' || CAST(p.created_at % 500 AS TEXT)) WHERE p.hub_id IS NOT NULL"
)
LIST: Final = Command(
    "INSERT INTO post_audiences (post_id, account_id, author_id, live) SELECT p.id, a.id, p.account_id, TRUE"
    " FROM posts p JOIN accounts a ON a.username_key IN ('listed', 'other' || CAST(p.created_at % 500 AS TEXT))"
    " WHERE p.visibility = 'CUSTOM'"
)
ONCE_LISTED: Final = Command(
    "INSERT INTO post_audiences (post_id, account_id, author_id, live) SELECT p.id, l.id, p.account_id, FALSE"
    " FROM posts p JOIN accounts a ON a.id = p.account_id JOIN accounts l ON l.username_key = 'listed'"
    " WHERE a.username_key LIKE 'private%'"
)
HIDE_IN_HUB: Final = Command(
    "UPDATE posts SET hub_id = (SELECT 'hidden' || substr(a.username_key, 8, length(a.username_key) - 9)"
    " FROM accounts a WHERE a.id = posts.account_id)"
    " WHERE account_id IN (SELECT id FROM accounts WHERE username_key LIKE 'private%')"
)
DISCUSS: Final = Command(
    "INSERT INTO comments (account_id, id, post_id, parent_id, thread_id, content, created_at, deleted_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT a.id, '0000000' || CAST(CAST(:first AS BIGINT) + 10 * i AS TEXT), CAST(:post_id AS TEXT),"
    " CASE WHEN i > 1 THEN CAST(:thread_id AS TEXT) END, CAST(:thread_id AS TEXT), 'Is it finished?', 1,"
    " CASE WHEN i <= :deleted THEN 1 END"
    " FROM n JOIN accounts a ON a.username_key = 'other' || CAST(i % :owners AS TEXT)"
)
COUNT: Final = Command("UPDATE posts SET comments = :count WHERE id = :post_id")


def numbered(first: int, place: int) -> str:
    """The id at a place of those that begin with `first`."""
    return f"0000000{first + 10 * place}"


MODERATED: Final = numbered(NEW + 7, 2)
"""The post with a short thread behind many deleted comments."""


def discussed(comments: int) -> str:
    """The post that has so many comments, in the middle of its author's posts."""
    place = COMMENTS.index(comments)
    return numbered(NEW + place, SIZES[place] // 2)


async def fill(db: Database) -> dict[str, str]:
    """Fills the shelves; the ids of the accounts by their names."""
    await migrate(db)
    accounts = await db.transact(make_accounts)
    await db.transact(make_hubs, accounts["other0"])
    for place, size in enumerate(SIZES):
        await db.transact(put_posts, f"public{size}_", NEW + place, size)
        await db.transact(put_posts, f"private{size}_", OLD + 2 + place, 5)
        await db.transact(put_posts, f"private{size}_", NEW + 2 + place, size, visibility="PRIVATE")
        await db.transact(put_posts, f"deleted{size}_", OLD + 4 + place, 20)
        await db.transact(put_posts, f"deleted{size}_", NEW + 4 + place, size, deleted_at=1)
        await db.transact(put_posts, "other", NEW + 6 + place, size, owners=OTHERS, hub_id=f"hub{size}")
        await db.transact(put_posts, f"custom{size}_", NEW + 8 + place, size, visibility="CUSTOM")
    # Each post of the hubs is liked by two, and each CUSTOM post shown to two. Scripts have no limit of time.
    await db.script(f"{LIKE.text}; {LIST.text}; {ONCE_LISTED.text}; {HIDE_IN_HUB.text}")
    for place, comments in enumerate(COMMENTS):
        await db.transact(put_comments, NEW + place, comments, discussed(comments), OTHERS)
    await db.transact(put_comments, NEW + 2, MANY, numbered(NEW + 7, 1), OTHERS)
    await db.transact(put_comments, NEW + 3, DELETED + SHORT, MODERATED, OTHERS, DELETED)
    return accounts


async def make_accounts(tx: Tx) -> dict[str, str]:
    """Who owns the shelves, and their readers: `connection` follows the owners and is followed back."""
    owners = [f"{shelf}{size}_0" for shelf in ("public", "private", "deleted", "custom") for size in SIZES]
    others = [f"other{number}" for number in range(OTHERS)]
    ids: dict[str, str] = {}
    for name in (*owners, *others, "stranger", "follower", "connection", "listed"):
        ids[name] = (await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))).id
    for name in others:
        await create_key(tx, ids[name], NewKey("key", list(Scope)))
    for owner in owners:
        await insert_follow(tx, account_id=ids["follower"], followed_id=ids[owner])
        await insert_follow(tx, account_id=ids["connection"], followed_id=ids[owner])
        await insert_follow(tx, account_id=ids[owner], followed_id=ids["connection"])
    return ids


async def make_hubs(tx: Tx, account_id: str) -> None:
    """The hubs that are read, and those that are quiet. The id of each is its slug."""
    for slug in (
        *(f"{kind}{size}" for kind in ("hub", "hidden") for size in SIZES),
        *(f"quiet{number}" for number in range(OTHERS)),
    ):
        await insert_hub(tx, hub_id=slug, account_id=account_id, slug=slug, name=slug, description=None)


async def put_posts(tx: Tx, owner: str, first: int, count: int, **more: Value) -> None:
    """Puts posts on a shelf; those of a hub also under the hashtag of its name."""
    values: dict[str, Value] = {"visibility": "PUBLIC", "deleted_at": None, "hub_id": None, "owners": 1, **more}
    for done in range(0, count, PORTION):
        portion = min(PORTION, count - done)
        await tx.run(FILL, owner=owner, first=first + 10 * done, count=portion, **values)
    if values["hub_id"] is not None:
        await tx.run(TAG, hub_id=values["hub_id"])


async def put_comments(tx: Tx, first: int, count: int, post_id: str, owners: int, deleted: int = 0) -> None:
    """Puts a thread under a post: a comment and replies to it, by the others in turn, the first ones deleted."""
    thread = numbered(first, 1)
    await tx.run(DISCUSS, first=first, count=count, post_id=post_id, thread_id=thread, owners=owners, deleted=deleted)
    await tx.run(COUNT, count=count - deleted, post_id=post_id)
