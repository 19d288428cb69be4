"""The content of a copy: the account's own rows, a page at a time, without secrets and without others' data.

Each section is one statement. It is asked for rows after `:after` and, where two columns order the rows, `:within`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from pressroom.db import Query, Tx, sql
from pressroom.domains.posts.models import PostFields

PAGE: Final = 100
"""Rows of one page: at most some 2 MB of text."""


class CopiedAccount(msgspec.Struct):
    id: str
    username: str
    email: str
    display_name: str
    bio: str | None
    verified: bool
    email_verified: bool
    is_private: bool
    discoverable: bool
    is_creator: bool
    total_followers: int
    total_following: int
    total_posts: int
    created_at: int
    avatar: str | None
    """The id of the picture that it shows."""

    cover: str | None
    """The id of the cover that it shows."""


class CopiedPost(PostFields):
    id: str
    type: str
    content: str | None
    original_id: str | None
    link: str | None
    likes: int
    comments: int
    shares: int
    views: int
    created_at: int
    edited_at: int | None
    key_id: str | None


class CopiedVersion(msgspec.Struct):
    post_id: str
    id: str
    content: str | None
    visibility: str
    written_at: int


class CopiedReader(msgspec.Struct):
    post_id: str
    account_id: str
    username: str | None


class CopiedOption(msgspec.Struct):
    post_id: str
    position: int
    question: str | None
    label: str
    votes: int
    multiple: bool
    closes_at: int


class CopiedClip(msgspec.Struct):
    id: str
    caption: str | None
    visibility: str
    hub_id: str | None
    created_at: int
    edited_at: int | None
    key_id: str | None


class CopiedDraft(msgspec.Struct):
    id: str
    state: str
    fields: str
    publish_at: int | None
    refusal: str | None
    post_id: str | None
    needs_approval: bool
    created_at: int
    updated_at: int
    key_id: str | None


class CopiedMedia(msgspec.Struct):
    id: str
    belongs_to: str
    kind: str
    alt_text: str | None
    status: str
    size_bytes: int | None
    created_at: int


class CopiedComment(msgspec.Struct):
    id: str
    post_id: str
    parent_id: str | None
    content: str | None
    media_type: str | None
    media_url: str | None
    created_at: int
    edited_at: int | None
    key_id: str | None


class CopiedReaction(msgspec.Struct):
    post_id: str
    created_at: int


class CopiedVote(msgspec.Struct):
    post_id: str
    choices: str
    created_at: int


class CopiedFollow(msgspec.Struct):
    account_id: str
    username: str | None
    created_at: int


class CopiedFilter(msgspec.Struct):
    text: str
    whole_word: bool
    timeline: bool
    notifications: bool


class CopiedHub(msgspec.Struct):
    id: str
    slug: str
    name: str
    made_by_me: bool
    joined_at: int


class CopiedKey(msgspec.Struct):
    id: str
    label: str
    key_prefix: str
    scopes: str
    ip_allowlist: str
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    revoked_at: int | None
    revoked_by: str | None
    reason: str | None
    note: str | None


class CopiedEndpoint(msgspec.Struct):
    id: str
    key_id: str
    url: str
    label: str | None
    events: str
    created_at: int
    paused_at: int | None
    disabled_at: int | None
    disabled_reason: str | None


class CopiedPasskey(msgspec.Struct):
    id: str
    name: str
    created_at: int
    used_at: int | None


class CopiedNotification(msgspec.Struct):
    id: str
    type: str
    actor: str | None
    post_id: str | None
    comment_id: str | None
    webhook_id: str | None
    key_id: str | None
    created_at: int
    read_at: int | None


class CopiedSetting(msgspec.Struct):
    type: str
    way: str


class CopiedSession(msgspec.Struct):
    id: str
    agent: str
    address: str
    created_at: int
    renewed_at: int
    expires_at: int


class CopiedEntry(msgspec.Struct):
    id: str
    kind: str
    actor: str
    at: int
    times: int
    address: str | None
    detail: str


@dataclass(frozen=True, slots=True)
class Section:
    """A file of the copy: its name, its statement, and the fields of a row that its order is by."""

    name: str
    query: Query[Any]
    order: tuple[str, ...] = ("id",)


_NAME: Final = "CASE WHEN a.suspended_at IS NULL THEN a.username END AS username"


def _own(kind: type[msgspec.Struct], table: str, only: str = "TRUE", **renamed: str) -> str:
    """Returns the statement of the account's own rows in order of their ids.

    The columns are the fields of `kind`; `renamed` has the column of a field with another name. `only` is a condition.
    """
    columns = (f"{renamed[name]} AS {name}" if name in renamed else name for name in kind.__struct_fields__)
    return (
        f"SELECT {', '.join(columns)} FROM {table}"
        f" WHERE {only} AND account_id = :account_id AND id > :after ORDER BY id LIMIT :limit"
    )


def _people(table: str, other: str, own: str = "account_id", only: str = "TRUE") -> str:
    """Returns the statement of the accounts in the column `other` that `table` relates to the account in `own`."""
    return (
        f"SELECT t.{other} AS account_id, {_NAME}, t.created_at FROM {table} t JOIN accounts a ON a.id = t.{other}"
        f" WHERE {only} AND t.{own} = :account_id AND t.{other} > :after ORDER BY t.{other} LIMIT :limit"
    )


LIST_POSTS: Final = Query(CopiedPost, _own(CopiedPost, "posts", "deleted_at IS NULL", link="preview_url"))

LIST_VERSIONS: Final = Query(
    CopiedVersion,
    "SELECT v.post_id, v.id, v.content, v.visibility, v.written_at FROM post_versions v"
    " WHERE v.account_id = :account_id AND (v.post_id, v.id) > (:after, :within) AND (SELECT p.deleted_at FROM posts p"
    " WHERE p.account_id = v.account_id AND p.id = v.post_id) IS NULL ORDER BY v.post_id, v.id LIMIT :limit",
)

LIST_AUDIENCES: Final = Query(
    CopiedReader,
    f"SELECT l.post_id, l.account_id, {_NAME} FROM posts p JOIN post_audiences l ON l.post_id = p.id"
    " JOIN accounts a ON a.id = l.account_id WHERE p.account_id = :account_id AND p.visibility = 'CUSTOM'"
    " AND p.deleted_at IS NULL AND p.id >= :after AND (l.post_id, l.account_id) > (:after, :within)"
    " ORDER BY l.post_id, l.account_id LIMIT :limit",
)

LIST_POLLS: Final = Query(
    CopiedOption,
    "SELECT o.post_id, o.position, q.question, o.label, o.votes, q.multiple, q.closes_at FROM posts p"
    " JOIN polls q ON q.post_id = p.id JOIN poll_options o ON o.post_id = p.id WHERE p.account_id = :account_id"
    " AND p.has_poll AND p.deleted_at IS NULL AND p.id >= :after AND (o.post_id > :after OR o.position > :within)"
    " ORDER BY p.id, o.position LIMIT :limit",
)

LIST_CLIPS: Final = Query(CopiedClip, _own(CopiedClip, "clips", "deleted_at IS NULL"))
LIST_DRAFTS: Final = Query(CopiedDraft, _own(CopiedDraft, "drafts"))
LIST_MEDIA: Final = Query(CopiedMedia, _own(CopiedMedia, "media", "hidden_at IS NULL", belongs_to="owner_id"))
LIST_COMMENTS: Final = Query(CopiedComment, _own(CopiedComment, "comments", "deleted_at IS NULL"))

_REACTIONS: Final = "WHERE account_id = :account_id AND post_id > :after ORDER BY post_id LIMIT :limit"

LIST_LIKES: Final = Query(CopiedReaction, f"SELECT post_id, created_at FROM likes {_REACTIONS}")
LIST_SAVES: Final = Query(CopiedReaction, f"SELECT post_id, created_at FROM saves {_REACTIONS}")
LIST_VOTES: Final = Query(CopiedVote, f"SELECT post_id, choices, created_at FROM poll_votes {_REACTIONS}")

LIST_FOLLOWED: Final = Query(CopiedFollow, _people("follows", "followed_id"))
LIST_FOLLOWERS: Final = Query(CopiedFollow, _people("follows", "account_id", own="followed_id"))
LIST_REQUESTS: Final = Query(CopiedFollow, _people("follow_requests", "followed_id"))
LIST_BLOCKS: Final = Query(CopiedFollow, _people("blocks", "other_id", only="t.is_own"))
LIST_MUTES: Final = Query(CopiedFollow, _people("mutes", "muted_id"))

LIST_FILTERS: Final = Query(
    CopiedFilter,
    "SELECT text, whole_word, timeline, notifications FROM word_filters"
    " WHERE account_id = :account_id AND text > :after ORDER BY text LIMIT :limit",
)

LIST_HUBS: Final = Query(
    CopiedHub,
    "SELECT h.id, h.slug, h.name, h.account_id = :account_id AS made_by_me, m.created_at AS joined_at"
    " FROM memberships m JOIN hubs h ON h.id = m.hub_id"
    " WHERE m.account_id = :account_id AND m.hub_id > :after ORDER BY m.hub_id LIMIT :limit",
)

LIST_KEYS: Final = Query(CopiedKey, _own(CopiedKey, "api_keys"))
LIST_ENDPOINTS: Final = Query(CopiedEndpoint, _own(CopiedEndpoint, "webhooks", "removed_at IS NULL"))

LIST_NOTIFICATIONS: Final = Query(
    CopiedNotification,
    "SELECT n.id, n.type, CASE WHEN a.suspended_at IS NULL THEN a.username END AS actor, n.post_id,"
    " n.comment_id, n.webhook_id, n.key_id, n.created_at, n.read_at"
    " FROM notifications n LEFT JOIN accounts a ON a.id = n.actor_id"
    " WHERE n.account_id = :account_id AND n.id > :after ORDER BY n.id LIMIT :limit",
)

LIST_SETTINGS: Final = Query(
    CopiedSetting,
    "SELECT type, way FROM notification_settings WHERE account_id = :account_id AND type > :after"
    " ORDER BY type LIMIT :limit",
)

LIST_SESSIONS: Final = Query(CopiedSession, _own(CopiedSession, "sessions"))
LIST_PASSKEYS: Final = Query(CopiedPasskey, _own(CopiedPasskey, "passkeys"))

# Where an admin acted from is the admin's, and that somebody reported the account is the reporter's.
LIST_LOG: Final = Query(
    CopiedEntry,
    "SELECT id, kind, actor, at, times, CASE WHEN actor = 'self' THEN nullif(address, '') END AS address, detail"
    " FROM audit_entries WHERE kind <> 'report.dismissed' AND account_id = :account_id AND id > :after"
    " ORDER BY id LIMIT :limit",
)

BY_POST: Final = ("post_id",)
BY_ACCOUNT: Final = ("account_id",)

SECTIONS: Final = (
    Section("posts", LIST_POSTS),
    Section("post_versions", LIST_VERSIONS, ("post_id", "id")),
    Section("audiences", LIST_AUDIENCES, ("post_id", "account_id")),
    Section("polls", LIST_POLLS, ("post_id", "position")),
    Section("clips", LIST_CLIPS),
    Section("drafts", LIST_DRAFTS),
    Section("media", LIST_MEDIA),
    Section("comments", LIST_COMMENTS),
    Section("likes", LIST_LIKES, BY_POST),
    Section("saves", LIST_SAVES, BY_POST),
    Section("votes", LIST_VOTES, BY_POST),
    Section("following", LIST_FOLLOWED, BY_ACCOUNT),
    Section("followers", LIST_FOLLOWERS, BY_ACCOUNT),
    Section("follow_requests", LIST_REQUESTS, BY_ACCOUNT),
    Section("blocks", LIST_BLOCKS, BY_ACCOUNT),
    Section("mutes", LIST_MUTES, BY_ACCOUNT),
    Section("filters", LIST_FILTERS, ("text",)),
    Section("hubs", LIST_HUBS),
    Section("api_keys", LIST_KEYS),
    Section("endpoints", LIST_ENDPOINTS),
    Section("notifications", LIST_NOTIFICATIONS),
    Section("notification_settings", LIST_SETTINGS, ("type",)),
    Section("sessions", LIST_SESSIONS),
    Section("passkeys", LIST_PASSKEYS),
    Section("log", LIST_LOG),
)


@sql.one(
    "SELECT id, username, email, display_name, bio, verified, email_verified, is_private, discoverable, is_creator,"
    " total_followers, total_following, total_posts, created_at,"
    " (SELECT m.id FROM media m WHERE m.token = accounts.avatar_token) AS avatar,"
    " (SELECT m.id FROM media m WHERE m.token = accounts.cover_token) AS cover"
    " FROM accounts WHERE id = :account_id"
)
async def find_account(tx: Tx, account_id: str) -> CopiedAccount | None:
    """Returns the account itself."""
    ...


async def read_page(tx: Tx, section: Section, account_id: str, place: Sequence[str | int]) -> list[Any]:
    """Returns the next rows of a section after `place`: the values of its order in the last row; empty: the first."""
    values: dict[str, str | int] = {"after": place[0] if place else ""}
    if len(section.order) > 1:
        first = -1 if section.order[1] == "position" else ""
        values["within"] = place[1] if place else first
    return await tx.all(section.query, account_id=account_id, limit=PAGE, **values)
