"""Explore against a naive model: picks, then changes, then what each reader is shown, on both engines."""

import itertools
from dataclasses import dataclass, field

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Tx
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.explore.actions import open_explore
from pressroom.domains.explore.models import PickKind
from pressroom.domains.explore.picking import Picker
from pressroom.domains.explore.queries import insert_exclusion
from pressroom.domains.follows import queries as follows
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.models import BARE, Post, PostType
from pressroom.domains.posts.queries import reactions, writing
from pressroom.ids import new_id
from tests.harness.action_database import Run

EXAMPLES = {"sqlite": 200, "postgres": 80}
ACCOUNTS = 4
POSTS = 4
TABLES = (
    "explore_picks",
    "explore_exclusions",
    "likes",
    "posts",
    "follows",
    "blocks",
    "mutes",
    "account_words",
    "accounts",
)
CLEAR = [Command(f"DELETE FROM {table}") for table in TABLES]  # noqa: S608  # our own names
CHANGES = {
    "private": Command("UPDATE accounts SET is_private = TRUE WHERE id = :id"),
    "undiscoverable": Command("UPDATE accounts SET discoverable = FALSE WHERE id = :id"),
    "suspended": Command("UPDATE accounts SET suspended_at = 1 WHERE id = :id"),
    "deleted": Command("UPDATE posts SET deleted_at = 1 WHERE id = :id"),
    "narrowed": Command("UPDATE posts SET visibility = 'FOLLOWERS' WHERE id = :id"),
}
OF_POSTS = frozenset({"deleted", "narrowed", "post out"})

_numbers = itertools.count()

Pair = tuple[int, int]


@dataclass(frozen=True)
class Change:
    """A change to an account or post, which are numbers; `by` blocks or mutes it."""

    kind: str
    subject: int
    by: int = 0


@dataclass(frozen=True)
class Plan:
    """Authors of posts, who reacts to them and follows whom, and changes before and after the job."""

    authors: tuple[int, ...]
    likes: frozenset[Pair]
    bounces: frozenset[Pair]
    follows: frozenset[Pair]
    before: tuple[Change, ...]
    after: tuple[Change, ...]


@dataclass
class Model:
    """The state that the rules of docs/web-app.md#explore go by."""

    plan: Plan
    marks: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    blocks: set[Pair] = field(default_factory=set[Pair])
    mutes: set[Pair] = field(default_factory=set[Pair])

    def apply(self, change: Change) -> None:
        """Notes a change."""
        if change.kind == "blocked":
            self.blocks.add((change.by, change.subject))
        elif change.kind == "muted":
            self.mutes.add((change.by, change.subject))
        else:
            self.marks.add((change.kind, change.subject))

    def is_listed(self, account: int) -> bool:
        """Whether explore lists an account."""
        return not any((kind, account) in self.marks for kind in ("private", "undiscoverable", "suspended", "out"))

    def stands(self, post: int) -> bool:
        """Whether a post may be shown to somebody."""
        is_public = not any((kind, post) in self.marks for kind in OF_POSTS)
        return is_public and self.is_listed(self.plan.authors[post])

    def meets(self, reader: int | None, account: int) -> bool:
        """Whether a reader meets an account."""
        pairs = {(reader, account), (account, reader)}
        return not (pairs & self.blocks or (reader, account) in self.mutes)

    def score(self, post: int) -> int:
        """How many accounts reacted to a post, without its author and suspended ones."""
        reacted = {who for who, what in self.plan.likes | self.plan.bounces if what == post}
        return sum(("suspended", who) not in self.marks for who in reacted - {self.plan.authors[post]})

    def near(self, reader: int | None, account: int) -> int:
        """How many of those whom the reader follows follow an account."""
        known = {followed for who, followed in self.plan.follows if who == reader}
        known -= {number for kind, number in self.marks if kind == "suspended"}
        return sum((who, account) in self.plan.follows for who in known)


account = st.integers(0, ACCOUNTS - 1)
post = st.integers(0, POSTS - 1)
reacting = st.frozensets(st.tuples(account, post), max_size=8)
kinds = st.sampled_from(["private", "undiscoverable", "suspended", "out", "deleted", "narrowed", "post out"])
between = st.builds(Change, st.sampled_from(["blocked", "muted"]), account, account)
changes = st.lists(
    st.builds(Change, kinds, account) | between.filter(lambda change: change.by != change.subject), max_size=4
)
plans = st.builds(
    Plan,
    st.tuples(*[account] * POSTS),
    reacting,
    reacting,
    st.frozensets(st.sampled_from(list(itertools.permutations(range(ACCOUNTS), 2))), max_size=8),
    changes.map(tuple),
    changes.map(tuple),
)


@dataclass
class Kept:
    """A plan in the database: the ids of its accounts and posts."""

    accounts: list[str]
    posts: list[str]


async def keep(tx: Tx, plan: Plan) -> Kept:
    """Clears the database and writes a plan down."""
    for clear in CLEAR:
        await tx.run(clear)
    kept = Kept([], [])
    for _ in range(ACCOUNTS):
        name = f"name{next(_numbers)}"
        kept.accounts.append((await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))).id)
    kept.accounts.sort()
    for author in plan.authors:
        kept.posts.append(await publish(tx, kept.accounts[author]))
    for who, what in sorted(plan.likes):
        await reactions.insert_like(tx, kept.posts[what], kept.accounts[who])
    for who, what in sorted(plan.bounces):
        await publish(tx, kept.accounts[who], kept.posts[what])
    for who, whom in sorted(plan.follows):
        await follows.insert_follow(tx, account_id=kept.accounts[who], followed_id=kept.accounts[whom])
    return kept


async def publish(tx: Tx, author: str, original: str | None = None) -> str:
    """Inserts a PUBLIC post, or a plain bounce; returns its id."""
    made = Post(
        **msgspec.structs.asdict(BARE),
        id=new_id(tx.now),
        account_id=author,
        key_id=None,
        type=PostType.SHARE if original else PostType.POST,
        content=None if original else "Hello",
        created_at=tx.now,
        updated_at=tx.now,
        original_id=original,
    )
    await writing.insert_post(tx, made)
    return made.id


async def apply(tx: Tx, kept: Kept, change: Change) -> None:
    """Makes a change in the database."""
    subject = (kept.posts if change.kind in OF_POSTS else kept.accounts)[change.subject]
    by = kept.accounts[change.by]
    if change.kind == "blocked":
        await follows.insert_block(tx, account_id=by, other_id=subject)
    elif change.kind == "muted":
        await follows.insert_mute(tx, account_id=by, muted_id=subject)
    elif change.kind in CHANGES:
        await tx.run(CHANGES[change.kind], id=subject)
    else:
        kind = PickKind.POST if change.kind == "post out" else PickKind.ACCOUNT
        made = new_id(tx.now)
        await insert_exclusion(
            tx, exclusion_id=made, kind=kind, subject=subject, account_id=None, reason="x", admin_id=by
        )


async def check_reader(
    tx: Tx, kept: Kept, model: Model, picked: list[int], people: list[int], reader: int | None
) -> None:
    """Compares a reader's page with the model, and each post with its permalink."""
    reader_id = "" if reader is None else kept.accounts[reader]
    found = await open_explore(tx, reader_id)

    authors = model.plan.authors
    expected = [post for post in picked if model.stands(post) and model.meets(reader, authors[post])]
    assert [view.post.id for view in found.posts] == [kept.posts[post] for post in expected]
    for view in found.posts:
        await get_post(tx, view.post.id, reader_id)
    met = [
        who
        for who in range(ACCOUNTS)
        if who != reader and (reader, who) not in model.plan.follows and (model.near(reader, who) or who in people)
        if model.is_listed(who) and model.meets(reader, who)
    ]
    places = {who: people.index(who) if who in people else 0 for who in met}
    met.sort(key=lambda who: (-model.near(reader, who), places[who], -who))
    assert [person.id for person in found.people] == [kept.accounts[who] for who in met]
    assert [person.followed_by for person in found.people] == [model.near(reader, who) for who in met]


async def check(db: Database, clock: SettableClock, plan: Plan) -> None:
    """Plays a plan and checks all readers."""
    kept, model = await db.transact(keep, plan), Model(plan)
    for change in plan.before:
        await db.transact(apply, kept, change)
        model.apply(change)
    await Picker(db, clock, page=3).run()
    scores = {post: model.score(post) for post in range(POSTS) if model.stands(post) and model.score(post)}
    picked = sorted(scores, key=lambda post: (scores[post], kept.posts[post]), reverse=True)
    lately = {
        author
        for post, author in enumerate(plan.authors)
        if not {("deleted", post), ("narrowed", post)} & model.marks and model.is_listed(author)
    }
    people = sorted(lately, reverse=True)
    for change in plan.after:
        await db.transact(apply, kept, change)
        model.apply(change)
    suspended = {number for kind, number in model.marks if kind == "suspended"}
    for reader in (None, *(number for number in range(ACCOUNTS) if number not in suspended)):
        await db.read(check_reader, kept, model, picked, people, reader)


def test_every_reader_sees_the_results_of_the_model(db: Database, run: Run, clock: SettableClock) -> None:
    @given(plans)
    @settings(max_examples=EXAMPLES[db.engine], derandomize=True, deadline=None)
    def play(plan: Plan) -> None:
        run(check(db, clock, plan))

    play()
