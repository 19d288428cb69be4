"""The content of a page, read on one snapshot. `reader` is an account's id, or empty for somebody signed out."""

from typing import Final

import msgspec

from pressroom.db import Database, Tx
from pressroom.db.params import batches
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.accounts.models import Account, folded
from pressroom.domains.accounts.queries import was_deleted
from pressroom.domains.clips.actions import list_of_account as list_clips
from pressroom.domains.clips.models import ClipView
from pressroom.domains.clips.queries import FIND_CLIP
from pressroom.domains.comments import queries as comments
from pressroom.domains.comments.models import Comment, ThreadEntry, in_threads
from pressroom.domains.follows.models import ListedPerson, Relation
from pressroom.domains.follows.queries import get_relation, list_followed_for, list_followers_for
from pressroom.domains.hubs.actions import get_hub_by_slug
from pressroom.domains.hubs.models import Hub
from pressroom.domains.posts.actions import lookup
from pressroom.domains.posts.models import PostView, SeenPost, Version
from pressroom.domains.posts.queries.lookup import FIND_POST
from pressroom.domains.reading.entity_links import weight
from pressroom.errors import NotFound
from pressroom.ids import BEYOND


async def may_see(db: Database, reader: str, owner_id: str, is_clip: bool) -> bool:
    """Returns whether `reader`, the id of an active account, may see a clip or a post. One statement."""
    if is_clip:
        owner = await db.one(FIND_CLIP, clip_id=owner_id, reader=reader)
    else:
        owner = await db.one(FIND_POST, post_id=owner_id, reader=reader)
    return owner is not None and owner.may_be_seen()


POSTS: Final = 20
"""Posts on a page."""

CLIPS: Final = 20
"""Clips on a page of an account's clips."""

PEOPLE: Final = 50
"""Follows that a page of a profile's lists looks at."""

COMMENTS: Final = 100
"""Comments on a page, at the most."""

THREAD_WEIGHT: Final = 60_000
"""The greatest weight of a page's comments: 100 long ones with a few links each, or 15 that hold nothing but
links. Further ones are on the next page."""

DEEPEST: Final = 5
"""Replies below this depth are not indented further; they name the author of their parent."""


class Thread(msgspec.Struct):
    """A page of comments. `answers` names, by comment id, whom a reply answers where its place does not show it.

    `next_page` is where the next page begins: a thread and a comment in it.
    """

    comments: list[ThreadEntry]
    answers: dict[str, str]
    next_page: tuple[str, str] | None


class Permalink(msgspec.Struct):
    """The content of a post's page; of a deleted one, the post alone."""

    view: PostView
    versions: list[Version]
    thread: Thread


class PostPage(msgspec.Struct):
    """A page of posts, and the id below which the next page begins."""

    posts: list[PostView]
    next_page: str | None


class OpenedAccount(msgspec.Struct):
    """An account, and the reader's relation to it. `hidden`: the reader sees no posts, as the account is private and
    they do not follow it, or as they block it."""

    account: Account
    hidden: bool
    relation: Relation

    def shows_lists(self, reader: str) -> bool:
        """Returns whether the account shows the reader whom it follows and who follows it: to itself, and to those who
        may see its posts while it can be found (docs/people.md#lists-on-profiles)."""
        return bool(reader) and (reader == self.account.id or (self.account.discoverable and not self.hidden))


class OpenedProfile(msgspec.Struct):
    """An account's page. `total_posts` counts posts that the reader may see."""

    opened: OpenedAccount
    total_posts: int
    page: PostPage


class OpenedPeople(msgspec.Struct):
    """A page of the followers of an account or of those it follows, and the id below which the next page begins."""

    opened: OpenedAccount
    total_posts: int
    people: list[ListedPerson]
    next_page: str | None


class OpenedClips(msgspec.Struct):
    """A page of an account's clips, and the id below which the next page begins."""

    opened: OpenedAccount
    total_posts: int
    clips: list[ClipView]
    next_page: str | None


async def open_permalink(tx: Tx, post_id: str, reader: str, after: tuple[str, str]) -> Permalink:
    """Returns a post and the page of its comments after `after`. Raises NotFound when the reader may not see it."""
    post = await lookup.find_post(tx, post_id, reader)
    if post is None:
        raise NotFound("There is no such post.")
    # Its page shows the deletion to those who could see it; nothing else of it is read.
    if post.deleted_at is not None:
        return Permalink(PostView(post), [], Thread([], {}, None))
    view = (await lookup.complete(tx, [post], reader))[0]
    versions, thread = await lookup.list_versions(tx, post), await _open_thread(tx, post, reader, after)
    return Permalink(view, versions, thread)


async def open_profile(tx: Tx, username: str, reader: str, before: str, *, media: bool = False) -> OpenedProfile | None:
    """Returns an account and a page of its posts that the reader may see; None when it was deleted. `media`: of posts
    with files. Raises NotFound."""
    opened = await _open_account(tx, username, reader)
    if opened is None or opened.hidden:
        return opened and OpenedProfile(opened, 0, PostPage([], None))
    author = opened.account.id
    posts = await lookup.list_of_account(tx, author, reader, before, POSTS + 1, media=media)
    total_posts = await lookup.count_of_account(tx, opened.account, reader)
    return OpenedProfile(opened, total_posts, _page_of(posts))


async def read_profile(tx: Tx, username: str, reader: str) -> tuple[OpenedAccount, int]:
    """Returns an account and the number of its posts that the reader may see. Raises NotFound, also when it was
    deleted."""
    opened = await _open_account(tx, username, reader)
    if opened is None:
        raise NotFound(f"There is no account {username}.")
    return opened, 0 if opened.hidden else await lookup.count_of_account(tx, opened.account, reader)


async def open_clips(tx: Tx, username: str, reader: str, before: str) -> OpenedClips | None:
    """Returns an account and a page of its clips that the reader may see; None when it was deleted. Raises NotFound."""
    opened = await _open_account(tx, username, reader)
    if opened is None or opened.hidden:
        return opened and OpenedClips(opened, 0, [], None)
    total_posts = await lookup.count_of_account(tx, opened.account, reader)
    clips = await list_clips(tx, opened.account.id, reader, before, CLIPS + 1)
    return OpenedClips(opened, total_posts, clips[:CLIPS], clips[CLIPS - 1].clip.id if len(clips) > CLIPS else None)


async def open_people(tx: Tx, username: str, reader: str, before: str, *, followers: bool) -> OpenedPeople | None:
    """Returns a page of an account's followers, or of the accounts that it follows; None when it was deleted.

    Raises NotFound, also when it does not show them to the reader (docs/people.md#lists-on-profiles).
    """
    opened = await _open_account(tx, username, reader)
    if opened is None:
        return None
    if not opened.shows_lists(reader):
        raise NotFound(f"{opened.account.username} does not show this list.")
    total_posts = await lookup.count_of_account(tx, opened.account, reader)
    read = list_followers_for if followers else list_followed_for
    found = await read(tx, opened.account.id, reader, before, PEOPLE + 1)
    next_page = found[PEOPLE - 1].listed_as if len(found) > PEOPLE else None
    return OpenedPeople(opened, total_posts, [each for each in found[:PEOPLE] if each.shown], next_page)


async def open_hub(tx: Tx, slug: str, reader: str, before: str) -> tuple[Hub, PostPage]:
    """Returns a hub and a page of its posts that the reader may see. Raises NotFound."""
    hub = await get_hub_by_slug(tx, slug, reader)
    posts = await lookup.list_of_hub(tx, hub.id, reader, before, POSTS + 1)
    return hub, _page_of(posts)


async def open_saved(tx: Tx, reader: str, before: str) -> PostPage:
    """Returns a page of the posts that the reader saved and still may see."""
    return PostPage(*await lookup.list_saved(tx, reader, before, POSTS))


async def open_tag(tx: Tx, tag: str, reader: str, before: str) -> PostPage:
    """Returns a page of the PUBLIC posts with a hashtag (its identity). Raises NotFound when there are none at all."""
    posts = await lookup.list_of_tag(tx, tag, reader, before, POSTS + 1)
    # The page behind the last post is empty; only a hashtag without any post does not exist.
    if not posts and not await lookup.list_of_tag(tx, tag, reader, BEYOND, 1):
        raise NotFound("No public post has this hashtag.")
    return _page_of(posts)


async def _open_account(tx: Tx, username: str, reader: str) -> OpenedAccount | None:
    """Returns an account; None when it was deleted and its name is reserved. Raises NotFound."""
    account = await accounts.find_by_username(tx, folded(username))
    if account is None and await was_deleted(tx, folded(username)):
        return None
    if account is None:
        raise NotFound(f"There is no account {username}.")
    relation = Relation(False)
    if reader and account.id != reader:
        relation = await get_relation(tx, account_id=reader, other_id=account.id)
    # A blocked reader learns nothing: the answer is that for a name that nobody has.
    if relation.blocked_by:
        raise NotFound(f"There is no account {username}.")
    hidden = account.is_private and account.id != reader and not relation.following
    return OpenedAccount(account, hidden or relation.blocked, relation)


def _page_of(posts: list[PostView]) -> PostPage:
    return PostPage(posts[:POSTS], posts[POSTS - 1].post.id if len(posts) > POSTS else None)


async def _open_thread(tx: Tx, post: SeenPost, reader: str, after: tuple[str, str]) -> Thread:
    if not post.comments:
        return Thread([], {}, None)
    found = await comments.list_in_threads(
        tx, post.id, reader=reader, thread_id=after[0], after=after[1], limit=COMMENTS + 1
    )
    shown = _as_many_as_fit(found[:COMMENTS])
    names = {comment.id: comment.display_name for comment in shown}
    deleted: list[Comment] = []
    elsewhere = [comment.parent_id for comment in shown if comment.parent_id and comment.parent_id not in names]
    for batch in batches(list(dict.fromkeys(elsewhere))):
        parents = await comments.list_by_id(tx, post.id, batch, reader=reader)
        names |= {parent.id: parent.display_name for parent in parents if parent.deleted_at is None}
        deleted += [parent for parent in parents if parent.deleted_at is not None]
    placed = in_threads(sorted([*shown, *deleted], key=lambda comment: (comment.thread_id, comment.id)))
    answers = {
        each.comment.id: names[each.comment.parent_id]
        for each in placed
        if each.comment.parent_id in names and (each.depth == 0 or each.depth > DEEPEST)
    }
    last = shown[-1] if len(found) > len(shown) else None
    return Thread(placed, answers, (last.thread_id, last.id) if last else None)


def _as_many_as_fit(found: list[Comment]) -> list[Comment]:
    """Returns the first comments, as many as fit on a page: at least one."""
    total = 0
    for place, comment in enumerate(found):
        total += weight(comment.content or "") + len(comment.media_url or "")
        if total > THREAD_WEIGHT and place:
            return found[:place]
    return found
