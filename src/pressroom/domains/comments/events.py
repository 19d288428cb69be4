"""comment.created: its data, and an example of it."""

from typing import ClassVar, Self

import msgspec

from pressroom.clock import iso
from pressroom.domains.comments.models import Comment
from pressroom.domains.events.models import EventData, EventType


class CreatedComment(msgspec.Struct, rename="camel"):
    """The comment of comment.created. `content` is empty when the comment is media alone."""

    id: str
    post_id: str
    author_id: str
    parent_id: str | None
    content: str
    created_at: str


class CommentCreatedData(EventData):
    """`data` of comment.created."""

    event: ClassVar = EventType.COMMENT_CREATED
    sent_when: ClassVar = (
        "The account commented on a post, or replied to a comment. `content` is empty when the comment is media alone."
    )

    comment: CreatedComment

    @classmethod
    def example(cls) -> Self:
        return cls(
            CreatedComment(
                id="01M7WVEC4Z8Y2T6W0Q1P3N5M7B",
                post_id="01M7WVE9SS0371E5H43QNHTMZJ",
                author_id="01KP2C3Z8D7Q1N5V0X4E6R9TBW",
                parent_id=None,
                content="Which press is that?",
                created_at="2026-11-20T16:08:12.345Z",
            )
        )


def comment_created(comment: Comment) -> CommentCreatedData:
    """Returns the data of comment.created for a new comment."""
    return CommentCreatedData(
        CreatedComment(
            id=comment.id,
            post_id=comment.post_id,
            author_id=comment.account_id,
            parent_id=comment.parent_id,
            content=comment.content or "",
            created_at=iso(comment.created_at),
        )
    )
