"""Wire shapes of the comments package (docs/posts.md#comments)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.accounts.schemas import AuthorOut, author_of
from pressroom.domains.comments.models import Comment, CommentDraft, CommentMedia, MediaType
from pressroom.domains.keys.schemas import SourceKeyOut, source_key
from pressroom.errors import Code, FieldError
from pressroom.text import is_blank
from pressroom.web.json_bodies import Body
from pressroom.web.permalinks import Permalinks
from pressroom.web.wire import EXAMPLE_BASE, VISIBLE, Id, NextCursor, Permalink, Time, Url, some_given


class MediaIn(Body):
    """Something to look at, elsewhere."""

    type: MediaType
    url: Annotated[
        str,
        Meta(
            max_length=2000,
            description="An https address without credentials.",
            extra_json_schema={"format": "uri", "pattern": r"^[hH][tT][tT][pP][sS]://"},
        ),
    ]


class CreateComment(Body):
    """A comment to publish."""

    json_schema: ClassVar = some_given(content={"type": "string", "pattern": VISIBLE}, media={"type": "object"})

    required_unless: ClassVar = {"content": ("media",)}

    content: Annotated[str, Meta(max_length=500, description="Plain text. Needed where there is no media.")] | None = (
        None
    )
    parent_id: Annotated[str | None, Meta(description="The comment to reply to; null: none, the post itself.")] = None
    media: MediaIn | None = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.media is None and is_blank(self.content):
            yield FieldError("content", Code.REQUIRED, "A comment needs content, some text that shows, or media.")
        if self.media is not None and not _is_https(self.media.url or ""):
            yield FieldError(
                "media.url", Code.INVALID_FORMAT, "Must be an https:// address without user name or password."
            )

    def draft(self) -> CommentDraft:
        """The comment to make."""
        media = CommentMedia(self.media.type, self.media.url) if self.media else None
        return CommentDraft(None if is_blank(self.content) else self.content, self.parent_id, media)

    @classmethod
    def example(cls) -> Self:
        return cls(
            content="The heron, without a doubt.",
            media=MediaIn(type=MediaType.GIF, url="https://images.example.org/heron.gif"),
        )


class EditComment(Body):
    """The new text of a comment."""

    content: Annotated[
        str, Meta(max_length=500, description="Plain text.", extra_json_schema={"pattern": VISIBLE, "minLength": 1})
    ]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.content is not None and is_blank(self.content):  # pyright: ignore[reportUnnecessaryComparison]
            yield FieldError("content", Code.REQUIRED, "A comment needs content, some text that shows.")

    @classmethod
    def example(cls) -> Self:
        return cls(content="The heron, after all.")


class MediaOut(msgspec.Struct):
    """Something to look at, elsewhere."""

    type: MediaType
    url: Url


class CommentOut(msgspec.Struct, rename="camel"):
    """A comment."""

    id: Id
    post_id: Annotated[str, Meta(description="The post commented on.")]
    parent_id: Annotated[str | None, Meta(description="The comment replied to; null: none.")]
    author: AuthorOut
    content: Annotated[str | None, Meta(description="Null when the comment is media alone.")]
    media: MediaOut | None
    created_at: Time
    edited_at: Annotated[Time | None, Meta(description="When its author last edited it; null: never.")]
    source_api_key: Annotated[
        SourceKeyOut | None, Meta(description="The key that made the comment; null: made with a session.")
    ]
    permalink: Permalink

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WXTRMHVA0Q1D2S5P8NYV0R",
            post_id="01M7WVE9SS0371E5H43QNHTMZJ",
            parent_id=None,
            author=AuthorOut.example(),
            content=CreateComment.example().content,
            media=MediaOut(MediaType.GIF, "https://images.example.org/heron.gif"),
            created_at="2026-11-20T16:50:16.017Z",
            edited_at=None,
            source_api_key=SourceKeyOut.example(),
            permalink=Permalinks(EXAMPLE_BASE).of_comment(
                "01M7WVE9SS0371E5H43QNHTMZJ", "01M7WXTRMHVA0Q1D2S5P8NYV0R", "01M7WXTRMHVA0Q1D2S5P8NYV0R"
            ),
        )


class CommentList(msgspec.Struct, rename="camel"):
    """A page of comments, oldest first."""

    comments: list[CommentOut]
    next_cursor: NextCursor


def comment_shape(comment: Comment, base_url: str, permalinks: Permalinks) -> CommentOut:
    """Returns a comment as everybody sees it."""
    media = None
    if comment.media_url is not None:
        media = MediaOut(MediaType(comment.media_type or ""), comment.media_url)
    return CommentOut(
        id=comment.id,
        post_id=comment.post_id,
        parent_id=comment.parent_id,
        author=author_of(comment.account_id, comment, base_url),
        content=comment.content,
        media=media,
        created_at=iso(comment.created_at),
        edited_at=iso_or_none(comment.edited_at),
        source_api_key=source_key(comment.key_id, comment.key_label, comment.key_prefix),
        permalink=permalinks.of_comment(comment.post_id, comment.thread_id, comment.id),
    )


def _is_https(url: str) -> bool:
    if any(character.isspace() or not character.isprintable() for character in url):
        return False
    try:
        parts = urlsplit(url)
        _ = parts.port  # Raises ValueError when it is no number.
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc
