"""Posts as a reader sees them: `reader` is an account's id, or empty for somebody signed out."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from pressroom.db import Tx
from pressroom.db.params import batches
from pressroom.domains.accounts.models import Account
from pressroom.domains.accounts.queries import status
from pressroom.domains.follows import queries as follows
from pressroom.domains.media.actions import list_of_owners
from pressroom.domains.posts.models import Poll, PollOption, PostView, SeenPost, Version
from pressroom.domains.posts.queries import lookup, reactions
from pressroom.domains.posts.queries.lookup import AUTHORS
from pressroom.domains.posts.queries.reactions import OptionRow
from pressroom.domains.posts.visibility import Relationship, Visibility, may_see
from pressroom.domains.previews.actions import find_cards
from pressroom.errors import NotFound

VERSIONS: Final = 50
"""How many earlier versions of a post its author is shown."""

LISTED_COUNTED: Final = 100
"""A profile counts at most so many CUSTOM posts that the reader may see: more would cost more than the page."""

_NO_POST: Final = "There is no such post."


async def get_post(tx: Tx, post_id: str, reader: str, *, by_key: bool = False) -> SeenPost:
    """Returns a post that is not deleted and that the reader (with `by_key`: the reader's key) may see.

    Raises NotFound, and does not tell a hidden post from an unknown one.
    """
    post = await find_post(tx, post_id, reader)
    if post is None or post.deleted_at is not None or (by_key and not post.may_be_read_by_key()):
        raise NotFound(_NO_POST)
    return post


async def find_post(tx: Tx, post_id: str, reader: str) -> SeenPost | None:
    """Returns the post, deleted or not, if the reader may see it."""
    post = await lookup.find_post(tx, post_id, reader=reader)
    return post if post is not None and post.may_be_seen() else None


async def get_view(tx: Tx, post_id: str, reader: str, *, by_key: bool = False) -> PostView:
    """Returns the post with its poll, media, card and original. Raises NotFound as `get_post` does."""
    view = (await complete(tx, [await get_post(tx, post_id, reader, by_key=by_key)], reader))[0]
    # A key reads what its account published and PUBLIC posts, so an original for followers stays hidden.
    if by_key and view.original and not view.original.post.may_be_read_by_key():
        view.original = None
    return view


async def complete(tx: Tx, posts: Sequence[SeenPost], reader: str) -> list[PostView]:
    """Adds to posts their polls, media, cards and those originals that the reader may see. Keeps their order."""
    # Most posts have none of these: four statements are saved.
    if not any(post.original_id or post.has_poll or post.has_media or post.preview_url for post in posts):
        return [PostView(post) for post in posts]
    originals = await find_standing(tx, [post.original_id for post in posts if post.original_id], reader)
    everyone = {post.id: post for post in (*posts, *originals)}
    their_polls = await _polls(tx, [post.id for post in everyone.values() if post.has_poll], reader)
    their_media = await list_of_owners(tx, [post.id for post in everyone.values() if post.has_media])
    their_cards = await find_cards(tx, [post.preview_url for post in everyone.values() if post.preview_url])

    def view(post: SeenPost, original: PostView | None = None) -> PostView:
        card = their_cards.get(post.preview_url or "")
        return PostView(post, their_polls.get(post.id), original, their_media.get(post.id, []), card)

    shown = {post.id: view(post) for post in originals}
    return [view(post, shown.get(post.original_id or "")) for post in posts]


async def list_of_account(
    tx: Tx, author: str, reader: str, before: str, limit: int, *, media: bool = False
) -> list[PostView]:
    """Returns the account's posts that the reader may see, newest first, with ids below `before`. `media`: those with
    pictures or videos.

    Each visibility that the reader may see is read by its own index: no posts are read that the reader may not see.
    """
    if reader == author:
        ids = await lookup.list_of_own(tx, author, before=before, limit=limit, media=media)
    else:
        ids = await _list_for_others(tx, author, reader, before, limit, media=media)
    return await _views(tx, sorted(ids, reverse=True)[:limit], reader)


async def count_of_account(tx: Tx, account: Account, reader: str) -> int:
    """Counts the account's posts that the reader may see; of CUSTOM ones at most LISTED_COUNTED."""
    if reader == account.id:
        return account.total_posts
    counts = await status.count_posts(tx, account.id)
    between = await follows.get_between(tx, account_id=reader, other_id=account.id)
    relationship = Relationship(False, between.follows, between.followed_back, blocked=between.blocked)
    by_visibility = (
        (Visibility.PUBLIC, counts.public),
        (Visibility.FOLLOWERS, counts.followers),
        (Visibility.CONNECTIONS, counts.connections),
    )
    total = sum(count for visibility, count in by_visibility if may_see(visibility, relationship))
    if not reader:
        return total
    return total + await lookup.count_listed(tx, account.id, reader=reader, limit=LISTED_COUNTED)


async def list_of_hub(tx: Tx, hub_id: str, reader: str, before: str, limit: int) -> list[PostView]:
    """Returns the posts in a hub that the reader may see, newest first, with ids below `before`.

    Like those of an account: no posts are read that the reader may not see.
    """
    ids = await lookup.list_of_hub(tx, hub_id, reader=reader, before=before, limit=limit)
    if reader:
        # Those with the newest posts are all that can have one among the newest.
        authors = await lookup.list_hub_authors(tx, hub_id, reader=reader, before=before, limit=limit)
        for start in range(0, len(authors), AUTHORS):
            some = authors[start : start + AUTHORS]
            ids += await lookup.list_of_hub_authors(tx, hub_id, some, before=before, limit=limit)
    return await _views(tx, sorted(set(ids), reverse=True)[:limit], reader)


async def list_of_tag(tx: Tx, tag: str, reader: str, before: str, limit: int) -> list[PostView]:
    """Returns the PUBLIC posts with a hashtag (its identity), newest first, with ids below `before`."""
    return await _views(tx, await lookup.list_of_tag(tx, tag, reader=reader, before=before, limit=limit), reader)


async def list_saved(tx: Tx, reader: str, before: str, limit: int) -> tuple[list[PostView], str | None]:
    """Returns those of the next `limit` posts that the reader saved which still stand and which they still may see,
    newest post first, and the id below which the next ones are; None on the last page."""
    ids = await lookup.list_saved(tx, reader, before=before, limit=limit + 1)
    # Cut before the check: the place behind a page must not depend on posts that the reader may not see.
    shown = ids[:limit]
    views = await list_standing(tx, shown, reader)
    return views, shown[-1] if len(ids) > limit else None


async def list_seen(tx: Tx, post_ids: Sequence[str], reader: str) -> set[str]:
    """Returns those of the ids that may be named to the reader: of posts of their own, deleted or not, and of posts
    that stand and that they may see."""
    found = await _find_all(tx, list(dict.fromkeys(post_ids)), reader)
    return {post.id for post in found if post.is_author or (post.deleted_at is None and post.may_be_seen())}


async def list_standing(tx: Tx, post_ids: Sequence[str], reader: str) -> list[PostView]:
    """Returns those of the posts that stand and that the reader may see, in this order."""
    return await complete(tx, await find_standing(tx, post_ids, reader), reader)


async def list_versions(tx: Tx, post: SeenPost) -> list[Version]:
    """Returns the versions of a post before its latest edits, newest first; none to anyone but its author."""
    if not post.is_author or post.edited_at is None:
        return []
    return await lookup.list_versions(tx, post.account_id, post.id, VERSIONS)


async def _list_for_others(tx: Tx, author: str, reader: str, before: str, limit: int, *, media: bool) -> list[str]:
    """Returns the ids below `before` of an account's posts that somebody else may see, in no order."""
    between = await follows.get_between(tx, account_id=reader, other_id=author)
    relationship = Relationship(False, between.follows, between.followed_back, blocked=between.blocked)
    ids: list[str] = []
    # An index for each visibility: rows that the reader may not see are never read, so their number costs nothing.
    for visibility in Visibility:
        if may_see(visibility, relationship):
            ids += await lookup.list_of_account(tx, author, visibility, before=before, limit=limit, media=media)
    if reader:
        ids += await lookup.list_for_listed(tx, author, reader=reader, before=before, limit=limit, media=media)
    return ids


async def _views(tx: Tx, post_ids: Sequence[str], reader: str) -> list[PostView]:
    """Returns those of the posts with these ids that the reader may see, in this order."""
    found = await _find_all(tx, post_ids, reader)
    return await complete(tx, [post for post in found if post.may_be_seen()], reader)


async def find_standing(tx: Tx, post_ids: Sequence[str], reader: str) -> list[SeenPost]:
    """Returns those of the posts that are not deleted and that the reader may see."""
    found = await _find_all(tx, list(dict.fromkeys(post_ids)), reader)
    return [post for post in found if post.deleted_at is None and post.may_be_seen()]


async def _find_all(tx: Tx, post_ids: Sequence[str], reader: str) -> list[SeenPost]:
    """Returns the posts with these ids, in this order."""
    found = [post for batch in batches(post_ids) for post in await lookup.find_posts(tx, batch, reader=reader)]
    # Batches come in no order, and an erased post is missing.
    by_id = {post.id: post for post in found}
    return [by_id[post_id] for post_id in post_ids if post_id in by_id]


async def _polls(tx: Tx, post_ids: Sequence[str], reader: str) -> dict[str, Poll]:
    """Returns the polls of these posts, by post id."""
    options: defaultdict[str, list[OptionRow]] = defaultdict(list)
    for batch in batches(post_ids):
        for option in await reactions.list_options(tx, batch, reader=reader):
            options[option.post_id].append(option)
    return {post_id: _poll(rows) for post_id, rows in options.items()}


def _poll(rows: list[OptionRow]) -> Poll:
    first = rows[0]
    own = [int(choice) for choice in (first.choices or "").split()]
    options = [PollOption(row.label, row.votes) for row in rows]
    return Poll(first.question, first.multiple, first.closes_at, first.total_votes, options, own)
