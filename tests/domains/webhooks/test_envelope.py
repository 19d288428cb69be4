"""The envelope, byte by byte."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from pressroom.domains.events.models import envelope
from pressroom.domains.webhooks.envelope import new_envelope_id
from pressroom.ids import first_id, new_id

AT = 1_795_190_892_345
ENVELOPE_ID = "evt_0b0c7f2e-6a1d-4c7e-9d55-3f1c1a2b3c4d"


def test_an_envelope_is_these_bytes() -> None:
    body = envelope(ENVELOPE_ID, first_id(AT), "post.created", '{"post":{"content":"5 < 6 & \u201cHi\u201d"}}')
    assert body.decode() == (
        '{"event":"post.created","id":"evt_0b0c7f2e-6a1d-4c7e-9d55-3f1c1a2b3c4d",'
        '"created_at":"2026-11-20T16:08:12.345Z","data":{"post":{"content":"5 < 6 & \u201cHi\u201d"}}}'
    )


def test_its_time_is_the_event_s_own_whenever_it_is_made() -> None:
    bodies = {envelope(ENVELOPE_ID, event_id, "post.created", "{}") for event_id in (new_id(AT), new_id(AT))}
    assert len(bodies) == 1


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text()))
def test_data_equals_the_stored_json(data: dict[str, object]) -> None:
    stored = json.dumps(data, ensure_ascii=True)
    decoded = json.loads(envelope(ENVELOPE_ID, first_id(AT), "post.created", stored))
    assert list(decoded) == ["event", "id", "created_at", "data"]
    assert decoded["data"] == data


def test_ids_are_of_40_characters_and_version_4() -> None:
    made = {new_envelope_id() for _ in range(1_000)}
    assert len(made) == 1_000
    pattern = re.compile(r"evt_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(len(each) == 40 and pattern.fullmatch(each) for each in made)
