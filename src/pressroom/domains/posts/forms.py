"""The forms that publish a post: the API's, with media (docs/media.md#upload), and the page's, with everything that a
post can have (docs/web-app.md#composing)."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from msgspec import Meta

from pressroom.domains.media.models import (
    ALT_TEXT_LIMIT,
    FILE_BYTES_BY_KEY,
    FILE_BYTES_SIGNED_IN,
    FILES_BY_KEY,
    FILES_SIGNED_IN,
    NewMedia,
)
from pressroom.domains.media.uploads import alt_text_errors, file_errors
from pressroom.domains.posts.models import NewPost, parse_text
from pressroom.domains.posts.poll_schemas import PollIn
from pressroom.domains.posts.schemas import LocationIn, PostBody, link_errors, named_twice, place_errors
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.previews.urls import LINK_LIMIT, normalised
from pressroom.errors import Code, FieldError
from pressroom.text import is_blank
from pressroom.web.multipart_rules import Form, FormRules, FormSpec
from pressroom.web.page_forms import FormFields
from pressroom.web.routing import FormFiles


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

    def new_post(self, files: Sequence[NewMedia]) -> NewPost:
        """Returns the post to publish with these files."""
        return NewPost(
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


class ComposePost(PostBody, kw_only=True):
    """A post as it is written on a page: what CreatePost and UploadPost take, and the allowlist of a CUSTOM post."""

    content: Annotated[str, Meta(max_length=5000)] | None = None
    poll: PollIn | None = None
    link_preview_url: Annotated[str, Meta(max_length=LINK_LIMIT)] | None = None
    alt_text: list[Annotated[str, Meta(max_length=ALT_TEXT_LIMIT)]] | None = None
    usernames: Annotated[list[Annotated[str, Meta(max_length=30)]], Meta(max_length=1000)] | None = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from place_errors(self.location)
        if self.poll is not None:
            yield from self.poll.poll_errors()
        if self.link_preview_url is not None:
            yield from link_errors(self.link_preview_url)
        yield from named_twice(self.usernames)
        # Refused, not ignored: a post meant for a few readers would be published to a wider audience.
        if self.usernames and self.visibility is not Visibility.CUSTOM:
            message = "Readers are named for a post that chosen readers see. Choose that, or name nobody."
            yield FieldError("usernames", Code.NOT_ALLOWED, message)

    def new_post(self, files: Sequence[NewMedia] = ()) -> NewPost:
        """Returns the post to publish, with these files."""
        return NewPost(
            content=None if self.content is None or is_blank(self.content) else parse_text(self.content),
            fields=self.post_fields(),
            poll=self.poll.new_poll() if self.poll else None,
            forced_link=None if self.link_preview_url is None else normalised(self.link_preview_url),
            media=list(files),
        )


_NO_FILE: Final = "This describes a file, but none is chosen. Choose the file again."


def _form_errors(form: Form) -> Iterator[FieldError]:
    yield from file_errors(form, "media")
    has_file = form.places or form.texts.get("mediaIds")
    if not has_file and is_blank("".join(form.texts.get("content", []))):
        yield FieldError("content", Code.REQUIRED, "A post needs some text, or a file.")
    if has_file and _given(form, "poll.question", "poll.options"):
        yield FieldError("poll.options", Code.NOT_ALLOWED, "A post has a poll or files, not both.")
    if has_file and _given(form, "linkPreviewUrl"):
        yield FieldError("linkPreviewUrl", Code.NOT_ALLOWED, "Beside files no link card is shown: leave this empty.")
    for place, text in enumerate(form.texts.get("altText", [])):
        if text and not (place < len(form.inputs) and form.inputs[place]):
            yield FieldError(f"altText[{place}]", Code.TOO_MANY, _NO_FILE)


def _given(form: Form, *names: str) -> bool:
    return any(not is_blank(text) for name in names for text in form.texts.get(name, []))


COMPOSE_FIELDS: Final = FormFields(lines={"poll.options", "usernames"}, names={"usernames"}, per_file="altText")
COMPOSE_FILES: Final = FormFiles(FormRules("media", FILES_SIGNED_IN, FILE_BYTES_SIGNED_IN, optional=True), _form_errors)
