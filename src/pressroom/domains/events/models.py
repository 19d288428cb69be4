"""The events that exist. Reserved ones (post.deleted and its like) are not here, so none can be emitted."""

from enum import StrEnum


class EventType(StrEnum):
    """Every event that the service emits of an account's own activity."""

    POST_CREATED = "post.created"
    COMMENT_CREATED = "comment.created"
    APIKEY_REVOKED = "apikey.revoked"
