"""The form that publishes a post with media: its texts and its files (docs/media.md#upload)."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from msgspec import Meta

from pressroom.domains.media.file_checks import alt_text_errors, file_errors
from pressroom.domains.media.models import (
    ALT_TEXT_LIMIT,
    FILE_BYTES_BY_KEY,
    FILE_BYTES_SIGNED_IN,
    FILES_BY_KEY,
    FILES_SIGNED_IN,
    NewMedia,
)
from pressroom.domains.posts.models import Draft
from pressroom.domains.posts.parsed_text import parse_text
from pressroom.domains.posts.schemas import LocationIn, PostBody, place_errors
from pressroom.errors import FieldError
from pressroom.text import is_blank
from pressroom.web.multipart_rules import Form, FormRules
from pressroom.web.routing import FormSpec


class UploadPost(PostBody, kw_only=True):
    """The text fields of a post with media."""

    content: Annotated[str, Meta(max_length=5000, description="The text. Not needed beside media.")] | None = None
    location: Annotated[LocationIn | None, Meta(description="Serialised JSON.")] = None
    alt_text: Annotated[
        list[Annotated[str, Meta(max_length=ALT_TEXT_LIMIT)]] | None,
        Meta(description="What each file shows, in the files' order; leave one empty to skip its file."),
    ] = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from place_errors(self.location)

    def draft(self, files: Sequence[NewMedia]) -> Draft:
        """Returns the post to publish with these files."""
        return Draft(
            content=None if self.content is None or is_blank(self.content) else parse_text(self.content),
            fields=self.post_fields(),
            media=list(files),
        )


_TEXTS: Final = UploadPost.__struct_encode_fields__


def _field_errors(form: Form) -> Iterator[FieldError]:
    yield from file_errors(form, "media")
    yield from alt_text_errors(form, "media")


UPLOAD_FORM: Final = FormSpec(
    by_key=FormRules("media", FILES_BY_KEY, FILE_BYTES_BY_KEY, _TEXTS, frozenset({"altText"})),
    signed_in=FormRules("media", FILES_SIGNED_IN, FILE_BYTES_SIGNED_IN, _TEXTS, frozenset({"altText"})),
    json_texts=frozenset({"location"}),
    field_errors=_field_errors,
)
