"""The posts room's wire shapes (SPEC, Post)."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import AuthorOut, author_shape
from pressroom.domains.keys.schemas import SourceKeyOut
from pressroom.domains.posts.models import Draft, Location, Post, PostType, Visibility
from pressroom.errors import Code, Fault
from pressroom.text import is_blank
from pressroom.web.bodies import Body


class LocationIn(Body):
    """A named place; its coordinates are in degrees."""

    name: Annotated[str, Meta(min_length=1, max_length=255)]
    latitude: Annotated[float, Meta(ge=-90, le=90)] | None = None
    longitude: Annotated[float, Meta(ge=-180, le=180)] | None = None


class CreatePost(Body):
    """What to publish."""

    content: Annotated[str, Meta(max_length=5000, description="Counted in code points after NFC.")] | None = None
    visibility: Visibility | None = None
    location: LocationIn | None = None
    hub_id: Annotated[object, Meta(description="Not available in this version.")] = None
    poll: Annotated[object, Meta(description="Not available in this version.")] = None
    link_preview_url: Annotated[object, Meta(description="Not available in this version.")] = None

    def faults(self) -> Iterator[Fault]:
        if is_blank(self.content):
            yield Fault("content", Code.REQUIRED, "A post needs content: some text that is not white space alone.")
        if self.location is not None and is_blank(self.location.name):
            yield Fault("location.name", Code.TOO_SHORT, "The name of a place must not be blank.")
        for field, value in (
            ("hubId", self.hub_id),
            ("poll", self.poll),
            ("linkPreviewUrl", self.link_preview_url),
        ):
            if value is not None:
                yield Fault(field, Code.NOT_ALLOWED, f"{field} is not available in this version of the service.")

    def draft(self) -> Draft:
        """The post to make."""
        place = self.location
        return Draft(
            content=self.content or "",
            visibility=self.visibility or Visibility.PUBLIC,
            location=Location(place.name, place.latitude, place.longitude) if place else None,
        )


class LocationOut(msgspec.Struct, omit_defaults=True):
    """A named place. A coordinate that was not given is absent."""

    name: str
    latitude: float | None = None
    longitude: float | None = None


class StatsOut(msgspec.Struct, rename="camel"):
    """What others did with a post."""

    likes: int = 0
    comments: int = 0
    shares: int = 0
    share_count: int = 0
    views: int = 0


class InteractionsOut(msgspec.Struct):
    """What the caller did with a post."""

    liked: bool = False
    saved: bool = False


class PostOut(msgspec.Struct, rename="camel"):
    """A post, whole."""

    id: str
    content: str | None
    media: list[object] | None
    link_preview: dict[str, object] | None
    location: LocationOut | None
    type: PostType
    visibility: Visibility
    created_at: str
    updated_at: str
    edited_at: str | None
    deleted_at: str | None
    author: AuthorOut
    hub: dict[str, object] | None
    source_api_key: SourceKeyOut | None
    is_bounce: bool
    bounced_by: AuthorOut | None
    original_post: dict[str, object] | None
    poll: dict[str, object] | None
    stats: StatsOut
    user_interactions: InteractionsOut


def new_post_shape(post: Post, caller: Caller, base_url: str) -> PostOut:
    """A post that the caller has just made, as the caller sees it."""
    key, place = caller.key, post.location
    created_at = iso(post.created_at)
    return PostOut(
        id=post.id,
        content=post.content,
        media=None,
        link_preview=None,
        location=LocationOut(place.name, place.latitude, place.longitude) if place else None,
        type=post.type,
        visibility=post.visibility,
        created_at=created_at,
        updated_at=created_at,
        edited_at=None,
        deleted_at=None,
        author=author_shape(caller.account, base_url),
        hub=None,
        source_api_key=SourceKeyOut(key.id, key.label, key.key_prefix) if key else None,
        is_bounce=False,
        bounced_by=None,
        original_post=None,
        poll=None,
        stats=StatsOut(),
        user_interactions=InteractionsOut(),
    )
