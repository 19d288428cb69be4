"""Lists of notifications equal those of the plainest rules, after any acts of any accounts."""

import itertools
from functools import partial
from typing import Final

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from pressroom.db import Command, Database, Tx
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.comments import actions as comments
from pressroom.domains.comments.models import CommentDraft
from pressroom.domains.follows import actions as follows
from pressroom.domains.home.actions import list_seen_notifications, open_notices
from pressroom.domains.limits.actions import Allowance
from pressroom.domains.moderation.actions import restore_account, suspend_account
from pressroom.domains.notifications import actions as notifications
from pressroom.domains.notifications.models import NotificationType, Way
from pressroom.domains.posts.actions import edit, publish, react
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.models import BARE, Edit, NewPost, PostType, PostView, parse_text
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.privacy import actions as privacy
from pressroom.domains.privacy.models import WordFilter
from pressroom.errors import PressroomError
from pressroom.ids import BEYOND
from tests.domains.notifications.naive import Naive, NaiveComment, NaivePost, Row, Shown
from tests.harness.action_database import Run

EXAMPLES: Final = {"sqlite": 250, "postgres": 120}
PEOPLE: Final = 4
PLENTY: Final = Allowance(1_000_000, 1_000_000, 1_000_000)
WORD: Final = WordFilter("election", whole_word=True, timeline=False, notifications=True)
SET_PRIVATE: Final = Command("UPDATE accounts SET is_private = :is_private WHERE id = :account_id")

_numbers = itertools.count()


class World:
    """Some accounts, in the database and by the plainest rules. Each method is an act of one account."""

    def __init__(self, db: Database, run: Run, accounts: list[Account]) -> None:
        self._transact = lambda action, *given, **named: run(db.transact(partial(action, **named), *given))
        self._accounts = accounts
        self.naive = Naive([each.id for each in accounts])

    def act(self, verb: str, who: int, other: int, thing: int) -> None:
        """Does something, unless the account cannot sign in or is refused."""
        if who in self.naive.suspended and verb != "restore":
            return
        try:
            getattr(self, verb)(who, other, thing)
        except PressroomError:
            return

    def _caller(self, who: int) -> Caller:
        return Caller(self._accounts[who])

    def _name(self, who: int) -> str:
        return self._accounts[who].username

    def _post(self, thing: int) -> tuple[int, NaivePost]:
        if not self.naive.posts:
            raise PressroomError("There are no posts.")
        number = thing % len(self.naive.posts)
        return number, self.naive.posts[number]

    def publish(self, who: int, other: int, thing: int) -> None:
        visibility = list(Visibility)[thing % 3]
        text = f"The {'election' if thing % 2 else 'weather'}, @{self._name(other)}."
        fields = msgspec.structs.replace(BARE, visibility=visibility)
        view: PostView = self._transact(
            publish.publish_post, self._caller(who), NewPost(parse_text(text), fields), PLENTY
        )
        post = NaivePost(view.post.id, who, visibility, PostType.POST, bool(thing % 2), frozenset({other}))
        self.naive.published(post)

    def bounce(self, who: int, other: int, thing: int) -> None:
        self._bounce(who, thing, None)

    def quote(self, who: int, other: int, thing: int) -> None:
        self._bounce(who, thing, "Look at the election." if other % 2 else "Look at the weather.")

    def _bounce(self, who: int, thing: int, text: str | None) -> None:
        number, post = self._post(thing)
        content = None if text is None else parse_text(text)
        view: PostView = self._transact(publish.bounce_post, self._caller(who), post.id, content, PLENTY)
        original = post.original if post.kind is PostType.SHARE else number
        kind = PostType.SHARE if text is None else PostType.QUOTE
        filtered = text is not None and "election" in text
        self.naive.published(NaivePost(view.post.id, who, Visibility.PUBLIC, kind, filtered, frozenset(), original))

    def edit(self, who: int, other: int, thing: int) -> None:
        number, post = self._post(thing)
        visibility = list(Visibility)[other % 3]
        self._transact(edit.edit_post, self._caller(who), post.id, Edit(None, visibility))
        post.visibility = visibility
        self.naive.mention(number)

    def delete(self, who: int, other: int, thing: int) -> None:
        _, post = self._post(thing)
        self._transact(edit.delete_post, self._caller(who), post.id)
        post.deleted = True
        if post.kind is PostType.SHARE and post.original is not None:
            self.naive.taken_back("bounce", post.original, who)

    def like(self, who: int, other: int, thing: int) -> None:
        number, post = self._post(thing)
        self._transact(react.like_post, self._caller(who), post.id)
        if who not in post.likes:
            post.likes.add(who)
            self.naive.notify(post.author, Row("like", who, number))

    def unlike(self, who: int, other: int, thing: int) -> None:
        number, post = self._post(thing)
        self._transact(react.unlike_post, self._caller(who), post.id)
        if who in post.likes:
            post.likes.remove(who)
            self.naive.taken_back("like", number, who)

    def comment(self, who: int, other: int, thing: int) -> None:
        number, post = self._post(thing)
        made = self._transact(comments.add_comment, self._caller(who), post.id, CommentDraft("Yes"))
        self.naive.commented(NaiveComment(made.id, who, number), None)

    def reply(self, who: int, other: int, thing: int) -> None:
        if not self.naive.comments:
            return
        parent = thing % len(self.naive.comments)
        above = self.naive.comments[parent]
        draft = CommentDraft("No", above.id)
        made = self._transact(comments.add_comment, self._caller(who), self.naive.posts[above.post].id, draft)
        self.naive.commented(NaiveComment(made.id, who, above.post), parent)

    def uncomment(self, who: int, other: int, thing: int) -> None:
        if not self.naive.comments:
            return
        comment = self.naive.comments[thing % len(self.naive.comments)]
        self._transact(comments.delete_comment, self._caller(who), comment.id)
        comment.deleted = True

    def follow(self, who: int, other: int, thing: int) -> None:
        state = self._transact(follows.follow, self._caller(who), self._name(other))
        pair = (who, other)
        if state.following and pair not in self.naive.follows:
            self.naive.follows.add(pair)
            self.naive.requests.discard(pair)
            self.naive.notify(other, Row("follow", who))
        elif state.requested and pair not in self.naive.requests:
            self.naive.requests.add(pair)
            self.naive.notify(other, Row("follow.requested", who))

    def unfollow(self, who: int, other: int, thing: int) -> None:
        self._transact(follows.unfollow, self._caller(who), self._name(other))
        self.naive.unfollowed(who, other)

    def accept(self, who: int, other: int, thing: int) -> None:
        self._transact(follows.accept_request, self._caller(who), self._name(other))
        pair = (other, who)
        if pair in self.naive.requests:
            self.naive.requests.remove(pair)
            self.naive.follows.add(pair)
            self.naive.notify(other, Row("follow.accepted", who))

    def turn(self, who: int, other: int, thing: int) -> None:
        values = {"account_id": self._accounts[who].id, "is_private": bool(thing % 2)}
        self._transact(lambda tx: tx.run(SET_PRIVATE, **values))

    def block(self, who: int, other: int, thing: int) -> None:
        self._transact(privacy.block, self._caller(who), self._name(other))
        self.naive.unfollowed(who, other)
        self.naive.unfollowed(other, who)
        self.naive.blocks.add((who, other))

    def unblock(self, who: int, other: int, thing: int) -> None:
        self._transact(privacy.unblock, self._caller(who), self._name(other))
        self.naive.blocks.discard((who, other))

    def mute(self, who: int, other: int, thing: int) -> None:
        self._transact(privacy.mute, self._caller(who), self._name(other))
        self.naive.mutes.add((who, other))

    def unmute(self, who: int, other: int, thing: int) -> None:
        self._transact(privacy.unmute, self._caller(who), self._name(other))
        self.naive.mutes.discard((who, other))

    def filter(self, who: int, other: int, thing: int) -> None:
        self._transact(privacy.set_filters, self._caller(who), [WORD] if thing % 2 else [])
        (self.naive.filtering.add if thing % 2 else self.naive.filtering.discard)(who)

    def choose(self, who: int, other: int, thing: int) -> None:
        kind = list(NotificationType)[thing % 9]
        way = (Way.APP, Way.OFF, Way.MAIL)[other % 3]
        self._transact(notifications.change_settings, self._accounts[who].id, {kind: way})
        (self.naive.off.add if way is Way.OFF else self.naive.off.discard)((who, kind.value))

    def read(self, who: int, other: int, thing: int) -> None:
        self._transact(notifications.mark_read, self._accounts[who].id, BEYOND)
        for row in self.naive.rows[who]:
            row.read = True

    def suspend(self, who: int, other: int, thing: int) -> None:
        self._transact(suspend_account, self._name(who))
        self.naive.suspended.add(who)

    def restore(self, who: int, other: int, thing: int) -> None:
        self._transact(restore_account, self._name(who))
        self.naive.suspended.discard(who)


VERBS: Final = [
    *(
        "publish",
        "publish",
        "bounce",
        "bounce",
        "quote",
        "edit",
        "edit",
        "delete",
        "like",
        "like",
        "like",
        "unlike",
        "comment",
    ),
    *("comment", "reply", "reply", "uncomment", "follow", "follow", "unfollow", "accept", "turn", "block", "unblock"),
    *("mute", "unmute", "filter", "choose", "read", "suspend", "restore"),
]

person = st.integers(0, PEOPLE - 1)
act = st.tuples(st.sampled_from(VERBS), person, person, st.integers(0, 11))
OPENING: Final = [
    ("publish", 0, 1, 0),
    ("publish", 1, 2, 3),
    ("follow", 2, 0, 0),
    ("comment", 2, 0, 0),
    ("reply", 0, 0, 0),
    ("turn", 3, 0, 1),
    ("follow", 1, 3, 0),
    ("follow", 0, 3, 0),
    ("accept", 3, 0, 0),
]
"""Without posts and followers there is little to tell."""

story = st.lists(act, min_size=8, max_size=40).map(lambda acts: [*OPENING, *acts])


async def make_accounts(tx: Tx) -> list[Account]:
    """Accounts under names of their own."""
    names = [f"name{next(_numbers)}" for _ in range(PEOPLE)]
    return [await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash")) for name in names]


async def read_list(tx: Tx, account_id: str) -> tuple[list[Shown], int]:
    """An account's list, and its unread count. A post that it names has a permalink for the reader."""
    found, following = await list_seen_notifications(tx, account_id, BEYOND, 100)
    assert following is None
    for each in found:
        if each.post_id is not None:
            await get_post(tx, each.post_id, account_id)
    page = await open_notices(tx, account_id, None, None)
    for part in (page.unread, page.read):
        wanted = [each for each in found if (each.read_at is None) == (part is page.unread)]
        assert [shown.notice.id for shown in part] == [each.id for each in wanted][: len(part)]
        for shown, each in zip(part, wanted, strict=False):
            assert (shown.words is not None) == (each.post_id is not None)
    rows = [
        (
            str(each.type),
            each.actor_id or "",
            each.post_id,
            each.comment_id,
            each.others,
            each.read_at is not None,
        )
        for each in found
    ]
    return rows, await notifications.read_unread(tx, account_id)


def test_lists_follow_the_plainest_rules(db: Database, run: Run) -> None:
    met: set[tuple[str, bool, bool]] = set()

    @given(story)
    @settings(max_examples=EXAMPLES[db.engine], derandomize=True, deadline=None)
    def check(acts: list[tuple[str, int, int, int]]) -> None:
        world = World(db, run, run(db.transact(make_accounts)))
        for verb, who, other, thing in acts:
            world.act(verb, who, other, thing)
        naive = world.naive
        for reader, account_id in enumerate(naive.ids):
            if reader in naive.suspended:  # who cannot sign in
                continue
            expected = list(naive.shown(reader))
            rows, unread = run(db.read(read_list, account_id))
            assert rows == expected, acts
            assert unread == sum(not row[5] for row in expected)
            met.update((row[0], row[2] is not None, row[4] > 0) for row in expected)

    check()
    kinds = {"mention", "comment", "reply", "like", "bounce", "quote", "follow", "follow.requested", "follow.accepted"}
    assert {kind for kind, _, _ in met} == kinds, "the examples leave nothing out"
    assert {("like", True, True), ("bounce", True, True), ("reply", False, False), ("mention", False, False)} <= met
