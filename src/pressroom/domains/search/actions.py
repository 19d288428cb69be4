"""Indexing posts, and looking for posts in the index (docs/search.md#the-index)."""

import time
from collections.abc import Mapping
from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.db.params import BATCH
from pressroom.domains.accounts.queries import find_by_username
from pressroom.domains.posts.actions.lookup import list_standing
from pressroom.domains.posts.models import PostView
from pressroom.domains.posts.queries import indexing
from pressroom.domains.posts.queries.indexing import IndexedText
from pressroom.domains.search import queries
from pressroom.domains.search.models import SPAN_BITS, Phrase, Search, author_word, words_of_post
from pressroom.ids import BEYOND, first_id, last_id, time_of
from pressroom.jobs.sweeps import hold

INDEX: Final = "search index"
"""The sweep whose row one process at a time locks while it indexes."""

SECONDS: Final = 0.002
"""Seconds for which one transaction indexes, rounded up to whole posts: on SQLite, requests wait for it."""

LATE: Final = 1_024
"""Posts that may have been indexed after others with greater ids, because their transactions took longer."""


class Line(msgspec.Struct):
    """The part of the index in which a search looks: posts with `oldest <= number < before`, newest first.

    `first_id` and `last_id` bound the ids of posts that match.
    """

    wanted: tuple[Phrase, ...]
    unwanted: tuple[Phrase, ...]
    before: int
    oldest: int
    first_id: str
    last_id: str


class Looked(msgspec.Struct):
    """The result of a part of a line.

    Attributes:
        numbers: The numbers of posts that match, by their ids. Whether the reader may see them was not looked at.
        rest: The `before` of the rest of the line, None at its end.
        seconds: How long it took.
    """

    numbers: dict[str, int]
    rest: int | None
    seconds: float


async def index_posts(tx: Tx) -> bool:
    """Indexes some posts whose words are out of date. Returns whether there may be more."""
    began = time.perf_counter()
    # One process numbers posts at a time: numbers must follow the order in which they are searched.
    await hold(tx, INDEX)
    post_ids = await indexing.claim_unindexed(tx, BATCH)
    if not post_ids:
        return False
    texts = {text.id: text for text in await indexing.find_texts(tx, post_ids)}
    numbers = await queries.list_indexed(tx, post_ids)
    newest = await queries.find_newest(tx)
    number = 0 if newest is None else newest + 1
    done: list[str] = []
    for post_id in post_ids:
        text, known = texts.get(post_id), numbers.get(post_id)
        done.append(post_id)
        if text is not None and text.deleted_at is None:
            await _index(tx, text, number if known is None else known, is_new=known is None)
            number += known is None
        elif known is not None:
            await queries.remove_post(tx, known)
        if time.perf_counter() - began > SECONDS:
            break
    # In the same transaction as the words: a kill leaves both or neither.
    await indexing.delete_unindexed(tx, done)
    return len(done) < len(post_ids) or len(post_ids) == BATCH


async def _index(tx: Tx, text: IndexedText, number: int, *, is_new: bool) -> None:
    words = words_of_post(
        text.content or "",
        number=number,
        account_id=text.account_id,
        has_media=text.has_media,
        has_poll=text.has_poll,
        has_link=text.preview_url is not None,
    )
    await queries.put_post(tx, number=number, is_new=is_new, post_id=text.id, account_id=text.account_id, words=words)


async def index_again(tx: Tx) -> None:
    """Empties the index and has all posts indexed: its numbers follow the posts' ids, and the ids of imported posts lie
    between those of others."""
    await hold(tx, INDEX)
    await queries.empty_index(tx)
    await indexing.note_all(tx)


async def begin_search(tx: Tx, search: Search, cursor: str | None) -> Line | None:
    """Returns the part of the index in which a search looks, from the `cursor` on; None when nothing can be found."""
    wanted, unwanted = list(search.wanted), list(search.unwanted)
    for names, phrases in ((search.authors, wanted), (search.not_authors, unwanted)):
        for name in names:
            account = await find_by_username(tx, name)
            if account is not None:
                phrases.append((author_word(account.id),))
            # Posts of an unknown account: there are none. To leave an unknown account out changes nothing.
            elif names is search.authors:
                return None
    newest = await queries.find_newest(tx)
    line = Line(tuple(wanted), tuple(unwanted), (newest or 0) + 1, 0, "", BEYOND)
    if newest is None:
        return None
    if cursor is not None:
        last = await queries.find_up_to(tx, cursor)
        # The cursor's own post was shown; a cursor that names a moment is no post, and the one before it is still to be
        # shown.
        line.before = 0 if last is None else last.number + (last.post_id != cursor)
    if search.until is not None:
        line.last_id = last_id(search.until)
        last = await queries.find_up_to(tx, line.last_id)
        line.before = 0 if last is None else min(line.before, last.number + 1 + LATE)
    if search.since is not None:
        line.first_id = first_id(search.since)
        first = await queries.find_from(tx, line.first_id)
        line.oldest = line.before if first is None else max(0, first.number - LATE)
    return line if line.oldest < line.before else None


async def look_further(tx: Tx, line: Line, before: int, *, reader: str, spans: int, limit: int) -> Looked:
    """Looks for posts that match, below the number `before`.

    Looks at some spans, and at `limit` matches at most, whether the reader may see them or not. It runs in a thread on
    SQLite, which holds Python's lock for as long as it runs Python: so it asks for no more than their numbers.
    """
    began = time.perf_counter()
    newest = (before - 1) >> SPAN_BITS
    oldest = max(line.oldest >> SPAN_BITS, newest - spans + 1)
    matches = await queries.find_matches(
        tx,
        line.wanted,
        line.unwanted,
        reader=reader,
        spans=range(newest, oldest - 1, -1),
        before=before,
        oldest=line.oldest,
        limit=limit,
    )
    # A full page ends at its last match, hidden or not: so a step costs the same for every reader.
    rest = matches[-1].number if len(matches) == limit else max(oldest << SPAN_BITS, line.oldest)
    numbers = {
        match.post_id: match.number
        for match in matches
        if not match.is_hidden and line.first_id <= match.post_id <= line.last_id
    }
    return Looked(numbers, rest if rest > line.oldest else None, time.perf_counter() - began)


async def show_matches(tx: Tx, numbers: Mapping[str, int], reader: str) -> list[tuple[int, PostView]]:
    """Returns those matches that the reader may see, with their numbers, newest first.

    An edit may have come since they were found: its post is not shown until it is indexed, as it may not match now.
    """
    unindexed = set(await indexing.list_unindexed(tx, list(numbers)))
    views = await list_standing(tx, [post_id for post_id in numbers if post_id not in unindexed], reader)
    return [(numbers[view.post.id], view) for view in views]


async def find_cut(tx: Tx, number: int) -> str | None:
    """Returns the cursor that continues a search below a number; None at the end.

    It names the moment of a post, whether that matches or not, and is no post's id.
    """
    below = await queries.find_below(tx, number)
    return None if below is None else last_id(time_of(below.post_id))
