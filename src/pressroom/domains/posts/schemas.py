"""Wire shapes of posts (docs/posts.md)."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.accounts.models import folded
from pressroom.domains.accounts.schemas import AuthorOut, author_of
from pressroom.domains.hubs.schemas import PostHubOut, hub_of
from pressroom.domains.keys.schemas import SourceKeyOut, source_key
from pressroom.domains.media.schemas import MediaEntryOut, media_shape
from pressroom.domains.media.urls import MediaAddresses
from pressroom.domains.posts.models import (
    Edit,
    NewPost,
    ParsedText,
    PostFields,
    PostType,
    PostView,
    parse_text,
)
from pressroom.domains.posts.poll_schemas import PollIn, PollOut, poll_shape
from pressroom.domains.posts.visibility import Commenters, Visibility
from pressroom.domains.previews.schemas import LinkPreviewOut, card_shape
from pressroom.domains.previews.urls import LINK_LIMIT, normalised
from pressroom.errors import Code, FieldError
from pressroom.outbound import UrlRefused
from pressroom.text import is_blank, name_errors
from pressroom.web.json_bodies import Body
from pressroom.web.wire import ONE_LINE, VISIBLE, Id, NextCursor, Permalink, Time, some_given

Content = Annotated[
    str,
    Meta(
        max_length=5000,
        description="The text. Needed: more than white space. Counted in code points after NFC.",
        extra_json_schema={"pattern": VISIBLE},
    ),
]


class LocationIn(Body):
    """A named place; its coordinates are in degrees."""

    name: Annotated[str, Meta(min_length=1, max_length=255, extra_json_schema={"pattern": ONE_LINE})]
    latitude: Annotated[float, Meta(ge=-90, le=90)] | None = None
    longitude: Annotated[float, Meta(ge=-180, le=180)] | None = None


class PostBody(Body, kw_only=True):
    """The fields of a new post that JSON and the form with media have in common."""

    content: str | None = None
    visibility: Visibility | None = None
    location: LocationIn | None = None
    hub_id: Annotated[str | None, Meta(description="A hub that the account is a member of.")] = None
    comments: Annotated[Commenters | None, Meta(description="Signed in alone; absent: everyone.")] = None

    def post_fields(self) -> PostFields:
        """Returns the fields that are stored unchanged."""
        place = self.location
        return PostFields(
            visibility=self.visibility or Visibility.PUBLIC,
            commenters=self.comments or Commenters.EVERYONE,
            location_name=place.name if place else None,
            latitude=place.latitude if place else None,
            longitude=place.longitude if place else None,
            hub_id=self.hub_id,
        )


class CreatePost(PostBody, kw_only=True):
    """A new post."""

    json_schema: ClassVar = {"required": ["content"]}

    content: Content | None = None
    poll: PollIn | None = None
    link_preview_url: (
        Annotated[
            str,
            Meta(
                max_length=LINK_LIMIT,
                description="The page whose card is shown, instead of the content's first link.",
                extra_json_schema={"format": "uri", "pattern": r"^\s*[hH][tT][tT][pP][sS]?:[/\\]{2}"},
            ),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if is_blank(self.content):
            yield FieldError("content", Code.REQUIRED, "A post needs content: some text that is not white space alone.")
        yield from place_errors(self.location)
        if self.poll is not None:
            yield from self.poll.poll_errors()
        if self.link_preview_url is not None:
            yield from link_errors(self.link_preview_url)

    def new_post(self) -> NewPost:
        """Returns the post to publish."""
        return NewPost(
            content=parse_text(self.content or ""),
            fields=self.post_fields(),
            poll=self.poll.new_poll() if self.poll else None,
            forced_link=None if self.link_preview_url is None else normalised(self.link_preview_url),
        )

    @classmethod
    def example(cls) -> Self:
        return cls(
            content="The first run is on the drying rack. Which one goes on the cover? #letterpress",
            visibility=Visibility.PUBLIC,
            location=LocationIn(name="Köln", latitude=50.9375, longitude=6.9603),
            poll=PollIn(options=["The fox", "The heron"], duration_minutes=1440),
        )


class EditPost(Body):
    """Changes to a post: at least one field. A field that is not given stays as it is."""

    json_schema: ClassVar = some_given(
        content={"type": "string"}, visibility={"type": "string"}, comments={"type": "string"}
    )

    required_unless: ClassVar = {"body": ("content", "visibility", "comments")}

    content: Content | None = None
    visibility: Visibility | None = None
    comments: Annotated[Commenters | None, Meta(description="Signed in alone.")] = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.content is None and self.visibility is None and self.comments is None:
            yield FieldError("body", Code.REQUIRED, "Give at least one of content, visibility and comments.")
        elif self.content is not None and is_blank(self.content):
            yield FieldError("content", Code.REQUIRED, "A post needs content: some text that is not white space alone.")

    def edit(self) -> Edit:
        """Returns the changes."""
        return Edit(None if self.content is None else parse_text(self.content), self.visibility, self.comments)


class BouncePost(Body):
    """A new bounce. Without content, or with white space alone, it is a plain one."""

    content: Annotated[str, Meta(max_length=5000, description="Commentary shown above the original.")] | None = None

    def commentary(self) -> ParsedText | None:
        """Returns the commentary; None for a plain bounce."""
        return None if self.content is None or is_blank(self.content) else parse_text(self.content)


class SetAudience(Body):
    """The allowlist of a CUSTOM post."""

    usernames: Annotated[
        list[Annotated[str, Meta(max_length=30)]],
        Meta(
            max_length=1000,
            description="Who may see the post beside its author.",
            extra_json_schema={"uniqueItems": True},
        ),
    ]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from named_twice(self.usernames)


def place_errors(place: LocationIn | None) -> Iterator[FieldError]:
    """Yields the errors of a place that its types do not find."""
    if place is not None:
        yield from name_errors("location.name", place.name, "The name of a place")


def named_twice(usernames: Sequence[str] | None) -> Iterator[FieldError]:
    """Yields an error for each user name of an allowlist that comes again."""
    seen: set[str] = set()
    for place, username in enumerate(usernames or []):
        if not username:
            continue
        if folded(username) in seen:
            yield FieldError(f"usernames[{place}]", Code.DUPLICATE, f"{username} is named twice.")
        seen.add(folded(username))


def link_errors(url: str) -> Iterator[FieldError]:
    """Yields an error for an address that cannot have a link card."""
    try:
        normalised(url)
    except UrlRefused as refused:
        yield FieldError("linkPreviewUrl", Code.INVALID_FORMAT, refused.message)


class LocationOut(msgspec.Struct, omit_defaults=True):
    """A named place. A coordinate that was not given is absent."""

    name: str
    latitude: float | None = None
    longitude: float | None = None


class StatsOut(msgspec.Struct, rename="camel"):
    """Counts of what others did with a post."""

    likes: int = 0
    comments: Annotated[int, Meta(description="Replies included.")] = 0
    shares: Annotated[int, Meta(description="Plain bounces.")] = 0
    share_count: Annotated[int, Meta(description="Plain and quote bounces.")] = 0
    views: Annotated[int, Meta(description="Openings of the permalink by others than the author.")] = 0


class InteractionsOut(msgspec.Struct):
    """Whether the caller likes and saves a post."""

    liked: bool = False
    saved: bool = False


class OriginalPostOut(msgspec.Struct, rename="camel"):
    """The post that a bounce shares; it has no original of its own."""

    id: Id
    content: str | None
    media: Annotated[list[MediaEntryOut] | None, Meta(description="Null: none.")]
    link_preview: Annotated[
        LinkPreviewOut | None,
        Meta(description="Null until the page was fetched, and when there is media or no link."),
    ]
    location: LocationOut | None
    type: Annotated[PostType, Meta(description="POST; SHARE: a plain bounce; QUOTE: a bounce with content.")]
    visibility: Visibility
    comments: Commenters
    created_at: Time
    updated_at: Time
    edited_at: Annotated[Time | None, Meta(description="When the author last edited it; null: never.")]
    deleted_at: Annotated[Time | None, Meta(description="When it was deleted; null: it is not deleted.")]
    author: AuthorOut
    hub: Annotated[PostHubOut | None, Meta(description="The hub that it was made into.")]
    source_api_key: Annotated[
        SourceKeyOut | None, Meta(description="The key that made the post; null: made with a session.")
    ]
    is_bounce: bool
    bounced_by: Annotated[AuthorOut | None, Meta(description="Of a bounce, the account that made it.")]
    poll: PollOut | None
    stats: StatsOut
    user_interactions: InteractionsOut
    permalink: Permalink


class PostOut(OriginalPostOut):
    """A post."""

    original_post: Annotated[
        OriginalPostOut | None,
        Meta(description="Of a bounce, what it shares; null once that is deleted or no longer for the caller to see."),
    ]


class PostList(msgspec.Struct, rename="camel"):
    """A page of posts, newest first."""

    posts: list[PostOut]
    next_cursor: NextCursor


class DeletedOut(msgspec.Struct):
    """The post that was deleted."""

    message: str
    id: Id


class LikedOut(msgspec.Struct):
    """Whether the caller now likes the post."""

    liked: bool


class SavedOut(msgspec.Struct):
    """Whether the caller now saves the post."""

    saved: bool


class AllowlistOut(msgspec.Struct):
    """The accounts of an allowlist."""

    usernames: list[str]


class AudienceOut(msgspec.Struct):
    """How many accounts the allowlist names."""

    count: int


def post_shape(view: PostView, addresses: MediaAddresses, now: int) -> PostOut:
    """Returns a post as its reader sees it at `now` (milliseconds)."""
    original = OriginalPostOut(**_fields(view.original, addresses, now)) if view.original else None
    return PostOut(**_fields(view, addresses, now), original_post=original)


def _fields(view: PostView, addresses: MediaAddresses, now: int) -> dict[str, Any]:
    """Returns the fields of a post without its original."""
    post, base_url = view.post, addresses.base_url
    public = post.visibility == Visibility.PUBLIC
    author = author_of(post.account_id, post, base_url)
    is_bounce = post.type != PostType.POST
    return {
        "id": post.id,
        "content": post.content,
        "media": [media_shape(media, addresses, public=public) for media in view.media] or None,
        "link_preview": card_shape(view.card, base_url) if view.card else None,
        "location": location_shape(post),
        "type": post.type,
        "visibility": post.visibility,
        "comments": post.commenters,
        "created_at": iso(post.created_at),
        "updated_at": iso(post.updated_at),
        "edited_at": iso_or_none(post.edited_at),
        "deleted_at": iso_or_none(post.deleted_at),
        "author": author,
        "hub": hub_of(post.hub_id, post.hub_name, post.hub_slug, base_url),
        "source_api_key": source_key(post.key_id, post.key_label, post.key_prefix),
        "is_bounce": is_bounce,
        "bounced_by": author if is_bounce else None,
        "poll": poll_shape(view.poll, now) if view.poll else None,
        "stats": StatsOut(
            likes=post.likes,
            comments=post.comments,
            shares=post.shares,
            share_count=post.share_count,
            views=post.views,
        ),
        "user_interactions": InteractionsOut(liked=post.liked, saved=post.saved),
        "permalink": addresses.permalinks.of_post(post.id),
    }


def location_shape(fields: PostFields) -> LocationOut | None:
    """Returns the place of a post or draft, if it has one."""
    name = fields.location_name
    return None if name is None else LocationOut(name, fields.latitude, fields.longitude)
