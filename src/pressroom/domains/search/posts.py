"""A search for posts, step by step, within a time (docs/search.md#complete)."""

from typing import Final

import msgspec

from pressroom.db import Database
from pressroom.db.params import BATCH
from pressroom.domains.posts.models import PostView
from pressroom.domains.search.actions import begin_search, find_cut, look_further, show_matches
from pressroom.domains.search.models import Search
from pressroom.ids import BEYOND

BUDGET: Final = 0.012
"""Seconds of looking after which a search ends with its results so far: with the rest of a request, 20 ms at most."""

PATIENCE: Final = 0.2
"""The same for a page: a person would have to ask for the rest, which a program does by itself."""

QUICK: Final = 0.002
"""Seconds; after a step that took less, the next one looks at twice as many spans."""

FIRST_SPANS: Final = 4
MOST_SPANS: Final = 64
"""Spans that one step looks at."""

GRAIN: Final = 1_024
"""A search that has used up its time ends at a number that this divides, so that its cursor does not tell where a post
is that the reader may not see."""


class FoundPosts(msgspec.Struct):
    """A page of posts. `is_complete`: all posts that are newer than `cursor`, or all, were looked at."""

    posts: list[PostView]
    cursor: str | None
    is_complete: bool = True


async def search_posts(
    db: Database,
    search: Search,
    reader: str,
    cursor: str | None,
    limit: int,
    *,
    budget: float = BUDGET,
    grain: int = GRAIN,
) -> FoundPosts:
    """Returns up to `limit` posts that match a search and that the reader may see, newest first."""
    line = await db.read(begin_search, search, cursor)
    if line is None:
        return FoundPosts([], None)
    found: list[tuple[int, PostView]] = []
    before, spans, most, spent = line.before, FIRST_SPANS, min(limit + 1, BATCH), 0.0
    while True:
        # A statement of FTS5 cannot be interrupted, and a common word may take it some milliseconds.
        looked = await db.read_in_thread(look_further, line, before, reader=reader, spans=spans, limit=most)
        spent += looked.seconds  # Without the wait for the thread: others' searches use nothing up.
        if looked.numbers:
            found += await db.read(show_matches, looked.numbers, reader)
        if len(found) > limit:
            return FoundPosts([view for _, view in found[:limit]], found[limit - 1][1].post.id)
        if looked.rest is None:
            return FoundPosts([view for _, view in found], None)
        # Rounded up: the exact place would tell where a hidden post matches.
        cut = -(-looked.rest // grain) * grain
        if spent > budget and cut < line.before:
            next_cursor = await db.read(find_cut, cut)
            # The next page begins with all posts of its cursor's millisecond, which this page may have begun with.
            if next_cursor is None or next_cursor < (cursor or BEYOND):
                shown = [view for number, view in found if number >= cut and view.post.id > (next_cursor or "")]
                return FoundPosts(shown, next_cursor, is_complete=next_cursor is None)
        # Rare words need many spans, common ones few; neither is known beforehand.
        spans = min(spans * 2, MOST_SPANS) if looked.seconds < QUICK else max(1, spans // 2)
        before = looked.rest
