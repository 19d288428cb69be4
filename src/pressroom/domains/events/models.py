"""The events that exist. Reserved ones (post.deleted and its like) are not here, so none can be emitted."""

from enum import StrEnum

import msgspec


class EventType(StrEnum):
    """Every event that the service emits; webhook.test reports no activity and goes to one endpoint alone."""

    POST_CREATED = "post.created"
    POSTCLIP_CREATED = "postclip.created"
    COMMENT_CREATED = "comment.created"
    APIKEY_REVOKED = "apikey.revoked"
    WEBHOOK_TEST = "webhook.test"


class Event(msgspec.Struct):
    """An event as it is kept. `key_id` is set when it concerns that key alone; `data` is JSON text."""

    id: str
    account_id: str
    key_id: str | None
    type: EventType
    data: str
