"""The kinds of event that exist. Reserved ones (post.deleted and its like) are not here, so none can be emitted."""

from enum import StrEnum
from typing import ClassVar, Self

import msgspec


class EventType(StrEnum):
    """Every event that the service emits; webhook.test reports no activity and goes to one endpoint alone."""

    POST_CREATED = "post.created"
    POSTCLIP_CREATED = "postclip.created"
    COMMENT_CREATED = "comment.created"
    APIKEY_REVOKED = "apikey.revoked"
    WEBHOOK_TEST = "webhook.test"


class EventData(msgspec.Struct):
    """The `data` of an envelope. Each kind of event has a subclass, in `events.py` of the package that emits it.

    `event` is the kind. `sent_when` says in the API reference when it is sent.
    """

    event: ClassVar[EventType]
    sent_when: ClassVar[str]

    @classmethod
    def example(cls) -> Self:
        """Returns an example for the API reference."""
        raise NotImplementedError


class Event(msgspec.Struct):
    """An event as it is stored. `key_id` is set when it concerns that key alone; `data` is JSON text."""

    id: str
    account_id: str
    key_id: str | None
    type: EventType
    data: str
