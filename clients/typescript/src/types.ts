// The types of bodies and answers, by their names in the API reference.
// Made by clients/generate.py from the OpenAPI document; do not edit.

/** An account, as its owner sees it. */
export interface Account {
  /** Stable, whatever the user name becomes: the id to store elsewhere. */
  id: string
  /** Its owner can change it. */
  username: string
  email: string
  displayName: string
  avatar: string
  /** A wide picture over the profile; null: none was chosen. */
  coverImage: string | null
  bio: string | null
  verified: boolean
  emailVerified: boolean
  isPrivate: boolean
  /** Whether search, explore and suggestions show the account; a private one never. */
  discoverable: boolean
  isCreator: boolean
  totalFollowers: number
  totalFollowing: number
  /** Posts that are not deleted. */
  totalPosts: number
  createdAt: string
}

/** The account that made something, as everybody sees it. */
export interface Author {
  id: string
  username: string
  displayName: string
  avatar: string
  verified: boolean
  verifiedType: string | null
}

/** A new bounce. Without content, or with white space alone, it is a plain one. */
export interface BouncePost {
  /** Commentary shown above the original. */
  content?: string | null
}

/** A clip. */
export interface Clip {
  id: string
  author: Author
  caption: string | null
  /** Seconds; null until it is READY. */
  duration: number | null
  visibility: Visibility
  /** The hub that it was made into. */
  hub: PostHub | null
  /** READY and FAILED are final. */
  processingStatus: ProcessingStatus
  /** An MP4; answers 404 until it is READY. */
  url: string
  thumbnailUrl: string
  createdAt: string
  /** The key that made the clip; null: made with a session. */
  sourceApiKey: SourceKey | null
  /** The address for people. */
  permalink: string
}

/** `data` of postclip.created. */
export interface ClipCreatedData {
  postclip: CreatedClip
}

/** What kind of fault it is. A later version may know more. */
export type Code = string

/** A comment. */
export interface Comment {
  id: string
  /** The post commented on. */
  postId: string
  /** The comment replied to; null: none. */
  parentId: string | null
  author: Author
  /** Null when the comment is media alone. */
  content: string | null
  media: Media | null
  createdAt: string
  /** When its author last edited it; null: never. */
  editedAt: string | null
  /** The key that made the comment; null: made with a session. */
  sourceApiKey: SourceKey | null
  /** The address for people. */
  permalink: string
}

/** `data` of comment.created. */
export interface CommentCreatedData {
  comment: CreatedComment
}

/** A page of comments, oldest first. */
export interface CommentList {
  comments: Array<Comment>
  nextCursor: string | null
}

/** Who may comment on a post, of those who see it: everyone, followers of its author, or nobody else. */
export type Commenters = 'everyone' | 'followers' | 'nobody'

/** A comment to publish. */
export interface CreateComment {
  /** Plain text. Needed where there is no media. */
  content?: string | null
  /** The comment to reply to; null: none, the post itself. */
  parentId?: string | null
  media?: MediaIn | null
}

/** A new draft. Every field is optional: it may be empty until it is published. */
export interface CreateDraft {
  /** Whether a person has to publish or schedule it, signed in. */
  needsApproval?: boolean | null
  /** The text. A draft may have none yet; null clears it. */
  content?: string | null
  visibility?: Visibility | null
  location?: LocationIn | null
  /** The hub to publish into. Membership counts when it is published. */
  hubId?: string | null
  poll?: PollIn | null
  /** The page whose card is shown, instead of the content's first link. */
  linkPreviewUrl?: string | null
  /** Signed in alone. */
  comments?: Commenters | null
  /** The allowlist of a CUSTOM post. Signed in alone. */
  usernames?: Array<string> | null
  /** The files to keep, of those uploaded to it, in their new order. Others are removed. */
  mediaIds?: Array<string> | null
  /** What each file shows, in their order; empty: nothing said. */
  altText?: Array<string> | null
  /** When to publish it: ISO 8601 with a zone, up to a year ahead. null: it is not scheduled. */
  publishAt?: string | null
}

/** A new post. */
export interface CreatePost {
  /** The text. Needed: more than white space. Counted in code points after NFC. */
  content: string
  visibility?: Visibility | null
  location?: LocationIn | null
  /** A hub that the account is a member of. */
  hubId?: string | null
  /** Signed in alone; absent: everyone. */
  comments?: Commenters | null
  poll?: PollIn | null
  /** The page whose card is shown, instead of the content's first link. */
  linkPreviewUrl?: string | null
}

/** The clip of postclip.created. `duration` is in seconds. */
export interface CreatedClip {
  id: string
  authorId: string
  caption: string | null
  duration: number | null
  visibility: Visibility
  hubId: string | null
  processingStatus: ProcessingStatus
  createdAt: string
}

/** The comment of comment.created. `content` is empty when the comment is media alone. */
export interface CreatedComment {
  id: string
  postId: string
  authorId: string
  parentId: string | null
  content: string
  createdAt: string
}

/** The post of post.created. */
export interface CreatedPost {
  id: string
  authorId: string
  content: string | null
  type: PostType
  visibility: Visibility
  isShare: boolean
  originalPostId: string | null
  hubId: string | null
  createdAt: string
}

/** The post that was deleted. */
export interface Deleted {
  message: string
  id: string
}

/** The draft that was deleted. */
export interface DeletedDraft {
  message: string
  id: string
}

/** A draft. */
export interface Draft {
  id: string
  /** Grows with each change. A change names the version that it changes. */
  version: number
  createdAt: string
  updatedAt: string
  /** When it is, or was to be, published; null: not scheduled. */
  publishAt: string | null
  needsApproval: boolean
  /** draft: it waits for somebody to publish or schedule it. scheduled: it is published at `publishAt`. refused: it could not be published then, `refusal` says why. published: `postId` is its post. */
  state: DraftState
  /** Of a refused draft: why, in words. */
  refusal: string | null
  /** Of a published draft: its post. */
  postId: string | null
  content: string | null
  visibility: Visibility
  location: Location | null
  hubId: string | null
  poll: DraftPoll | null
  linkPreviewUrl: string | null
  comments: Commenters
  /** The allowlist of a CUSTOM post. */
  usernames: Array<string>
  mediaIds: Array<string>
  /** Those files, for the owner alone. */
  media: Array<MediaEntry>
  /** The key that made the draft; null: made with a session. */
  sourceApiKey: SourceKey | null
}

/** A page of drafts, newest first. */
export interface DraftList {
  drafts: Array<Draft>
  nextCursor: string | null
}

/** The poll of a draft, in the shape in which it is given. */
export interface DraftPoll {
  question: string | null
  options: Array<string>
  multiple: boolean
  durationMinutes: number
}

/** The state of a draft. PUBLISHED is final. */
export type DraftState = 'draft' | 'scheduled' | 'refused' | 'published'

/** Changes to a draft. Fields that are not given stay as they are, and null clears a field. */
export interface EditDraft {
  /** The version that this changes; another is a 409. */
  version: number
  /** Whether a person has to publish or schedule it, signed in. */
  needsApproval?: boolean | null
  /** The text. A draft may have none yet; null clears it. */
  content?: string | null
  visibility?: Visibility | null
  location?: LocationIn | null
  /** The hub to publish into. Membership counts when it is published. */
  hubId?: string | null
  poll?: PollIn | null
  /** The page whose card is shown, instead of the content's first link. */
  linkPreviewUrl?: string | null
  /** Signed in alone. */
  comments?: Commenters | null
  /** The allowlist of a CUSTOM post. Signed in alone. */
  usernames?: Array<string> | null
  /** The files to keep, of those uploaded to it, in their new order. Others are removed. */
  mediaIds?: Array<string> | null
  /** What each file shows, in their order; empty: nothing said. */
  altText?: Array<string> | null
  /** When to publish it: ISO 8601 with a zone, up to a year ahead. null: it is not scheduled. */
  publishAt?: string | null
}

/** Changes to a post: at least one field. A field that is not given stays as it is. */
export interface EditPost {
  /** The text. Needed: more than white space. Counted in code points after NFC. */
  content?: string | null
  visibility?: Visibility | null
  /** Signed in alone. */
  comments?: Commenters | null
}

/** An event as a key reads it: the same bytes at every reading. */
export interface Envelope {
  /** The kind of event. */
  event: EventType
  /** The same at every reading by this key: drop known ids. */
  id: string
  /** When it happened. */
  created_at: string
  /** As in the webhook of this kind. */
  data: Record<string, unknown>
}

/** Events that follow a cursor, oldest first. */
export interface EventList {
  events: Array<Envelope>
  /** `after` of the next request. Store it once these events are handled. */
  cursor: string
}

/** Every event that the service emits; webhook.test reports no activity and goes to one endpoint alone. */
export type EventType = 'post.created' | 'postclip.created' | 'comment.created' | 'apikey.revoked' | 'webhook.test'

/** One thing wrong with a request: where (`location.latitude`, `media[2]`, `body`), what, and what to do. */
export interface Fault {
  /** A dotted path into the body, list items as `media[2]`; `body` for a fault of the whole, `header.Idempotency-Key` for a header, a parameter's name for a parameter. */
  field: string
  code: Code
  /** For people; its wording may change. */
  message: string
}

/** Whether the caller likes and saves a post. */
export interface Interactions {
  liked: boolean
  saved: boolean
}

/** Which limit was reached. A later version may know more. */
export type Limit = string

/** The card of a page that a post links to. */
export interface LinkPreview {
  url: string
  title: string | null
  description: string | null
  /** Our own stored thumbnail, a WebP image. */
  image: string | null
  siteName: string | null
}

/** A named place. A coordinate that was not given is absent. */
export interface Location {
  name: string
  latitude?: number
  longitude?: number
}

/** A named place; its coordinates are in degrees. */
export interface LocationIn {
  name: string
  latitude?: number | null
  longitude?: number | null
}

/** Something to look at, elsewhere. */
export interface Media {
  type: MediaType
  url: string
}

/** A file of a post. Its address holds from the start and answers 404 until it is READY. Of a post that is not PUBLIC, readers other than the author get an address of their own that ends within minutes, and with their right to see the post: read the post again for the next. */
export interface MediaEntry {
  id: string
  url: string
  type: MediaEntryType
  /** Of what `url` answers: image/webp or video/mp4. */
  mimeType: string
  /** READY is final. FAILED too, unless an admin has the file processed again. */
  processingStatus: ProcessingStatus
  /** Pixels, as shown; null until it is READY. */
  width: number | null
  /** Pixels, as shown; null until it is READY. */
  height: number | null
  /** Of a video that is READY: seconds. */
  duration: number | null
  /** Of what `url` answers; null until it is READY. */
  sizeBytes: number | null
  /** A WebP image of at most 640 pixels a side. */
  thumbnailUrl: string
  /** What it shows, for those who do not see it. */
  altText: string | null
  /** For `srcset`: an image in every size, the smallest first. Empty until READY, and for a video. */
  variants: Array<Picture>
}

/** How a client shows a file. */
export type MediaEntryType = 'image' | 'gif' | 'video'

/** Something to look at, elsewhere. */
export interface MediaIn {
  type: MediaType
  /** An https address without credentials. */
  url: string
}

/** The kind of a comment's media. */
export type MediaType = 'gif' | 'image'

/** The post that a bounce shares; it has no original of its own. */
export interface OriginalPost {
  id: string
  content: string | null
  /** Null: none. */
  media: Array<MediaEntry> | null
  /** Null until the page was fetched, and when there is media or no link. */
  linkPreview: LinkPreview | null
  location: Location | null
  /** POST; SHARE: a plain bounce; QUOTE: a bounce with content. */
  type: PostType
  visibility: Visibility
  comments: Commenters
  createdAt: string
  updatedAt: string
  /** When the author last edited it; null: never. */
  editedAt: string | null
  /** When it was deleted; null: it is not deleted. */
  deletedAt: string | null
  author: Author
  /** The hub that it was made into. */
  hub: PostHub | null
  /** The key that made the post; null: made with a session. */
  sourceApiKey: SourceKey | null
  isBounce: boolean
  /** Of a bounce, the account that made it. */
  bouncedBy: Author | null
  poll: Poll | null
  stats: Stats
  userInteractions: Interactions
  /** The address for people. */
  permalink: string
}

/** One of the sizes in which an image is served, all of them WebP. */
export interface Picture {
  url: string
  /** Pixels. */
  width: number
  /** Pixels. */
  height: number
}

/** A poll. */
export interface Poll {
  question: string | null
  /** Whether one vote may choose several options. */
  multiple: boolean
  closesAt: string
  closed: boolean
  /** Accounts that voted. */
  totalVotes: number
  options: Array<PollOption>
  /** What the caller voted for, by index. */
  ownVotes: Array<number>
}

/** A poll to attach. */
export interface PollIn {
  options: Array<string>
  question?: string | null
  /** Whether one vote may choose several; false unless given. */
  multiple?: boolean | null
  /** How long it is open: 5 minutes to 30 days; a day unless given. */
  durationMinutes?: number | null
}

/** An option of a poll. */
export interface PollOption {
  index: number
  text: string
  votes: number
}

/** A post. */
export interface Post {
  id: string
  content: string | null
  /** Null: none. */
  media: Array<MediaEntry> | null
  /** Null until the page was fetched, and when there is media or no link. */
  linkPreview: LinkPreview | null
  location: Location | null
  /** POST; SHARE: a plain bounce; QUOTE: a bounce with content. */
  type: PostType
  visibility: Visibility
  comments: Commenters
  createdAt: string
  updatedAt: string
  /** When the author last edited it; null: never. */
  editedAt: string | null
  /** When it was deleted; null: it is not deleted. */
  deletedAt: string | null
  author: Author
  /** The hub that it was made into. */
  hub: PostHub | null
  /** The key that made the post; null: made with a session. */
  sourceApiKey: SourceKey | null
  isBounce: boolean
  /** Of a bounce, the account that made it. */
  bouncedBy: Author | null
  poll: Poll | null
  stats: Stats
  userInteractions: Interactions
  /** The address for people. */
  permalink: string
  /** Of a bounce, what it shares; null once that is deleted or no longer for the caller to see. */
  originalPost: OriginalPost | null
}

/** `data` of post.created. */
export interface PostCreatedData {
  post: CreatedPost
}

/** The hub that a post was made into. */
export interface PostHub {
  id: string
  name: string
  slug: string
  avatar: string
}

/** The kind of a post: of one's own, a plain bounce, or a bounce with commentary. */
export type PostType = 'POST' | 'SHARE' | 'QUOTE'

/** The envelope of every error. Which fields are present depends on the failure. */
export interface Problem {
  /** Which failure it is. A later version may know more: treat an unknown one by its status. */
  error: string
  /** For people; its wording may change. */
  message?: string
  /** On 429: whole seconds after which one request will pass, if none is sent before. */
  retryAfter?: number
  /** On 429: the limit that was reached. */
  limit?: Limit
  /** On `Missing required scope`: the scope that the key lacks. */
  requiredScope?: string
  /** On `Cursor expired`: the cursor before the oldest event that is kept. */
  oldest?: string
  /** On 400 and 422: every fault that was found. */
  details?: Array<Fault>
  /** On a 409 of a draft: the draft as it stands. */
  draft?: unknown
}

/** The states of a file. READY is final; FAILED too, unless an admin has the file processed again. */
export type ProcessingStatus = 'PROCESSING' | 'READY' | 'FAILED'

/** The draft to publish. */
export interface PublishDraft {
  /** When it is given: another version is a 409. */
  version?: number | null
}

/** The key that was revoked, and by whom. */
export interface Revocation {
  id: string
  label: string
  keyPrefix: string
  revokedAt: string
  revokedBy: string
  reason: string | null
}

/** `data` of apikey.revoked. */
export interface RevocationData {
  apiKey: Revocation
}

/** The key that made something. */
export interface SourceKey {
  id: string
  label: string
  /** The key's first 15 characters: what records and events show of it. */
  keyPrefix: string
}

/** Counts of what others did with a post. */
export interface Stats {
  likes: number
  /** Replies included. */
  comments: number
  /** Plain bounces. */
  shares: number
  /** Plain and quote bounces. */
  shareCount: number
  /** Openings of the permalink by others than the author. */
  views: number
}

/** `data` of webhook.test. */
export interface TestData {
  message: string
  webhookId: string
}

/** Who may see a post or clip. PUBLIC (the default): anyone, signed-out visitors too. FOLLOWERS: accounts that follow the author. CONNECTIONS: accounts that follow the author and are followed back. PRIVATE: the author alone. CUSTOM: a list that only the web app can set; without one it is like PRIVATE. */
export type Visibility = 'PUBLIC' | 'FOLLOWERS' | 'CONNECTIONS' | 'PRIVATE' | 'CUSTOM'

/** The account published a post, by key or with a session; bounces are posts too. Sent as soon as the post is there, before its media has been processed. */
export interface PostCreatedEvent {
  event: 'post.created'
  id: string
  created_at: string
  data: PostCreatedData
}

/** The account published a clip. */
export interface PostclipCreatedEvent {
  event: 'postclip.created'
  id: string
  created_at: string
  data: ClipCreatedData
}

/** The account commented on a post, or replied to a comment. `content` is empty when the comment is media alone. */
export interface CommentCreatedEvent {
  event: 'comment.created'
  id: string
  created_at: string
  data: CommentCreatedData
}

/** The key of this endpoint was revoked: by its owner (`self`), by the operator (`admin`), or by the service, because requests went on after many refusals (`auto`). It is the last event that the key's endpoints get. */
export interface ApikeyRevokedEvent {
  event: 'apikey.revoked'
  id: string
  created_at: string
  data: RevocationData
}

/** The owner asked for a test. It is tried once, and its failure does not count. */
export interface WebhookTestEvent {
  event: 'webhook.test'
  id: string
  created_at: string
  data: TestData
}

/** An envelope. A later version may send further events: compare `event` before you read `data`. */
export type Event = PostCreatedEvent | PostclipCreatedEvent | CommentCreatedEvent | ApikeyRevokedEvent | WebhookTestEvent
