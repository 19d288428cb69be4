"""Checks of the files in a form (docs/media.md#upload)."""

from collections.abc import Iterator

from pressroom.domains.media.kinds import agrees, sniff
from pressroom.errors import Code, FieldError
from pressroom.web.multipart_rules import Form

_TAKEN = "JPEG, PNG, GIF, WebP, MP4, MPEG, QuickTime and WebM"


def file_errors(
    form: Form, field: str, *, video_only: bool = False, picture_only: bool = False
) -> Iterator[FieldError]:
    """Yields an error for each file whose bytes are of no accepted kind, or not of the declared type."""
    for file in form.seen:
        where = f"{field}[{file.place}]"
        kind = sniff(file.head)
        if kind is None:
            yield FieldError(where, Code.UNSUPPORTED_MEDIA_TYPE, f"By its bytes this is none of {_TAKEN}.")
        elif video_only and not kind.is_video:
            yield FieldError(
                where, Code.UNSUPPORTED_MEDIA_TYPE, f"By its bytes this is {kind.mime}; a video is needed."
            )
        elif picture_only and kind.is_video:
            yield FieldError(
                where, Code.UNSUPPORTED_MEDIA_TYPE, f"By its bytes this is {kind.mime}; a picture is needed."
            )
        elif not agrees(file.declared_type, kind):
            message = f"Declared as {(file.declared_type or '')[:100]}, but by its bytes this is {kind.mime}."
            yield FieldError(where, Code.UNSUPPORTED_MEDIA_TYPE, message)


def alt_text_errors(form: Form, field: str) -> Iterator[FieldError]:
    """Yields an error for each description that has no file."""
    for place in range(form.places, len(form.texts.get("altText", []))):
        yield FieldError(f"altText[{place}]", Code.TOO_MANY, f"There is no {field}[{place}] that this could describe.")
