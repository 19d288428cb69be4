"""The posts room's wire shapes (SPEC, Post)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import AUTHOR_EXAMPLE, AuthorOut, author_shape
from pressroom.domains.keys.schemas import SOURCE_KEY_EXAMPLE, SourceKeyOut
from pressroom.domains.posts.models import Draft, Location, Post, PostType, Visibility
from pressroom.errors import Code, Fault
from pressroom.text import is_blank
from pressroom.web.bodies import Body
from pressroom.web.wire import VISIBLE, Id, NotAvailable, Time

VISIBILITY_HELP = (
    "PUBLIC (the default): anyone, signed-out visitors too. FOLLOWERS: accounts that follow the author. CONNECTIONS: "
    "accounts that follow the author and are followed back. PRIVATE: the author alone. CUSTOM: a list that only the "
    "web app can set; without one it is like PRIVATE."
)


class LocationIn(Body):
    """A named place; its coordinates are in degrees."""

    name: Annotated[str, Meta(min_length=1, max_length=255, extra_json_schema={"pattern": VISIBLE})]
    latitude: Annotated[float, Meta(ge=-90, le=90)] | None = None
    longitude: Annotated[float, Meta(ge=-180, le=180)] | None = None


class CreatePost(Body):
    """What to publish."""

    json_schema: ClassVar = {"required": ["content"]}

    content: (
        Annotated[
            str,
            Meta(
                max_length=5000,
                description="The text. Needed: more than white space. Counted in code points after NFC.",
                extra_json_schema={"pattern": VISIBLE},
            ),
        ]
        | None
    ) = None
    visibility: Annotated[Visibility | None, Meta(description=VISIBILITY_HELP)] = None
    location: LocationIn | None = None
    hub_id: NotAvailable = None
    poll: NotAvailable = None
    link_preview_url: NotAvailable = None

    def faults(self, now: int) -> Iterator[Fault]:
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


NULL_SO_FAR = Meta(description="Always null in this version.")


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

    id: Id
    content: str | None
    media: Annotated[list[object] | None, NULL_SO_FAR]
    link_preview: Annotated[dict[str, object] | None, NULL_SO_FAR]
    location: LocationOut | None
    type: PostType
    visibility: Annotated[Visibility, Meta(description=VISIBILITY_HELP)]
    created_at: Time
    updated_at: Time
    edited_at: Annotated[Time | None, Meta(description="When the author last edited it; null: never.")]
    deleted_at: Annotated[Time | None, Meta(description="When it was deleted; null: it stands.")]
    author: AuthorOut
    hub: Annotated[dict[str, object] | None, NULL_SO_FAR]
    source_api_key: Annotated[
        SourceKeyOut | None, Meta(description="The key that made the post; null: made signed in, in the web app.")
    ]
    is_bounce: bool
    bounced_by: Annotated[AuthorOut | None, NULL_SO_FAR]
    original_post: Annotated[dict[str, object] | None, NULL_SO_FAR]
    poll: Annotated[dict[str, object] | None, NULL_SO_FAR]
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


CREATE_POST_EXAMPLE = CreatePost(
    content="The first run is on the drying rack. #letterpress",
    visibility=Visibility.PUBLIC,
    location=LocationIn(name="Köln", latitude=50.9375, longitude=6.9603),
)
POST_EXAMPLE = PostOut(
    id="01M7WVE9SS0371E5H43QNHTMZJ",
    content=CREATE_POST_EXAMPLE.content,
    media=None,
    link_preview=None,
    location=LocationOut("Köln", 50.9375, 6.9603),
    type=PostType.POST,
    visibility=Visibility.PUBLIC,
    created_at="2026-11-20T16:08:12.345Z",
    updated_at="2026-11-20T16:08:12.345Z",
    edited_at=None,
    deleted_at=None,
    author=AUTHOR_EXAMPLE,
    hub=None,
    source_api_key=SOURCE_KEY_EXAMPLE,
    is_bounce=False,
    bounced_by=None,
    original_post=None,
    poll=None,
    stats=StatsOut(),
    user_interactions=InteractionsOut(),
)
