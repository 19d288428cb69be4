"""A like, a bounce and the list cost the same for a post with a hundred likes and for one with a hundred thousand."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from pressroom.db import Command, Database, Query, Tx, Value
from pressroom.db.migrate import migrate
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.home.queries import list_unread
from pressroom.domains.notifications.queries import (
    COUNT_UNREAD,
    DELETE_GROUP,
    INSERT_IN_GROUP,
    REPLACE_ACTOR,
    list_notifications,
)
from pressroom.domains.posts.queries.reactions import FIND_BOUNCER, FIND_LIKER
from pressroom.ids import BEYOND, new_id
from tests.harness.plans import KINDS, Asked, Cost, Engine, opened_for_plans

pytestmark = pytest.mark.xdist_group("scale")

FEW, MANY = 100, 100_000
LIMIT: Final = 1.5
"""How many times the work under a post with few likes it may be under one with many."""

OTHERS: Final = Command(
    "INSERT INTO accounts (id, username, username_key, email, email_key, password_hash, display_name, verified,"
    " email_verified, is_private, is_creator, total_followers, total_following, total_posts, created_at, updated_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT 'o' || CAST(i AS TEXT), 'o' || CAST(i AS TEXT), 'o' || CAST(i AS TEXT), 'o' || CAST(i AS TEXT),"
    " 'o' || CAST(i AS TEXT), '', 'Other', FALSE, FALSE, FALSE, FALSE, 0, 0, 0, 1, 1 FROM n"
)
POST: Final = Command(
    "INSERT INTO posts (id, account_id, type, visibility, likes, shares, created_at, updated_at)"
    " VALUES (:post_id, :account_id, 'POST', 'PUBLIC', :count, :count, 1, 1)"
)
LIKES: Final = Command(
    "INSERT INTO likes (post_id, account_id, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT CAST(:post_id AS TEXT), 'o' || CAST(i AS TEXT), 1 FROM n"
)
BOUNCES: Final = Command(
    "INSERT INTO posts (id, account_id, type, visibility, original_id, created_at, updated_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT :post_id || CAST(i AS TEXT), 'o' || CAST(i AS TEXT), 'SHARE', 'PUBLIC', CAST(:post_id AS TEXT), 1, 1"
    " FROM n"
)


@dataclass(frozen=True, slots=True)
class Posts:
    """A database with two authors, whose posts have few likes and bounces and many."""

    engine: Engine
    authors: dict[int, str]
    post_ids: dict[int, str]
    run: Callable[[Any], Any]

    def cost(self, command: Command, size: int, values: dict[str, Value]) -> list[Cost]:
        """The cost of a statement about the post of this size, in each way of carrying it out."""
        known: dict[str, Value] = {
            "account_id": self.authors[size],
            "post_id": self.post_ids[size],
            "actor_id": "o1",
            "type": "like",
            "now": 1,
            **values,
        }
        costs: list[Cost] = self.run(self.engine.explain(Asked(command, {name: known[name] for name in command.names})))
        return costs


async def fill(db: Database) -> tuple[dict[int, str], dict[int, str]]:
    """Makes the accounts, both posts, and their likes and bounces."""
    await migrate(db)
    authors: dict[int, str] = {}
    post_ids: dict[int, str] = {}

    async def run(tx: Tx, command: Command, **values: Value) -> None:
        await tx.run(command, **values)

    await db.transact(run, OTHERS, count=MANY)
    for size in (FEW, MANY):
        account = await db.transact(create_account, NewAccount(f"a{size}", f"{size}@example.org", "hash"))
        authors[size], post_ids[size] = account.id, new_id(1, account.id)
        await db.transact(run, POST, post_id=post_ids[size], account_id=account.id, count=size)
        for command in (LIKES, BOUNCES):
            await db.transact(run, command, post_id=post_ids[size], count=size)
    return authors, post_ids


@pytest.fixture(scope="module", params=KINDS)
def posts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Posts]:
    """The posts on each engine; SQLite's also as the server leaves it, without statistics."""
    folder = tmp_path_factory.mktemp("likes")
    with opened_for_plans(request, folder, request.param, "likes", fill, {"posts", "likes", "accounts"}) as opened:
        authors, post_ids = opened.filled
        yield Posts(opened.engine, authors, post_ids, opened.run)


NO_SUBJECTS: Final = dict.fromkeys(["comment_id", "webhook_id", "key_id", "case_id", "draft_id"])


def statement(function: Any) -> Query[Any]:
    """The statement that a function of a package runs."""
    found: Query[Any] = function.statement
    return found


STATEMENTS: Final[list[tuple[str, Command, dict[str, Value]]]] = [
    ("a like", INSERT_IN_GROUP, {"id": "7A", "usual": "app", **NO_SUBJECTS}),
    ("a further like", INSERT_IN_GROUP, {"id": "7B", "actor_id": "o2", "usual": "app", **NO_SUBJECTS}),
    ("a bounce", INSERT_IN_GROUP, {"id": "7C", "type": "bounce", "usual": "app", **NO_SUBJECTS}),
    ("the number", COUNT_UNREAD, {"limit": 100}),
    ("the list", statement(list_notifications), {"before": BEYOND, "limit": 21}),
    ("the page", statement(list_unread), {"before": BEYOND, "limit": 21}),
    ("another liker", FIND_LIKER, {}),
    ("another bouncer", FIND_BOUNCER, {}),
    ("a like taken back", REPLACE_ACTOR, {"actor_id": "o2", "other_id": "o3"}),
    ("the last like taken back", DELETE_GROUP, {"actor_id": "o3"}),
]


def test_cost_of_an_act_is_independent_of_likes_and_bounces(posts: Posts) -> None:
    for name, command, values in STATEMENTS:
        few, many = (posts.cost(command, size, values) for size in (FEW, MANY))
        for little, much in zip(few, many, strict=True):
            # `r` and `n` are the first rows that an index has found, a bounded number of them.
            walked = [walk for walk in much.walked if walk not in ("SCAN r", "SCAN n") and "TEMP B-TREE" not in walk]
            assert walked == [], f"{name}: {much.plan}"
            assert much.work <= LIMIT * little.work, f"{name}: {little.plan}\n{much.plan}"
