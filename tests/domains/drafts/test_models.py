"""The stored fields of a draft (docs/drafts.md#fields)."""

from msgspec.structs import replace

from pressroom.domains.drafts.models import EMPTY, decoded, encoded
from pressroom.domains.posts.models import BARE
from pressroom.domains.posts.visibility import Visibility


def test_stored_fields_are_read_back() -> None:
    fields = replace(EMPTY, visibility=Visibility.PRIVATE, location_name="Köln", latitude=50.9, content="Text")

    assert decoded(encoded(fields)) == fields


def test_field_that_is_younger_than_the_draft_has_the_default_of_a_post() -> None:
    read = decoded('{"content": "Text"}')

    assert read.content == "Text"
    assert read.commenters == BARE.commenters == EMPTY.commenters
