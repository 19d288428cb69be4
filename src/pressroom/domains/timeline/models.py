"""The entries of a timeline, and the sources that they come from."""

from typing import Final

import msgspec

from pressroom.domains.clips.models import Clip, ClipView
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
    def parts(self) -> list[SeenPost | Clip]:
        """Returns all that it shows: the post or clip, its bounce and the post that it quotes."""
        quoted = self.post.original if self.post else None
        parts = [self.bounce, self.post and self.post.post, quoted and quoted.post, self.clip and self.clip.clip]
        return [each for each in parts if each is not None]


class Timeline(msgspec.Struct):
    """A page of a timeline, newest first. `next_page`: the id below which the next page begins; None on the last."""

    entries: list[Entry]
    next_page: str | None
