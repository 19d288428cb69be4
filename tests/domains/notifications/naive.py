"""Notifications by the plainest rules: sets, lists, and a look at all of them for every answer."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pressroom.domains.posts.models import PostType
from pressroom.domains.posts.visibility import Relationship, Visibility, may_see

GROUPED = {"like", "bounce"}
ONCE = {"follow", "follow.requested", "follow.accepted"}

Shown = tuple[str, str, str | None, str | None, int, bool]
"""Type, actor, post, comment, others, and whether it is read."""


@dataclass
class NaivePost:
    """A post. Accounts are numbers."""

    id: str
    author: int
    visibility: Visibility
    kind: PostType
    filtered: bool
    mentions: frozenset[int]
    original: int | None = None
    deleted: bool = False
    told: set[int] = field(default_factory=set[int])
    likes: set[int] = field(default_factory=set[int])


@dataclass
class NaiveComment:
    """A comment under the post with this number."""

    id: str
    author: int
    post: int
    deleted: bool = False


@dataclass
class Row:
    """A notification. Posts and comments are numbers."""

    type: str
    actor: int
    post: int | None = None
    comment: int | None = None
    read: bool = False


class Naive:
    """Accounts, by the numbers of their ids, with all that decides about their notifications."""

    def __init__(self, ids: list[str]) -> None:
        self.ids = ids
        self.follows: set[tuple[int, int]] = set()
        self.requests: set[tuple[int, int]] = set()
        self.blocks: set[tuple[int, int]] = set()
        self.mutes: set[tuple[int, int]] = set()
        self.suspended: set[int] = set()
        self.off: set[tuple[int, str]] = set()
        self.filtering: set[int] = set()
        self.posts: list[NaivePost] = []
        self.comments: list[NaiveComment] = []
        self.rows: list[list[Row]] = [[] for _ in ids]

    def blocked(self, one: int, other: int) -> bool:
        """Whether one of two accounts blocks the other."""
        return bool(self.blocks & {(one, other), (other, one)})

    def sees(self, reader: int, number: int) -> bool:
        """Whether a reader may see a post, deleted or not."""
        post = self.posts[number]
        return may_see(
            post.visibility,
            Relationship(
                is_author=reader == post.author,
                follows=(reader, post.author) in self.follows,
                followed_back=(post.author, reader) in self.follows,
                blocked=self.blocked(reader, post.author),
                suspended=post.author in self.suspended,
            ),
        )

    def bounces(self, number: int) -> list[int]:
        """The accounts that plainly bounce a post."""
        return [
            post.author
            for post in self.posts
            if post.kind is PostType.SHARE and post.original == number and not post.deleted
        ]

    def notify(self, whom: int, row: Row, *, filtered: bool = False) -> None:
        """Notifies an account, or does not."""
        if row.actor == whom or (whom, row.type) in self.off or (filtered and whom in self.filtering):
            return
        if self.blocked(whom, row.actor) or (whom, row.actor) in self.mutes:
            return
        own = self.rows[whom]
        if row.type in ONCE and any((each.type, each.actor) == (row.type, row.actor) for each in own):
            return
        if row.type in GROUPED:
            own[:] = [each for each in own if (each.type, each.post) != (row.type, row.post)]
        own.append(row)

    def published(self, post: NaivePost) -> None:
        """Adds a post and notifies those whom it mentions, and whose post it bounces."""
        self.posts.append(post)
        number = len(self.posts) - 1
        self.mention(number)
        if post.original is not None:
            author = self.posts[post.original].author
            if post.kind is PostType.SHARE:
                self.notify(author, Row("bounce", post.author, post.original))
            else:
                self.notify(author, Row("quote", post.author, number), filtered=post.filtered)

    def mention(self, number: int) -> None:
        """Notifies those whom a post mentions and who were not told of it, in the order of their numbers."""
        post = self.posts[number]
        for whom in sorted(post.mentions - post.told - {post.author} - self.suspended):
            if self.sees(whom, number) and not (post.filtered and whom in self.filtering):
                post.told.add(whom)
                self.notify(whom, Row("mention", post.author, number))

    def commented(self, comment: NaiveComment, parent: int | None) -> None:
        """Adds a comment and notifies the author of its parent, and that of the post."""
        self.comments.append(comment)
        number, author = len(self.comments) - 1, self.posts[comment.post].author
        answered = None if parent is None else self.comments[parent].author
        filtered = False
        if author != answered or answered == comment.author:
            self.notify(author, Row("comment", comment.author, comment.post, number), filtered=filtered)
        if answered is not None and self.sees(answered, comment.post):
            self.notify(answered, Row("reply", comment.author, comment.post, number), filtered=filtered)

    def taken_back(self, kind: str, number: int, actor: int) -> None:
        """Names another account in the place of one that took its like or bounce back."""
        post = self.posts[number]
        rows = self.rows[post.author]
        row = next((each for each in rows if (each.type, each.post, each.actor) == (kind, number, actor)), None)
        if row is None:
            return
        others = [
            each
            for each in (post.likes if kind == "like" else self.bounces(number))
            if each not in self.suspended | {post.author}
            and not self.blocked(post.author, each)
            and (post.author, each) not in self.mutes
        ]
        if others:
            row.actor = max(others, key=self.ids.__getitem__)
        else:
            rows.remove(row)

    def unfollowed(self, follower: int, followed: int) -> None:
        """Ends a follow or a request, with the notifications of it."""
        pair = (follower, followed)
        if pair not in self.follows | self.requests:
            return
        self.follows.discard(pair)
        self.requests.discard(pair)
        about = {"follow", "follow.requested"}
        self.rows[followed] = [each for each in self.rows[followed] if each.actor != follower or each.type not in about]
        self.rows[follower] = [
            each for each in self.rows[follower] if each.actor != followed or each.type != "follow.accepted"
        ]

    def shown(self, reader: int) -> Iterator[Shown]:
        """The notifications of an account's list, newest first."""
        for row in reversed(self.rows[reader]):
            post = None if row.post is None else self.posts[row.post]
            comment = None if row.comment is None else self.comments[row.comment]
            if row.actor in self.suspended or self.blocked(reader, row.actor) or (reader, row.actor) in self.mutes:
                continue
            if (post is not None and post.deleted) or (comment is not None and comment.deleted):
                continue
            seen = row.post is not None and self.sees(reader, row.post)
            others = 0
            if row.post is not None and post is not None and row.type in GROUPED:
                acting = post.likes if row.type == "like" else set(self.bounces(row.post))
                others = len(acting - {post.author}) - 1
            yield (
                row.type,
                self.ids[row.actor],
                post.id if post is not None and seen else None,
                comment.id if comment is not None and seen else None,
                others,
                row.read,
            )
