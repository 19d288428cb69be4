"""Each kind of event has one struct with its name, its occasion and its example."""

import msgspec
import pytest

from pressroom.domains.events.models import EventData, EventType
from pressroom.domains.webhooks.events import EVENT_DATA


def test_every_kind_has_one_struct() -> None:
    assert [data.event for data in EVENT_DATA] == list(EventType)


@pytest.mark.parametrize("data", EVENT_DATA)
def test_example_equals_the_sent_data(data: type[EventData]) -> None:
    assert data.sent_when.endswith(".")
    example = data.example()
    assert msgspec.json.decode(msgspec.json.encode(example), type=data) == example
