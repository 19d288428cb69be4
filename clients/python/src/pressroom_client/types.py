"""The types of bodies and answers, by their names in the API reference.

Made by clients/generate.py from the OpenAPI document; do not edit.
"""

from __future__ import annotations

from typing import Literal, TypedDict, Union

Code = str
"""What kind of fault it is. A later version may know more."""

Commenters = Literal["everyone", "followers", "nobody"]
"""Who may comment on a post, of those who see it: everyone, followers of its author, or nobody else."""

DraftState = Literal["draft", "scheduled", "refused", "published"]
"""The state of a draft. PUBLISHED is final."""

EventType = Literal["post.created", "postclip.created", "comment.created", "apikey.revoked", "webhook.test"]
"""Every event that the service emits; webhook.test reports no activity and goes to one endpoint alone."""

Limit = str
"""Which limit was reached. A later version may know more."""

MediaEntryType = Literal["image", "gif", "video"]
"""How a client shows a file."""

MediaType = Literal["gif", "image"]
"""The kind of a comment's media."""

PostType = Literal["POST", "SHARE", "QUOTE"]
"""The kind of a post: of one's own, a plain bounce, or a bounce with commentary."""

ProcessingStatus = Literal["PROCESSING", "READY", "FAILED"]
"""The states of a file. READY is final; FAILED too, unless an admin has the file processed again."""

Visibility = Literal["PUBLIC", "FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM"]
"""Who may see a post or clip. PUBLIC (the default): anyone, signed-out visitors too. FOLLOWERS: accounts that follow the author. CONNECTIONS: accounts that follow the author and are followed back. PRIVATE: the author alone. CUSTOM: a list that only the web app can set; without one it is like PRIVATE."""


class Account(TypedDict):
    """An account, as its owner sees it."""

    id: str
    """Stable, whatever the user name becomes: the id to store elsewhere."""
    username: str
    """Its owner can change it."""
    email: str
    displayName: str
    avatar: str
    coverImage: str | None
    """A wide picture over the profile; null: none was chosen."""
    bio: str | None
    verified: bool
    emailVerified: bool
    isPrivate: bool
    discoverable: bool
    """Whether search, explore and suggestions show the account; a private one never."""
    isCreator: bool
    totalFollowers: int
    totalFollowing: int
    totalPosts: int
    """Posts that are not deleted."""
    createdAt: str


class Author(TypedDict):
    """The account that made something, as everybody sees it."""

    id: str
    username: str
    displayName: str
    avatar: str
    verified: bool
    verifiedType: str | None


class BouncePost(TypedDict, total=False):
    """A new bounce. Without content, or with white space alone, it is a plain one."""

    content: str | None
    """Commentary shown above the original."""


class Clip(TypedDict):
    """A clip."""

    id: str
    author: Author
    caption: str | None
    duration: float | None
    """Seconds; null until it is READY."""
    visibility: Visibility
    hub: PostHub | None
    """The hub that it was made into."""
    processingStatus: ProcessingStatus
    """READY and FAILED are final."""
    url: str
    """An MP4; answers 404 until it is READY."""
    thumbnailUrl: str
    createdAt: str
    sourceApiKey: SourceKey | None
    """The key that made the clip; null: made with a session."""
    permalink: str
    """The address for people."""


class ClipCreatedData(TypedDict):
    """`data` of postclip.created."""

    postclip: CreatedClip


class Comment(TypedDict):
    """A comment."""

    id: str
    postId: str
    """The post commented on."""
    parentId: str | None
    """The comment replied to; null: none."""
    author: Author
    content: str | None
    """Null when the comment is media alone."""
    media: Media | None
    createdAt: str
    editedAt: str | None
    """When its author last edited it; null: never."""
    sourceApiKey: SourceKey | None
    """The key that made the comment; null: made with a session."""
    permalink: str
    """The address for people."""


class CommentCreatedData(TypedDict):
    """`data` of comment.created."""

    comment: CreatedComment


class CommentList(TypedDict):
    """A page of comments, oldest first."""

    comments: list[Comment]
    nextCursor: str | None


class CreateComment(TypedDict, total=False):
    """A comment to publish."""

    content: str | None
    """Plain text. Needed where there is no media."""
    parentId: str | None
    """The comment to reply to; null: none, the post itself."""
    media: MediaIn | None


class CreateDraft(TypedDict, total=False):
    """A new draft. Every field is optional: it may be empty until it is published."""

    needsApproval: bool | None
    """Whether a person has to publish or schedule it, signed in."""
    content: str | None
    """The text. A draft may have none yet; null clears it."""
    visibility: Visibility | None
    location: LocationIn | None
    hubId: str | None
    """The hub to publish into. Membership counts when it is published."""
    poll: PollIn | None
    linkPreviewUrl: str | None
    """The page whose card is shown, instead of the content's first link."""
    comments: Commenters | None
    """Signed in alone."""
    usernames: list[str] | None
    """The allowlist of a CUSTOM post. Signed in alone."""
    mediaIds: list[str] | None
    """The files to keep, of those uploaded to it, in their new order. Others are removed."""
    altText: list[str] | None
    """What each file shows, in their order; empty: nothing said."""
    publishAt: str | None
    """When to publish it: ISO 8601 with a zone, up to a year ahead. null: it is not scheduled."""


class _CreatePostRequired(TypedDict):
    content: str
    """The text. Needed: more than white space. Counted in code points after NFC."""


class CreatePost(_CreatePostRequired, total=False):
    """A new post."""

    visibility: Visibility | None
    location: LocationIn | None
    hubId: str | None
    """A hub that the account is a member of."""
    comments: Commenters | None
    """Signed in alone; absent: everyone."""
    poll: PollIn | None
    linkPreviewUrl: str | None
    """The page whose card is shown, instead of the content's first link."""


class CreatedClip(TypedDict):
    """The clip of postclip.created. `duration` is in seconds."""

    id: str
    authorId: str
    caption: str | None
    duration: float | None
    visibility: Visibility
    hubId: str | None
    processingStatus: ProcessingStatus
    createdAt: str


class CreatedComment(TypedDict):
    """The comment of comment.created. `content` is empty when the comment is media alone."""

    id: str
    postId: str
    authorId: str
    parentId: str | None
    content: str
    createdAt: str


class CreatedPost(TypedDict):
    """The post of post.created."""

    id: str
    authorId: str
    content: str | None
    type: PostType
    visibility: Visibility
    isShare: bool
    originalPostId: str | None
    hubId: str | None
    createdAt: str


class Deleted(TypedDict):
    """The post that was deleted."""

    message: str
    id: str


class DeletedDraft(TypedDict):
    """The draft that was deleted."""

    message: str
    id: str


class Draft(TypedDict):
    """A draft."""

    id: str
    version: int
    """Grows with each change. A change names the version that it changes."""
    createdAt: str
    updatedAt: str
    publishAt: str | None
    """When it is, or was to be, published; null: not scheduled."""
    needsApproval: bool
    state: DraftState
    """draft: it waits for somebody to publish or schedule it. scheduled: it is published at `publishAt`. refused: it could not be published then, `refusal` says why. published: `postId` is its post."""
    refusal: str | None
    """Of a refused draft: why, in words."""
    postId: str | None
    """Of a published draft: its post."""
    content: str | None
    visibility: Visibility
    location: Location | None
    hubId: str | None
    poll: DraftPoll | None
    linkPreviewUrl: str | None
    comments: Commenters
    usernames: list[str]
    """The allowlist of a CUSTOM post."""
    mediaIds: list[str]
    media: list[MediaEntry]
    """Those files, for the owner alone."""
    sourceApiKey: SourceKey | None
    """The key that made the draft; null: made with a session."""


class DraftList(TypedDict):
    """A page of drafts, newest first."""

    drafts: list[Draft]
    nextCursor: str | None


class DraftPoll(TypedDict):
    """The poll of a draft, in the shape in which it is given."""

    question: str | None
    options: list[str]
    multiple: bool
    durationMinutes: int


class _EditDraftRequired(TypedDict):
    version: int
    """The version that this changes; another is a 409."""


class EditDraft(_EditDraftRequired, total=False):
    """Changes to a draft. Fields that are not given stay as they are, and null clears a field."""

    needsApproval: bool | None
    """Whether a person has to publish or schedule it, signed in."""
    content: str | None
    """The text. A draft may have none yet; null clears it."""
    visibility: Visibility | None
    location: LocationIn | None
    hubId: str | None
    """The hub to publish into. Membership counts when it is published."""
    poll: PollIn | None
    linkPreviewUrl: str | None
    """The page whose card is shown, instead of the content's first link."""
    comments: Commenters | None
    """Signed in alone."""
    usernames: list[str] | None
    """The allowlist of a CUSTOM post. Signed in alone."""
    mediaIds: list[str] | None
    """The files to keep, of those uploaded to it, in their new order. Others are removed."""
    altText: list[str] | None
    """What each file shows, in their order; empty: nothing said."""
    publishAt: str | None
    """When to publish it: ISO 8601 with a zone, up to a year ahead. null: it is not scheduled."""


class EditPost(TypedDict, total=False):
    """Changes to a post: at least one field. A field that is not given stays as it is."""

    content: str | None
    """The text. Needed: more than white space. Counted in code points after NFC."""
    visibility: Visibility | None
    comments: Commenters | None
    """Signed in alone."""


class Envelope(TypedDict):
    """An event as a key reads it: the same bytes at every reading."""

    event: EventType
    """The kind of event."""
    id: str
    """The same at every reading by this key: drop known ids."""
    created_at: str
    """When it happened."""
    data: dict[str, object]
    """As in the webhook of this kind."""


class EventList(TypedDict):
    """Events that follow a cursor, oldest first."""

    events: list[Envelope]
    cursor: str
    """`after` of the next request. Store it once these events are handled."""


class Fault(TypedDict):
    """One thing wrong with a request: where (`location.latitude`, `media[2]`, `body`), what, and what to do."""

    field: str
    """A dotted path into the body, list items as `media[2]`; `body` for a fault of the whole, `header.Idempotency-Key` for a header, a parameter's name for a parameter."""
    code: Code
    message: str
    """For people; its wording may change."""


class Interactions(TypedDict):
    """Whether the caller likes and saves a post."""

    liked: bool
    saved: bool


class LinkPreview(TypedDict):
    """The card of a page that a post links to."""

    url: str
    title: str | None
    description: str | None
    image: str | None
    """Our own stored thumbnail, a WebP image."""
    siteName: str | None


class _LocationRequired(TypedDict):
    name: str


class Location(_LocationRequired, total=False):
    """A named place. A coordinate that was not given is absent."""

    latitude: float
    longitude: float


class _LocationInRequired(TypedDict):
    name: str


class LocationIn(_LocationInRequired, total=False):
    """A named place; its coordinates are in degrees."""

    latitude: float | None
    longitude: float | None


class Media(TypedDict):
    """Something to look at, elsewhere."""

    type: MediaType
    url: str


class MediaEntry(TypedDict):
    """A file of a post. Its address holds from the start and answers 404 until it is READY. Of a post that is not PUBLIC, readers other than the author get an address of their own that ends within minutes, and with their right to see the post: read the post again for the next."""

    id: str
    url: str
    type: MediaEntryType
    mimeType: str
    """Of what `url` answers: image/webp or video/mp4."""
    processingStatus: ProcessingStatus
    """READY is final. FAILED too, unless an admin has the file processed again."""
    width: int | None
    """Pixels, as shown; null until it is READY."""
    height: int | None
    """Pixels, as shown; null until it is READY."""
    duration: float | None
    """Of a video that is READY: seconds."""
    sizeBytes: int | None
    """Of what `url` answers; null until it is READY."""
    thumbnailUrl: str
    """A WebP image of at most 640 pixels a side."""
    altText: str | None
    """What it shows, for those who do not see it."""
    variants: list[Picture]
    """For `srcset`: an image in every size, the smallest first. Empty until READY, and for a video."""


class MediaIn(TypedDict):
    """Something to look at, elsewhere."""

    type: MediaType
    url: str
    """An https address without credentials."""


class OriginalPost(TypedDict):
    """The post that a bounce shares; it has no original of its own."""

    id: str
    content: str | None
    media: list[MediaEntry] | None
    """Null: none."""
    linkPreview: LinkPreview | None
    """Null until the page was fetched, and when there is media or no link."""
    location: Location | None
    type: PostType
    """POST; SHARE: a plain bounce; QUOTE: a bounce with content."""
    visibility: Visibility
    comments: Commenters
    createdAt: str
    updatedAt: str
    editedAt: str | None
    """When the author last edited it; null: never."""
    deletedAt: str | None
    """When it was deleted; null: it is not deleted."""
    author: Author
    hub: PostHub | None
    """The hub that it was made into."""
    sourceApiKey: SourceKey | None
    """The key that made the post; null: made with a session."""
    isBounce: bool
    bouncedBy: Author | None
    """Of a bounce, the account that made it."""
    poll: Poll | None
    stats: Stats
    userInteractions: Interactions
    permalink: str
    """The address for people."""


class Picture(TypedDict):
    """One of the sizes in which an image is served, all of them WebP."""

    url: str
    width: int
    """Pixels."""
    height: int
    """Pixels."""


class Poll(TypedDict):
    """A poll."""

    question: str | None
    multiple: bool
    """Whether one vote may choose several options."""
    closesAt: str
    closed: bool
    totalVotes: int
    """Accounts that voted."""
    options: list[PollOption]
    ownVotes: list[int]
    """What the caller voted for, by index."""


class _PollInRequired(TypedDict):
    options: list[str]


class PollIn(_PollInRequired, total=False):
    """A poll to attach."""

    question: str | None
    multiple: bool | None
    """Whether one vote may choose several; false unless given."""
    durationMinutes: int | None
    """How long it is open: 5 minutes to 30 days; a day unless given."""


class PollOption(TypedDict):
    """An option of a poll."""

    index: int
    text: str
    votes: int


class Post(TypedDict):
    """A post."""

    id: str
    content: str | None
    media: list[MediaEntry] | None
    """Null: none."""
    linkPreview: LinkPreview | None
    """Null until the page was fetched, and when there is media or no link."""
    location: Location | None
    type: PostType
    """POST; SHARE: a plain bounce; QUOTE: a bounce with content."""
    visibility: Visibility
    comments: Commenters
    createdAt: str
    updatedAt: str
    editedAt: str | None
    """When the author last edited it; null: never."""
    deletedAt: str | None
    """When it was deleted; null: it is not deleted."""
    author: Author
    hub: PostHub | None
    """The hub that it was made into."""
    sourceApiKey: SourceKey | None
    """The key that made the post; null: made with a session."""
    isBounce: bool
    bouncedBy: Author | None
    """Of a bounce, the account that made it."""
    poll: Poll | None
    stats: Stats
    userInteractions: Interactions
    permalink: str
    """The address for people."""
    originalPost: OriginalPost | None
    """Of a bounce, what it shares; null once that is deleted or no longer for the caller to see."""


class PostCreatedData(TypedDict):
    """`data` of post.created."""

    post: CreatedPost


class PostHub(TypedDict):
    """The hub that a post was made into."""

    id: str
    name: str
    slug: str
    avatar: str


class _ProblemRequired(TypedDict):
    error: str
    """Which failure it is. A later version may know more: treat an unknown one by its status."""


class Problem(_ProblemRequired, total=False):
    """The envelope of every error. Which fields are present depends on the failure."""

    message: str
    """For people; its wording may change."""
    retryAfter: int
    """On 429: whole seconds after which one request will pass, if none is sent before."""
    limit: Limit
    """On 429: the limit that was reached."""
    requiredScope: str
    """On `Missing required scope`: the scope that the key lacks."""
    oldest: str
    """On `Cursor expired`: the cursor before the oldest event that is kept."""
    details: list[Fault]
    """On 400 and 422: every fault that was found."""
    draft: object
    """On a 409 of a draft: the draft as it stands."""


class PublishDraft(TypedDict, total=False):
    """The draft to publish."""

    version: int | None
    """When it is given: another version is a 409."""


class Revocation(TypedDict):
    """The key that was revoked, and by whom."""

    id: str
    label: str
    keyPrefix: str
    revokedAt: str
    revokedBy: str
    reason: str | None


class RevocationData(TypedDict):
    """`data` of apikey.revoked."""

    apiKey: Revocation


class SourceKey(TypedDict):
    """The key that made something."""

    id: str
    label: str
    keyPrefix: str
    """The key's first 15 characters: what records and events show of it."""


class Stats(TypedDict):
    """Counts of what others did with a post."""

    likes: int
    comments: int
    """Replies included."""
    shares: int
    """Plain bounces."""
    shareCount: int
    """Plain and quote bounces."""
    views: int
    """Openings of the permalink by others than the author."""


class TestData(TypedDict):
    """`data` of webhook.test."""

    message: str
    webhookId: str


class PostCreatedEvent(TypedDict):
    """The account published a post, by key or with a session; bounces are posts too. Sent as soon as the post is there, before its media has been processed."""

    event: Literal["post.created"]
    id: str
    created_at: str
    data: PostCreatedData


class PostclipCreatedEvent(TypedDict):
    """The account published a clip."""

    event: Literal["postclip.created"]
    id: str
    created_at: str
    data: ClipCreatedData


class CommentCreatedEvent(TypedDict):
    """The account commented on a post, or replied to a comment. `content` is empty when the comment is media alone."""

    event: Literal["comment.created"]
    id: str
    created_at: str
    data: CommentCreatedData


class ApikeyRevokedEvent(TypedDict):
    """The key of this endpoint was revoked: by its owner (`self`), by the operator (`admin`), or by the service, because requests went on after many refusals (`auto`). It is the last event that the key's endpoints get."""

    event: Literal["apikey.revoked"]
    id: str
    created_at: str
    data: RevocationData


class WebhookTestEvent(TypedDict):
    """The owner asked for a test. It is tried once, and its failure does not count."""

    event: Literal["webhook.test"]
    id: str
    created_at: str
    data: TestData


Event = Union[
    "PostCreatedEvent", "PostclipCreatedEvent", "CommentCreatedEvent", "ApikeyRevokedEvent", "WebhookTestEvent"
]
"""An envelope. A later version may send further events, so compare `event` before you read `data`."""
