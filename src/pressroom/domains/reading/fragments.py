"""Comments and cards of posts as signed-out visitors see them, rendered once for each state (docs/web-app.md#reading).

Those of signed-in readers contain forms, and are rendered for each request.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from markupsafe import Markup

from pressroom.domains.comments.schemas import CommentOut
from pressroom.domains.media.models import MediaEntryType, ProcessingStatus
from pressroom.domains.media.schemas import MediaEntryOut
from pressroom.domains.posts.models import PostType
from pressroom.domains.posts.schemas import PostOut
from pressroom.web.fragments import Fragments
from pressroom.web.template_filters import short_age


class CommentEntry(msgspec.Struct):
    """A comment of a page.

    depth: how far it is indented. answers: the author of the comment that it answers, where the page does not show that
    comment above it; else None. is_deleted: it is only the place of its replies.
    """

    comment: CommentOut
    depth: int
    answers: str | None
    is_deleted: bool
    may_edit: bool
    may_delete: bool


Macro = Callable[..., Markup]
"""A macro of Jinja, with the context of the page that it was imported into."""

_COMMENT: Final = "comment"
_CARD: Final = "card"


class PageFragments:
    """The comments and cards of one page. Without a cache each is rendered for the request.

    Args:
        kept: The cache; None on the page of a signed-in reader.
        placeholders: The tiny pictures that stand for files until they have loaded, by the file's id.
        now: The time of the request in milliseconds.
    """

    def __init__(self, kept: Fragments[Markup] | None, placeholders: Mapping[str, str | None], now: int) -> None:
        self._kept = kept
        self._placeholders = placeholders
        self._now = now
        self._has_picture = False

    def comment(self, macro: Macro, item: CommentEntry, has_replies: bool) -> Markup:
        """Returns a comment of a thread."""
        if self._kept is None:
            return macro(item, has_replies)
        return self._kept.get((_COMMENT, item, has_replies), lambda: macro(item, has_replies))

    def card(self, macro: Macro, post: PostOut) -> Markup:
        """Returns a post of a list. The first picture among the posts of a page is loaded before the others."""
        top = post.original_post if post.type == PostType.SHARE else post
        is_first = not self._has_picture and top is not None and any(map(_is_picture, top.media or ()))
        self._has_picture = self._has_picture or is_first
        if self._kept is None:
            return macro(post, is_first)
        shown = [each for each in (post, post.original_post) if each is not None]
        ages = [short_age(each.created_at, self._now) for each in shown]
        pictures = [self._placeholders.get(file.id) for each in shown for file in each.media or ()]
        return self._kept.get((_CARD, post, is_first, ages, pictures), lambda: macro(post, is_first))


def _is_picture(file: MediaEntryOut) -> bool:
    return file.processing_status == ProcessingStatus.READY and file.type is not MediaEntryType.VIDEO
