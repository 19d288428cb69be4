"""A search equals the plainest rules, after any acts of any accounts, and finds nothing without a permalink."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressroom.clock import DAY, SECOND, SettableClock
from pressroom.db import Command, Database, Tx
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.follows import actions as follows
from pressroom.domains.limits.actions import Allowance
from pressroom.domains.moderation.actions import restore_account, suspend_account
from pressroom.domains.posts.actions import edit, publish, reach
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.models import BARE, Edit, NewPoll, NewPost, PostView, parse_text
from pressroom.domains.posts.visibility import Relationship, Visibility, may_see
from pressroom.domains.privacy import actions as privacy
from pressroom.domains.search import actions, models, names
from pressroom.domains.search.jobs import index_waiting
from pressroom.domains.search.models import parse_search
from pressroom.domains.search.names import search_people
from pressroom.domains.search.posts import search_posts
from pressroom.errors import PressroomError
from tests.harness.action_database import Run

EXAMPLES: Final = {"sqlite": 250, "postgres": 100}
PEOPLE: Final = 4
PLENTY: Final = Allowance(1_000_000, 1_000_000, 1_000_000)
PAGE: Final = 3
LIST: Final = Command(
    "UPDATE accounts SET is_private = :is_private, discoverable = :discoverable WHERE id = :account_id"
)

PIECES: Final = {
    "lamp": ["lamp"],
    "LÄMP": ["lamp"],
    "type": ["type"],
    "日本語": ["日本", "本語"],
    "本": ["本"],
    "#Spring": ["spring"],
    "e-mail": ["e", "mail"],
    "https://example.org/a": ["https", "example", "org", "a"],
}
"""What texts are made of, with the words of each."""

_numbers = itertools.count()


@dataclass
class NaivePost:
    """A post. Accounts are numbers."""

    id: str
    author: int
    pieces: list[str]
    visibility: Visibility
    made_at: int
    has_poll: bool
    deleted: bool = False
    audience: set[int] = field(default_factory=set[int])

    def has(self, words: list[str]) -> bool:
        """Whether these words follow each other in it."""
        all_words = [word for piece in self.pieces for word in PIECES[piece]]
        return any(all_words[place : place + len(words)] == words for place in range(len(all_words)))


@dataclass
class Naive:
    """All that decides about results."""

    posts: list[NaivePost] = field(default_factory=list[NaivePost])
    follows: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    blocks: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    mutes: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    unlisted: set[int] = field(default_factory=set[int])
    suspended: set[int] = field(default_factory=set[int])

    def blocked(self, one: int, other: int) -> bool:
        return (one, other) in self.blocks or (other, one) in self.blocks

    def lists(self, reader: int, other: int) -> bool:
        """Whether a search shows an account to a reader at all."""
        if other in self.suspended or self.blocked(reader, other) or (reader, other) in self.mutes:
            return False
        return other not in self.unlisted or other == reader or (reader, other) in self.follows

    def sees(self, reader: int, post: NaivePost) -> bool:
        relationship = Relationship(
            is_author=reader == post.author,
            follows=(reader, post.author) in self.follows,
            followed_back=(post.author, reader) in self.follows,
            listed=reader in post.audience,
            blocked=self.blocked(reader, post.author),
            suspended=post.author in self.suspended,
        )
        return not post.deleted and may_see(post.visibility, relationship)


Meets = Callable[[NaivePost], bool]

CONDITIONS: Final[dict[str, Meets]] = {
    "lamp": lambda post: post.has(["lamp"]),
    "LÄMP": lambda post: post.has(["lamp"]),
    '"lamp type"': lambda post: post.has(["lamp", "type"]),
    "-type": lambda post: not post.has(["type"]),
    '-"type lamp"': lambda post: not post.has(["type", "lamp"]),
    "日本": lambda post: post.has(["日本"]),
    "日本語": lambda post: post.has(["日本", "本語"]),
    "-本語": lambda post: not post.has(["本語"]),
    "本": lambda post: post.has(["本"]),
    "spring": lambda post: post.has(["spring"]),
    "#spring": lambda post: "#Spring" in post.pieces,
    "-#spring": lambda post: "#Spring" not in post.pieces,
    "#sprin": lambda post: False,
    "e-mail": lambda post: post.has(["e", "mail"]),
    "has:link": lambda post: any(piece.startswith("https") for piece in post.pieces),
    "has:poll": lambda post: post.has_poll,
    "-has:poll": lambda post: not post.has_poll,
    "has:media": lambda post: False,
}


class World:
    """Some accounts, in the database and by the plainest rules. Each method is an act of one account."""

    def __init__(self, db: Database, clock: SettableClock, run: Run) -> None:
        self.db, self.clock, self.run = db, clock, run
        self.word = f"story{next(_numbers)}"
        self.accounts: list[Account] = run(db.transact(self._make))
        self.naive = Naive()

    async def _make(self, tx: Tx) -> list[Account]:
        names = [f"{self.word}_{number}" for number in range(PEOPLE)]
        return [await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash")) for name in names]

    def act(self, verb: str, who: int, other: int, thing: int, pieces: list[str]) -> None:
        """Does something, unless the account cannot sign in or is refused."""
        if who in self.naive.suspended and verb not in {"restore", "index", "wait"}:
            return
        try:
            getattr(self, verb)(who, other, thing, pieces)
        except PressroomError:
            return

    def _transact(self, action: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return self.run(self.db.transact(partial(action, **named), *given))

    def _caller(self, who: int) -> Caller:
        return Caller(self.accounts[who])

    def _name(self, who: int) -> str:
        return self.accounts[who].username

    def _own(self, who: int, thing: int) -> NaivePost:
        own = [post for post in self.naive.posts if post.author == who and not post.deleted]
        if not own:
            raise PressroomError("There are no posts.")
        return own[thing % len(own)]

    def _text(self, pieces: list[str]) -> str:
        return " ".join([self.word, *pieces])

    def publish(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self.clock.advance(thing % 2)
        visibility = list(Visibility)[thing % len(Visibility)]
        fields = msgspec.structs.replace(BARE, visibility=visibility)
        poll = NewPoll(None, ["a", "b"], multiple=False, duration=DAY) if other == 0 else None
        new = NewPost(parse_text(self._text(pieces)), fields, poll)
        view: PostView = self._transact(publish.publish_post, self._caller(who), new, PLENTY)
        made = NaivePost(view.post.id, who, pieces, visibility, self.clock.now(), has_poll=poll is not None)
        self.naive.posts.append(made)

    def edit(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        post = self._own(who, thing)
        visibility = list(Visibility)[(thing + other) % len(Visibility)]
        change = Edit(parse_text(self._text(pieces)), visibility)
        self._transact(edit.edit_post, self._caller(who), post.id, change)
        post.pieces, post.visibility = pieces, visibility

    def delete(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        post = self._own(who, thing)
        self._transact(edit.delete_post, self._caller(who), post.id)
        post.deleted = True

    def bounce(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        if self.naive.posts:
            post = self.naive.posts[thing % len(self.naive.posts)]
            self._transact(publish.bounce_post, self._caller(who), post.id, None, PLENTY)

    def hide(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        post = self._own(who, thing)
        self._transact(edit.hide_post, post_id=post.id, author=self.accounts[who].id)
        post.visibility = Visibility.PRIVATE

    def allow(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        post = self._own(who, thing)
        self._transact(reach.set_audience, self._caller(who), post.id, [self._name(other)])
        post.audience = {other} - {who}

    def follow(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        if self._transact(follows.follow, self._caller(who), self._name(other)).following:
            self.naive.follows.add((who, other))

    def unfollow(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self._transact(follows.unfollow, self._caller(who), self._name(other))
        self.naive.follows.discard((who, other))

    def block(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self._transact(privacy.block, self._caller(who), self._name(other))
        self.naive.follows -= {(who, other), (other, who)}
        self.naive.blocks.add((who, other))

    def unblock(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self._transact(privacy.unblock, self._caller(who), self._name(other))
        self.naive.blocks.discard((who, other))

    def mute(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self._transact(privacy.mute, self._caller(who), self._name(other))
        self.naive.mutes.add((who, other))

    def unlist(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        is_private, discoverable = thing % 3 == 1, thing % 3 != 2
        values = {"account_id": self.accounts[who].id, "is_private": is_private, "discoverable": discoverable}
        self._transact(lambda tx: tx.run(LIST, **values))
        (self.naive.unlisted.add if thing % 3 else self.naive.unlisted.discard)(who)

    def suspend(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self._transact(suspend_account, self._name(who))
        self.naive.suspended.add(who)

    def restore(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self._transact(restore_account, self._name(who))
        self.naive.suspended.discard(who)

    def index(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self.run(index_waiting(self.db))

    def wait(self, who: int, other: int, thing: int, pieces: list[str]) -> None:
        self.clock.advance(DAY)

    def expected(self, reader: int, meets: list[Meets]) -> list[str]:
        """The ids of the posts that a search finds."""
        return [
            post.id
            for post in reversed(self.naive.posts)
            if self.naive.sees(reader, post)
            and self.naive.lists(reader, post.author)
            and all(each(post) for each in meets)
        ]

    async def found(self, reader: int, text: str, budget: float) -> list[str]:
        """The ids of the results, page by page. Each has a permalink for the reader."""
        account_id, ids, cursor = self.accounts[reader].id, list[str](), None
        while True:
            search = parse_search(f"{self.word} {text}")
            page = await search_posts(self.db, search, account_id, cursor, PAGE, budget=budget, grain=2)
            assert len(page.posts) <= PAGE
            assert page.is_complete or (budget == 0 and page.cursor is not None)
            for view in page.posts:
                await self.db.read(get_post, view.post.id, account_id)
            ids += [view.post.id for view in page.posts]
            if page.cursor is None:
                return ids
            cursor = page.cursor


VERBS: Final = [
    *(
        "publish",
        "publish",
        "publish",
        "publish",
        "edit",
        "edit",
        "delete",
        "bounce",
        "hide",
        "allow",
        "allow",
        "follow",
    ),
    *(
        "follow",
        "unfollow",
        "block",
        "unblock",
        "mute",
        "unlist",
        "unlist",
        "suspend",
        "restore",
        "index",
        "index",
        "wait",
    ),
]

person = st.integers(0, PEOPLE - 1)
piece_list = st.lists(st.sampled_from(list(PIECES)), min_size=0, max_size=4)
act = st.tuples(st.sampled_from(VERBS), person, person, st.integers(0, 14), piece_list)
story = st.lists(act, min_size=10, max_size=40)
query = st.lists(st.sampled_from(list(CONDITIONS)), max_size=2, unique=True)


@pytest.fixture(autouse=True)
def _small_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has each search look at many spans."""
    monkeypatch.setattr(models, "SPAN_BITS", 3)
    monkeypatch.setattr(actions, "SPAN_BITS", 3)


def test_posts_follow_the_plainest_rules(db: Database, clock: SettableClock, run: Run) -> None:
    met: set[str] = set()

    @given(story, query, person, person, st.integers(-2, 2))
    @settings(max_examples=EXAMPLES[db.engine], derandomize=True, deadline=None)
    def check(
        acts: list[tuple[str, int, int, int, list[str]]], texts: list[str], reader: int, author: int, days: int
    ) -> None:
        world = World(db, clock, run)
        for each in acts:
            world.act(*each)
        day = (clock.now() // DAY + days) * DAY
        iso_day = datetime.fromtimestamp(day / SECOND, UTC).date().isoformat()
        more: dict[str, Meets] = {
            f"from:{world.accounts[author].username}": lambda post: (
                post.author == author and author not in world.naive.suspended
            ),
            f"-from:{world.accounts[author].username}": lambda post: post.author != author,
            f"since:{iso_day}": lambda post: post.made_at >= day,
            f"until:{iso_day}": lambda post: post.made_at < day + DAY,
            "": lambda post: True,
        }
        for extra, extra_meets in more.items():
            text = " ".join([*texts, extra])
            expected = world.expected(reader, [*(CONDITIONS[each] for each in texts), extra_meets])
            early = run(world.found(reader, text, budget=60))
            assert set(early) <= set(expected), (text, acts)
            if expected:
                met.add(extra[:5])
            if len(expected) > PAGE:
                met.add("pages")
        run(index_waiting(db))
        for extra, extra_meets in more.items():
            text = " ".join([*texts, extra])
            expected = world.expected(reader, [*(CONDITIONS[each] for each in texts), extra_meets])
            assert run(world.found(reader, text, budget=60)) == expected, (text, acts)
            if not extra:
                assert run(world.found(reader, text, budget=0)) == expected, (text, acts)

    check()
    assert met == {"from:", "-from", "since", "until", "", "pages"}, "the examples leave nothing out"


def test_people_follow_the_plainest_rules(
    db: Database, clock: SettableClock, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = 0

    @given(st.lists(act.filter(lambda each: each[0] not in {"publish", "edit", "delete"}), max_size=30), person)
    @settings(max_examples=EXAMPLES[db.engine] // 2, derandomize=True, deadline=None)
    def check(acts: list[tuple[str, int, int, int, list[str]]], reader: int) -> None:
        world = World(db, clock, run)
        for each in acts:
            world.act(*each)
        account_id = world.accounts[reader].id

        def found(text: str) -> list[str]:
            return [each.id for each in run(search_people(db, text, account_id, None, 100)).found]

        def found_early(text: str) -> list[str]:
            """The ids on all pages; each page ends as soon as it can."""
            nonlocal early
            ids, place = list[str](), None
            while True:
                page = run(search_people(db, text, account_id, place, 100))
                ids += [each.id for each in page.found]
                early += not page.is_complete
                if page.place is None:
                    return ids
                place = page.place
                assert place[1] in listed, acts

        listed = [world.accounts[who].id for who in range(PEOPLE) if world.naive.lists(reader, who)]
        assert found(f"{world.word}_") == listed, acts
        with monkeypatch.context() as slow:
            slow.setattr(names, "BUDGET", 0.0)
            slow.setattr(names, "BATCH", 1)
            assert found_early(f"{world.word}_") == listed, acts
            slow.setattr(names, "MOST_SECONDS", 0.0)
            shown = found_early(f"{world.word}_")
            assert shown == listed[: len(shown)], acts
        for who, account in enumerate(world.accounts):
            hidden = (
                who in world.naive.suspended or world.naive.blocked(reader, who) or (reader, who) in world.naive.mutes
            )
            assert found(account.username) == ([] if hidden else [account.id]), acts

    check()
    assert early, "no page ends early"
