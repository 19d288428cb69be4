"""postclip.created: its data, and an example of it."""

from typing import ClassVar, Self

import msgspec

from pressroom.domains.events.models import EventData, EventType
from pressroom.domains.media.models import ProcessingStatus
from pressroom.domains.posts.visibility import Visibility


class CreatedClip(msgspec.Struct, rename="camel"):
    """The clip of postclip.created. `duration` is in seconds."""

    id: str
    author_id: str
    caption: str | None
    duration: float | None
    visibility: Visibility
    hub_id: str | None
    processing_status: ProcessingStatus
    created_at: str


class ClipCreatedData(EventData):
    """`data` of postclip.created."""

    event: ClassVar = EventType.POSTCLIP_CREATED
    sent_when: ClassVar = "The account published a clip."

    postclip: CreatedClip

    @classmethod
    def example(cls) -> Self:
        return cls(
            CreatedClip(
                id="01M7WVEB0X1R6S9D3F5G7H8JKM",
                author_id="01KP2C3Z8D7Q1N5V0X4E6R9TBW",
                caption="Inking the forme",
                duration=None,
                visibility=Visibility.PUBLIC,
                hub_id=None,
                processing_status=ProcessingStatus.PROCESSING,
                created_at="2026-11-20T16:08:12.345Z",
            )
        )
