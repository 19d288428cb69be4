"""A comment, and how comments stand in a thread."""

from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import MINUTE

NOT_OPEN: Final = "The author of this post does not take comments of this account."

NO_PARENT: Final = "There is no such comment on this post. To comment on the post itself, leave parentId out."


EDITABLE: Final = 15 * MINUTE
"""How long a comment can be edited."""


class MediaType(StrEnum):
    """The kind of a comment's media."""

    GIF = "gif"
    IMAGE = "image"


class CommentMedia(msgspec.Struct):
    """A picture on another site."""

    type: MediaType
    url: str


class CommentDraft(msgspec.Struct):
    """A comment to create."""

    content: str | None
    parent_id: str | None = None
    media: CommentMedia | None = None


class Comment(msgspec.Struct):
    """A stored comment with its author and key. Times are in milliseconds."""

    id: str
    post_id: str
    parent_id: str | None  # the comment that it answers; None at the top of a thread
    thread_id: str  # the comment at the top of its thread
    account_id: str  # the author
    content: str | None  # None once it is deleted
    media_type: str | None
    media_url: str | None  # where the picture or video lies
    created_at: int
    edited_at: int | None
    deleted_at: int | None
    username: str  # this and the next three: the author
    display_name: str
    avatar_token: str | None
    verified: bool
    key_id: str | None = None  # the key that it was written with; None: in the browser
    key_label: str | None = None
    key_prefix: str | None = None


class ThreadEntry(msgspec.Struct):
    """A comment in its thread. `depth` counts the comments above it: 0 at the top."""

    comment: Comment
    depth: int


def in_threads(comments: Sequence[Comment]) -> list[ThreadEntry]:
    """Arranges comments by thread: each followed by its replies, oldest first. Replies come after their comment.

    A reply whose parent is missing is placed at the top.
    """
    replies: defaultdict[str | None, list[Comment]] = defaultdict(list)
    known = {comment.id for comment in comments}
    for comment in comments:
        replies[comment.parent_id if comment.parent_id in known else None].append(comment)
    placed: list[ThreadEntry] = []
    waiting = [ThreadEntry(comment, 0) for comment in reversed(replies[None])]
    while waiting:
        placed.append(waiting.pop())
        last = placed[-1]
        waiting += [ThreadEntry(reply, last.depth + 1) for reply in reversed(replies[last.comment.id])]
    return placed
