"""Who sees which post: the rule against sets of accounts, and every way of reading against the rule."""

import itertools
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressroom.db import Command, Database, Query, Tx
from pressroom.db.params import BATCH
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.accounts.queries import status as people
from pressroom.domains.follows import queries as follows
from pressroom.domains.hubs import queries as hubs
from pressroom.domains.posts.actions import lookup
from pressroom.domains.posts.models import BARE, Post, PostType, PostView
from pressroom.domains.posts.queries import reach, writing
from pressroom.domains.posts.visibility import Relationship, Visibility, may_see, narrows
from pressroom.errors import NotFound
from pressroom.ids import BEYOND, new_id
from tests.harness.action_database import Run

START = 1_800_000_000_000
EVERYTHING = 1_000
EXAMPLES = {"sqlite": 250, "postgres": 150}
HUBS = 2
SET_PRIVATE = Command("UPDATE accounts SET is_private = :is_private WHERE id = :account_id")
SHOWN = Query(str, "SELECT post_id FROM post_tags WHERE tag = :tag AND NOT hidden")

_numbers = itertools.count()

List = Callable[[Tx, str, str, str, int], Awaitable[list[PostView]]]


@dataclass(frozen=True)
class Planned:
    """A post of a graph. Accounts, hubs and posts are numbers; `at` is in milliseconds from the start."""

    author: int
    visibility: Visibility
    hub: int | None
    audience: frozenset[int]
    at: int
    deleted: bool
    shares: int | None
    """For a bounce, which is PUBLIC and outside of hubs: the post that it shares."""


@dataclass(frozen=True)
class Graph:
    """Accounts by number, who follows whom, and posts in the order in which they are kept.

    `private` and `suspended` are what accounts were before they published, `turned` those who changed it afterwards.
    """

    accounts: int
    follows: frozenset[tuple[int, int]]
    posts: tuple[Planned, ...]
    private: frozenset[int] = frozenset()
    suspended: frozenset[int] = frozenset()
    turned: frozenset[int] = frozenset()
    blocks: frozenset[tuple[int, int]] = frozenset()

    @property
    def now_private(self) -> frozenset[int]:
        """Which accounts are private in the end."""
        return self.private ^ self.turned

    @property
    def now_suspended(self) -> frozenset[int]:
        """Which accounts are suspended in the end."""
        return self.suspended ^ self.turned

    @property
    def readers(self) -> list[int | None]:
        """Every account that can sign in, and somebody signed out."""
        return [*(number for number in range(self.accounts) if number not in self.now_suspended), None]

    def relationship(self, reader: int | None, post: Planned) -> Relationship:
        """A reader's relation to a post, by the sets alone."""
        suspended = post.author in self.now_suspended
        if reader is None:
            return Relationship(suspended=suspended)
        return Relationship(
            suspended=suspended,
            is_author=reader == post.author,
            follows=(reader, post.author) in self.follows,
            followed_back=(post.author, reader) in self.follows,
            listed=reader in post.audience,
            blocked=self.blocked(reader, post.author),
        )

    def blocked(self, reader: int | None, author: int) -> bool:
        """Whether one of the two blocks the other."""
        return bool(self.blocks & {(reader, author), (author, reader)})

    def sees(self, reader: int | None, post: Planned) -> bool:
        """Whether a reader may see a post."""
        return may_see(post.visibility, self.relationship(reader, post))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Two to four accounts, any of them following any other, and four to twelve posts."""
    accounts = draw(st.integers(2, 4))
    account = st.integers(0, accounts - 1)
    pairs = list(itertools.permutations(range(accounts), 2))
    following = draw(st.frozensets(st.sampled_from(pairs)))
    blocks = draw(st.just(frozenset[tuple[int, int]]()) | st.frozensets(st.sampled_from(pairs), max_size=3))
    # A block ends follows both ways, so that no list has to look for one behind a follow.
    following -= blocks | {(blocked, blocking) for blocking, blocked in blocks}
    private, suspended, turned = (draw(st.just(frozenset[int]()) | st.frozensets(account)) for _ in range(3))
    posts: list[Planned] = []
    for number in range(draw(st.integers(4, 12))):
        shares = draw(st.none() | st.none() | st.integers(0, number - 1)) if number else None
        posts.append(
            Planned(
                author=draw(account),
                visibility=Visibility.PUBLIC if shares is not None else draw(st.sampled_from(Visibility)),
                hub=None if shares is not None else draw(st.none() | st.integers(0, HUBS - 1)),
                audience=draw(st.frozensets(account)),
                at=draw(st.integers(0, 5)),
                deleted=draw(st.integers(0, 4)) == 0,
                shares=shares,
            )
        )
    return Graph(accounts, following, tuple(posts), private, suspended, turned, blocks)


# Of readers who are not the author, by (follows, is followed back, is listed).
OTHERS = tuple(itertools.product((False, True), repeat=3))
RULES = {
    Visibility.PUBLIC: "yes yes yes yes yes yes yes yes",
    Visibility.FOLLOWERS: "no no no no yes yes yes yes",
    Visibility.CONNECTIONS: "no no no no no no yes yes",
    Visibility.PRIVATE: "no no no no no no no no",
    Visibility.CUSTOM: "no yes no yes no yes no yes",
}


@pytest.mark.parametrize(("visibility", "answers"), RULES.items())
def test_the_rule_in_every_relationship(visibility: Visibility, answers: str) -> None:
    assert [may_see(visibility, Relationship(False, *relationship)) for relationship in OTHERS] == [
        it == "yes" for it in answers.split()
    ]
    assert all(may_see(visibility, Relationship(True, *relationship)) for relationship in OTHERS), (
        "an author sees everything of their own"
    )
    everyone = [
        Relationship(author, *relationship, suspended=True) for author in (False, True) for relationship in OTHERS
    ]
    assert not any(may_see(visibility, relationship) for relationship in everyone), (
        "nobody sees anything of a suspended account"
    )
    blocked = [Relationship(False, *relationship, blocked=True) for relationship in OTHERS]
    assert not any(may_see(visibility, relationship) for relationship in blocked), "neither sees anything of the other"
    assert may_see(visibility, Relationship()) == (visibility is Visibility.PUBLIC)


def allowed(graph: Graph, post: Planned) -> set[int | None]:
    """The readers of a post by docs/posts.md#visibility: a set of accounts, and None for the signed-out one."""
    followers = {reader for reader, followed in graph.follows if followed == post.author}
    followed = {reader for follower, reader in graph.follows if follower == post.author}
    rules: dict[Visibility, set[int | None]] = {
        Visibility.PUBLIC: set(graph.readers),
        Visibility.FOLLOWERS: {*followers, post.author},
        Visibility.CONNECTIONS: {*(followers & followed), post.author},
        Visibility.PRIVATE: {post.author},
        Visibility.CUSTOM: {*post.audience, post.author},
    }
    if post.author in graph.now_suspended:
        return set()
    return {reader for reader in rules[post.visibility] & set(graph.readers) if not graph.blocked(reader, post.author)}


WIDER = {
    "PUBLIC": "PUBLIC FOLLOWERS CONNECTIONS PRIVATE CUSTOM",
    "FOLLOWERS": "FOLLOWERS CONNECTIONS PRIVATE",
    "CONNECTIONS": "CONNECTIONS PRIVATE",
    "PRIVATE": "PRIVATE",
    "CUSTOM": "CUSTOM PRIVATE",
}
"""For each visibility, those from which a change to it shuts nobody out."""


@pytest.mark.parametrize("after", Visibility)
def test_which_changes_shut_somebody_out(after: Visibility) -> None:
    assert {before for before in Visibility if not narrows(before, after)} == set(WIDER[after].split())


@given(graphs())
@settings(max_examples=300, derandomize=True, deadline=None)
def test_the_rule_lets_in_whom_it_is_meant_for(graph: Graph) -> None:
    for post in graph.posts:
        assert {reader for reader in graph.readers if graph.sees(reader, post)} == allowed(graph, post)


@dataclass
class Kept:
    """A graph in the database: the identifiers of its accounts, hubs and posts."""

    graph: Graph
    accounts: list[str]
    hubs: list[str]
    posts: list[str]
    tag: str

    def reader(self, number: int | None) -> str:
        """A reader as the readings want it."""
        return "" if number is None else self.accounts[number]

    def visible(self, reader: int | None, *, author: int | None = None, hub: int | None = None) -> list[str]:
        """The posts of an author, or in a hub, that stand and that the reader may see, newest first."""
        seen = [
            post_id
            for post_id, post in zip(self.posts, self.graph.posts, strict=True)
            if (post.author == author if hub is None else post.hub == hub)
            and not post.deleted
            and self.graph.sees(reader, post)
        ]
        return sorted(seen, reverse=True)

    def tagged(self, reader: int | None) -> list[str]:
        """The posts on the tag's page that a reader sees, newest first."""
        gone = self.graph.now_private | self.graph.now_suspended
        return sorted(
            (
                post_id
                for post_id, post in zip(self.posts, self.graph.posts, strict=True)
                if post.visibility is Visibility.PUBLIC
                and not post.deleted
                and post.author not in gone
                and not self.graph.blocked(reader, post.author)
            ),
            reverse=True,
        )


async def keep(tx: Tx, graph: Graph) -> Kept:
    """Writes a graph down, under identifiers of its own."""
    accounts: list[str] = []
    for _ in range(graph.accounts):
        name = f"name{next(_numbers)}"
        accounts.append((await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))).id)
    for reader, author in sorted(graph.follows):
        await follows.insert_follow(tx, account_id=accounts[reader], followed_id=accounts[author])
    for blocking, blocked in sorted(graph.blocks):
        await follows.insert_block(tx, account_id=accounts[blocking], other_id=accounts[blocked])
    hub_ids = [new_id(tx.now) for _ in range(HUBS)]
    for hub_id in hub_ids:
        slug = f"hub-{next(_numbers)}"
        await hubs.insert_hub(tx, hub_id=hub_id, account_id=accounts[0], slug=slug, name="A hub", description=None)
    kept = Kept(graph, accounts, hub_ids, [], f"tag{next(_numbers)}")
    await set_states(tx, kept, graph.private, graph.suspended)
    for post in graph.posts:
        kept.posts.append(await keep_post(tx, kept, post))
    await set_states(tx, kept, graph.now_private, graph.now_suspended)
    return kept


async def set_states(tx: Tx, kept: Kept, private: frozenset[int], suspended: frozenset[int]) -> None:
    """Makes these accounts private, and those suspended."""
    for number, account_id in enumerate(kept.accounts):
        await tx.run(SET_PRIVATE, account_id=account_id, is_private=number in private)
        await people.suspend(tx, account_id, START if number in suspended else None)


async def keep_post(tx: Tx, kept: Kept, planned: Planned) -> str:
    """Writes one post down, with its audience and its deletion; its id."""
    author, post_id = kept.accounts[planned.author], new_id(START + planned.at)
    hub_id = None if planned.hub is None else kept.hubs[planned.hub]
    post = Post(
        **msgspec.structs.asdict(msgspec.structs.replace(BARE, visibility=planned.visibility, hub_id=hub_id)),
        id=post_id,
        account_id=author,
        key_id=None,
        type=PostType.POST if planned.shares is None else PostType.QUOTE,
        content="Hello",
        created_at=START + planned.at,
        updated_at=START + planned.at,
        original_id=None if planned.shares is None else kept.posts[planned.shares],
    )
    await writing.insert_post(tx, post)
    listed = [kept.accounts[number] for number in sorted(planned.audience)]
    await reach.replace_audience(tx, post_id=post_id, author=author, account_ids=listed)
    if planned.visibility is Visibility.PUBLIC and not planned.deleted:
        await reach.insert_tags(tx, account_id=author, post_id=post_id, tags=[kept.tag])
    if planned.deleted:
        await writing.delete_post(tx, author, post_id, None)
        await reach.set_audience_live(tx, post_id, live=False)
    return post_id


async def all_pages(tx: Tx, read: List, of: str, reader: str, limit: int) -> list[PostView]:
    """A whole list, read page by page; a page that is not full is the last one, for whoever turns pages."""
    found = await read(tx, of, reader, BEYOND, limit)
    while found and len(found) % limit == 0:
        page = await read(tx, of, reader, found[-1].post.id, limit)
        assert len(page) <= limit
        assert len(found) < EVERYTHING, "a page leads back to one before it"
        if not page:
            break
        found += page
    return found


async def check_list(tx: Tx, kept: Kept, read: List, of: str, reader: int | None, expected: list[str]) -> None:
    """A list holds the posts of the rule, at once and in pages of one, two or three posts, by turns."""
    views = await read(tx, of, kept.reader(reader), BEYOND, EVERYTHING)
    assert [view.post.id for view in views] == expected
    for view in views:
        check_original(kept, view, reader)
    limit = next(_numbers) % 3 + 1  # Each list is read dozens of times in an example: all sizes have their turn.
    assert await all_pages(tx, read, of, kept.reader(reader), limit) == views


def check_original(kept: Kept, view: PostView, reader: int | None) -> None:
    """The original of a bounce is there exactly when it stands and the reader may see it."""
    shares = kept.graph.posts[kept.posts.index(view.post.id)].shares
    shown = None if view.original is None else view.original.post.id
    if shares is None:
        assert shown is None
    else:
        original = kept.graph.posts[shares]
        stands = not original.deleted and kept.graph.sees(reader, original)
        assert shown == (kept.posts[shares] if stands else None)


async def check_single_posts(tx: Tx, kept: Kept, reader: int | None) -> None:
    """`find_post` finds posts for the reader, deleted or not; `get_post` those that stand."""
    for post_id, post in zip(kept.posts, kept.graph.posts, strict=True):
        sees = kept.graph.sees(reader, post)
        found = await lookup.find_post(tx, post_id, kept.reader(reader))
        assert (found is not None) == sees
        if found is not None:
            assert (found.id, found.deleted_at is not None) == (post_id, post.deleted)
        if sees and not post.deleted:
            view = await lookup.get_view(tx, post_id, kept.reader(reader))
            assert view.post == found
            check_original(kept, view, reader)
        else:
            with pytest.raises(NotFound):
                await lookup.get_post(tx, post_id, kept.reader(reader))


async def check_readings(tx: Tx, kept: Kept) -> None:
    """Every way of reading, for every reader."""
    for reader in kept.graph.readers:
        await check_single_posts(tx, kept, reader)
        for number, hub_id in enumerate(kept.hubs):
            expected = kept.visible(reader, hub=number)
            await check_list(tx, kept, lookup.list_of_hub, hub_id, reader, expected)
        for number, author in enumerate(kept.accounts):
            expected = kept.visible(reader, author=number)
            await check_list(tx, kept, lookup.list_of_account, author, reader, expected)
        # What may come back comes back with the job; what may not be shown is not shown at any time.
        shown = await lookup.list_of_tag(tx, kept.tag, kept.reader(reader), BEYOND, EVERYTHING)
        assert {view.post.id for view in shown} <= set(kept.tagged(reader))


async def settle_tags(tx: Tx, kept: Kept) -> None:
    """Hides and shows all rows of the tag that are not as they should be, as the job does."""
    for number, account_id in enumerate(kept.accounts):
        hidden = number in kept.graph.now_private | kept.graph.now_suspended
        after: str | None = ""
        while after is not None:
            after = await reach.move_tags(tx, account_id, after=after, limit=2, hidden=hidden)


async def check_tag(tx: Tx, kept: Kept) -> None:
    """The tag's page after the job, which has hidden rows put out of the way."""
    for reader in kept.graph.readers:
        await check_list(tx, kept, lookup.list_of_tag, kept.tag, reader, kept.tagged(reader))
    shown = await tx.all(SHOWN, tag=kept.tag)
    assert sorted(shown, reverse=True) == kept.tagged(None)


def outcomes(graph: Graph) -> Iterator[tuple[Visibility, bool, bool]]:
    """Visibility of each post, whether it is deleted, and whether a reader may see it."""
    for post in graph.posts:
        for reader in graph.readers:
            yield post.visibility, post.deleted, graph.sees(reader, post)


def everything_that_can_be() -> set[tuple[Visibility, bool, bool]]:
    """All that `outcomes` can yield."""
    return set(itertools.product(Visibility, (False, True), (False, True)))


def test_every_way_of_reading_follows_the_rule(db: Database, run: Run) -> None:
    met: set[tuple[Visibility, bool, bool]] = set()

    @given(graphs())
    @settings(max_examples=EXAMPLES[db.engine], derandomize=True, deadline=None)
    def check(graph: Graph) -> None:
        met.update(outcomes(graph))
        kept = run(db.transact(keep, graph))
        run(db.read(check_readings, kept))
        run(db.transact(settle_tags, kept))
        run(db.read(check_tag, kept))

    check()
    assert met == everything_that_can_be(), "the examples leave nothing out"


@pytest.mark.parametrize("listed", [BATCH, 2 * BATCH, 3 * BATCH - 1])
@pytest.mark.parametrize("seldom", [1, 13, BATCH])
def test_a_list_that_names_a_reader_often_is_read_to_its_end(db: Database, run: Run, listed: int, seldom: int) -> None:
    posts = tuple(
        Planned(
            author=0,
            visibility=Visibility.PRIVATE if number % seldom else Visibility.CUSTOM,
            hub=None,
            audience=frozenset({1}),
            at=number,
            deleted=number % 11 == 10,
            shares=None,
        )
        for number in range(listed)
    )

    async def check(tx: Tx, kept: Kept) -> None:
        expected = kept.visible(1, author=0)
        assert expected
        for limit in (1, 20, BATCH):
            views = await all_pages(tx, lookup.list_of_account, kept.accounts[0], kept.reader(1), limit)
            assert [view.post.id for view in views] == expected

    run(db.read(check, run(db.transact(keep, Graph(2, frozenset(), posts)))))
