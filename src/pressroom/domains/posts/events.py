"""post.created: its data, and an example of it."""

from typing import ClassVar, Self

import msgspec

from pressroom.clock import iso
from pressroom.domains.events.models import EventData, EventType
from pressroom.domains.posts.models import Post, PostType
from pressroom.domains.posts.visibility import Visibility


class CreatedPost(msgspec.Struct, rename="camel"):
    """The post of post.created."""

    id: str
    author_id: str
    content: str | None
    type: PostType
    visibility: Visibility
    is_share: bool
    original_post_id: str | None
    hub_id: str | None
    created_at: str


class PostCreatedData(EventData):
    """`data` of post.created."""

    event: ClassVar = EventType.POST_CREATED
    sent_when: ClassVar = (
        "The account published a post, by key or with a session; bounces are posts too. Sent as soon as the post is "
        "there, before its media has been processed."
    )

    post: CreatedPost

    @classmethod
    def example(cls) -> Self:
        return cls(
            CreatedPost(
                id="01M7WVE9SS0371E5H43QNHTMZJ",
                author_id="01KP2C3Z8D7Q1N5V0X4E6R9TBW",
                content="The first run is on the drying rack. #letterpress",
                type=PostType.POST,
                visibility=Visibility.PUBLIC,
                is_share=False,
                original_post_id=None,
                hub_id=None,
                created_at="2026-11-20T16:08:12.345Z",
            )
        )


def post_created(post: Post) -> PostCreatedData:
    """Returns the data of post.created for a new post."""
    return PostCreatedData(
        CreatedPost(
            id=post.id,
            author_id=post.account_id,
            content=post.content,
            type=post.type,
            visibility=post.visibility,
            is_share=post.type != PostType.POST,
            original_post_id=post.original_id,
            hub_id=post.hub_id,
            created_at=iso(post.created_at),
        )
    )
