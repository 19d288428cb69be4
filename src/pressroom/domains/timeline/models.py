"""The entries of a timeline, and the sources that they come from."""

from typing import Final

import msgspec

from pressroom.domains.clips.models import ClipView
from pressroom.domains.posts.models import PostView, SeenPost

MANY: Final = 1_500
"""A reader who follows more accounts meets one of them soon in the newest posts of all: those are read first."""

WALKED: Final = 2_000
"""How many of the newest posts of all are read in search of followed authors."""

SOURCES: Final = 200
"""Followed accounts, or joined hubs, that one page looks at beyond their newest entry: those with the newest."""

ROUNDS: Final = 5
"""How often a page reads on when some of its entries are not shown."""


class Author(msgspec.Struct):
    """An account whose entries the timeline shows.

    newest: no entry of it below the page's beginning has a greater id. The reader may not see that one.
    """

    id: str
    newest: str
    has_clips: bool
    followed_back: bool
    muted: bool


class Hub(msgspec.Struct):
    """A hub that the reader joined, with the id of its newest post or clip below the page's beginning that is
    PUBLIC, or whose allowlist names the reader."""

    id: str
    newest: str


class Entry(msgspec.Struct):
    """An entry of a timeline: a post or a clip. `bounce` is the plain bounce that brought a post here.

    `id` is the entry's place in the timeline: the id of the clip, of the bounce or of the post.
    """

    id: str
    post: PostView | None = None
    clip: ClipView | None = None
    bounce: SeenPost | None = None

    @property
    def subject(self) -> str:
        """Returns the id of the post or clip that it shows."""
        return self.post.post.id if self.post else self.id

    @property
    def authors(self) -> set[str]:
        """Returns the ids of the accounts that it shows: of the post or clip, of a bounce and of a quoted post."""
        posts = [self.bounce, *((self.post.post,) if self.post else ())]
        if self.post and self.post.original:
            posts.append(self.post.original.post)
        return {each.account_id for each in (*posts, self.clip.clip if self.clip else None) if each is not None}

    @property
    def texts(self) -> list[str | None]:
        """Returns the texts that word filters look at."""
        quoted = self.post.original if self.post else None
        return [
            self.post.post.content if self.post else None,
            quoted.post.content if quoted else None,
            self.clip.clip.caption if self.clip else None,
        ]


class Timeline(msgspec.Struct):
    """A page of a timeline, newest first. `next_page`: the id below which the next page begins; None on the last."""

    entries: list[Entry]
    next_page: str | None
