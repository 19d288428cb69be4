"""A post, its parsed text, its poll, and the structs that are read together with it."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.domains.media.models import Media, NewMedia
from pressroom.domains.posts.visibility import Commenters, Relationship, Visibility, key_may_read, may_comment, may_see
from pressroom.domains.previews.models import Card
from pressroom.domains.previews.urls import card_url
from pressroom.entities import EntityKind, entities, hashtags, mentions

MENTIONED: Final = 50
"""How many accounts one post notifies at most."""


class PostType(StrEnum):
    """The kind of a post: of one's own, a plain bounce, or a bounce with commentary."""

    POST = "POST"
    SHARE = "SHARE"
    QUOTE = "QUOTE"


class ParsedText(msgspec.Struct, frozen=True):
    """A text with its hashtags, mentions and first link.

    `hashtags` are identities and `mentions` case-folded user names, each once and in the order of the text. `link` is
    the page of the text's link card (docs/previews.md#the-linked-page), in its normalised spelling.
    """

    text: str
    hashtags: list[str]
    mentions: list[str]
    link: str | None


def parse_text(text: str) -> ParsedText:
    """Scans a text for hashtags, mentions and its first link."""
    found = entities(text)
    first_url = next((entity.name for entity in found if entity.kind is EntityKind.URL), None)
    link = None if first_url is None else card_url(first_url)
    return ParsedText(text, hashtags(found), mentions(found), link)


class NewPoll(msgspec.Struct):
    """A poll to create. `duration` is in milliseconds."""

    question: str | None
    options: list[str]
    multiple: bool
    duration: int


class PostFields(msgspec.Struct):
    """The fields that an author gives a post beside its content. Each field is a column, and stored as it is given.

    Drafts and the owner's copy of the posts have the same fields. `latitude` and `longitude` are in degrees.
    """

    visibility: Visibility
    commenters: Commenters
    location_name: str | None
    latitude: float | None
    longitude: float | None
    hub_id: str | None


BARE: Final = PostFields(
    visibility=Visibility.PUBLIC,
    commenters=Commenters.EVERYONE,
    location_name=None,
    latitude=None,
    longitude=None,
    hub_id=None,
)
"""The fields of a bounce: a PUBLIC post without a location or a hub."""


class NewPost(msgspec.Struct):
    """A post to create.

    `forced_link` is the page of a link card that the author chose, in its normalised spelling. `media` are new files;
    `files_of` is the draft whose files it takes over, if it has any.
    """

    content: ParsedText | None
    fields: PostFields
    poll: NewPoll | None = None
    forced_link: str | None = None
    media: list[NewMedia] = msgspec.field(default_factory=list[NewMedia])
    files_of: str | None = None

    @property
    def has_media(self) -> bool:
        """Returns whether the post has files."""
        return bool(self.media) or self.files_of is not None

    @property
    def card_url(self) -> str | None:
        """Returns the page of the post's link card; None for a post with media (docs/previews.md#the-linked-page)."""
        if self.has_media:
            return None
        return self.forced_link or (self.content.link if self.content else None)


class ImportedPost(msgspec.Struct):
    """A post to import. `source` names it where it was published first, at `created_at` (milliseconds)."""

    source: str
    created_at: int
    content: ParsedText | None
    visibility: Visibility
    media: list[NewMedia] = msgspec.field(default_factory=list[NewMedia])


class Edit(msgspec.Struct):
    """The fields of an edit; None leaves a field as it is."""

    content: ParsedText | None
    visibility: Visibility | None
    commenters: Commenters | None = None

    @property
    def makes_version(self) -> bool:
        """Returns whether it changes the post itself, and not only who may comment."""
        return self.content is not None or self.visibility is not None


class Post(PostFields):
    """A post as it is inserted: each field is a column. Times are in milliseconds; `original_id` is the post that a
    bounce shares."""

    id: str
    account_id: str
    key_id: str | None
    type: PostType
    content: str | None
    created_at: int
    updated_at: int
    original_id: str | None = None
    has_poll: bool = False
    has_media: bool = False
    preview_url: str | None = None
    preview_forced: bool = False


POST_COLUMNS: Final = Post.__struct_fields__


class SeenPost(Post):
    """A stored post with its author, key and hub, as one reader finds it (`Relationship`)."""

    edited_at: int | None = None
    deleted_at: int | None = None
    likes: int = 0
    comments: int = 0
    shares: int = 0
    share_count: int = 0  # plain and quote bounces
    views: int = 0
    username: str = ""  # this and the next three: the author
    display_name: str = ""
    avatar_token: str | None = None
    verified: bool = False
    key_label: str | None = None  # this and the next: the key that it was published with
    key_prefix: str | None = None
    hub_name: str | None = None  # this and the next: the hub
    hub_slug: str | None = None
    liked: bool = False  # by the reader
    saved: bool = False  # by the reader
    bounced: bool = False  # plainly, by the reader
    is_author: bool = False  # the reader is
    follows: bool = False  # the reader follows the author
    followed_back: bool = False  # the author follows the reader
    listed: bool = False  # the reader is in its audience
    blocked: bool = False  # the reader and the author, by one of them
    muted: bool = False  # the author, by the reader
    suspended: bool = False  # the author is

    def may_be_seen(self) -> bool:
        """Returns whether the reader may see it, deleted or not."""
        relationship = Relationship(
            self.is_author, self.follows, self.followed_back, self.listed, self.blocked, self.suspended
        )
        return may_see(Visibility(self.visibility), relationship)

    def may_be_commented(self) -> bool:
        """Returns whether the reader, who sees it, may comment on it."""
        return may_comment(Commenters(self.commenters), is_author=self.is_author, follows=self.follows)

    def may_be_read_by_key(self) -> bool:
        """Returns whether a key of the reader may read it."""
        return key_may_read(Visibility(self.visibility), is_author=self.is_author)


class PollOption(msgspec.Struct):
    """One option of a poll and its votes."""

    label: str
    votes: int


class Poll(msgspec.Struct):
    """A poll. `total_votes` counts the accounts that voted; `own_votes` are the positions that the reader chose."""

    question: str | None
    multiple: bool
    closes_at: int
    total_votes: int
    options: list[PollOption]
    own_votes: list[int] = msgspec.field(default_factory=list[int])


class PostView(msgspec.Struct):
    """A post as a reader sees it. `original` is the post that a bounce shares; None when the reader may not see it."""

    post: SeenPost
    poll: Poll | None = None
    original: "PostView | None" = None
    media: list[Media] = msgspec.field(default_factory=list[Media])
    card: Card | None = None


class Version(msgspec.Struct):
    """An earlier version of a post, written at `written_at` (milliseconds)."""

    content: str | None
    visibility: Visibility
    written_at: int
