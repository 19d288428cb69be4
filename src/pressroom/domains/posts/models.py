"""A post, who may see it, and what is told of it when it is made."""

from enum import StrEnum

import msgspec


class Visibility(StrEnum):
    """Who may see a post (SPEC, Visibility values)."""

    PUBLIC = "PUBLIC"
    FOLLOWERS = "FOLLOWERS"
    CONNECTIONS = "CONNECTIONS"
    PRIVATE = "PRIVATE"
    CUSTOM = "CUSTOM"


class PostType(StrEnum):
    """What kind of post it is."""

    POST = "POST"


class Location(msgspec.Struct):
    """A named place, in degrees where it is known more exactly."""

    name: str
    latitude: float | None = None
    longitude: float | None = None


class Draft(msgspec.Struct):
    """What a post is made of."""

    content: str
    visibility: Visibility = Visibility.PUBLIC
    location: Location | None = None


class Post(msgspec.Struct):
    """A post as it is kept. Times in milliseconds."""

    id: str
    account_id: str
    key_id: str | None
    type: PostType
    content: str | None
    visibility: Visibility
    location: Location | None
    created_at: int
    updated_at: int
    edited_at: int | None = None
    deleted_at: int | None = None


class CreatedPost(msgspec.Struct, rename="camel"):
    """The post of post.created (SPEC, data per event)."""

    id: str
    author_id: str
    content: str | None
    type: PostType
    visibility: Visibility
    is_share: bool
    original_post_id: str | None
    hub_id: str | None
    created_at: str


class PostCreatedData(msgspec.Struct):
    """`data` of post.created."""

    post: CreatedPost
