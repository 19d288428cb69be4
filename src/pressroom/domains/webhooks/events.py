"""webhook.test: its data; and the data of every event there is."""

from typing import ClassVar, Final, Self

from pressroom.domains.clips.events import ClipCreatedData
from pressroom.domains.comments.events import CommentCreatedData
from pressroom.domains.events.models import EventData, EventType
from pressroom.domains.keys.events import RevocationData
from pressroom.domains.posts.events import PostCreatedData


class TestData(EventData, rename="camel"):
    """`data` of webhook.test."""

    event: ClassVar = EventType.WEBHOOK_TEST
    sent_when: ClassVar = "The owner asked for a test. It is tried once, and its failure does not count."

    message: str
    webhook_id: str

    @classmethod
    def example(cls) -> Self:
        return cls("It works: this is a test delivery from Pressroom.", "01KW2F3B6E0N5Q8R7T4V1X9YZA")


EVENT_DATA: Final[tuple[type[EventData], ...]] = (
    PostCreatedData,
    ClipCreatedData,
    CommentCreatedData,
    RevocationData,
    TestData,
)
"""The data of each kind of event, in the order of the API reference."""
