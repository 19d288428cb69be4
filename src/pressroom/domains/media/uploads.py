"""Stages uploads: stores the files before the transaction that attaches them to a post or a clip."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from pressroom.blobs import Blobs
from pressroom.db import DiskFull
from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.kinds import agrees, sniff
from pressroom.domains.media.models import NewMedia, source
from pressroom.errors import Code, FieldError, Refused, TooMany, Unavailable
from pressroom.ids import new_id
from pressroom.web.multipart_rules import Form
from pressroom.web.request import Request
from pressroom.web.response import Response

REMOVE_SECONDS: Final = 2.0
_AS_BYTES: Final = "application/octet-stream"


class StagedUploads:
    """Files in the store that no row refers to yet. Pass the response of their request to `answered`."""

    def __init__(self, files: list[NewMedia]) -> None:
        self.files = files
        self.unused = False

    def answered(self, response: Response) -> Response:
        """Returns `response` unchanged. If it is a replay, the files of this request are not used."""
        self.unused = response.replayed
        return response


@asynccontextmanager
async def staged_uploads(request: Request[Caller], alt_texts: Sequence[str] = ()) -> AsyncGenerator[StagedUploads]:
    """Stores the files of a checked form; `alt_texts` describe them in their order.

    Removes the files when the request failed, was refused or is a replay. When it is unknown whether the transaction
    committed (the connection to the database was lost), the files stay; an hour later the sweep removes those that no
    row refers to.
    """
    blobs, staged, stored = request.services.blobs, StagedUploads([]), False
    try:
        for position, file in enumerate(request.files):
            kind = sniff(file.head)
            if kind is None:
                raise ValueError("This file was not checked.")
            alt_text = alt_texts[position] if position < len(alt_texts) else ""
            new = NewMedia(new_id(request.clock.now(), request.caller.account.id), kind, alt_text or None, file.size)
            staged.files.append(new)
            # Before the transaction: a committed post never refers to a missing file.
            await blobs.put_file(source(new.id), file.path, _AS_BYTES)
        stored = True
        yield staged
    except BaseException as error:
        # Only errors that prove a rollback: after a lost connection the transaction may have committed, and its rows
        # need the files.
        staged.unused = staged.unused or not stored or isinstance(error, Refused | TooMany | DiskFull)
        raise
    finally:
        if staged.unused:
            await _remove(blobs, [source(new.id) for new in staged.files])


async def _remove(blobs: Blobs, keys: Sequence[str]) -> None:
    """Removes unused files, waiting REMOVE_SECONDS at most. The sweep removes the rest."""
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(REMOVE_SECONDS):
            await blobs.delete(*keys)


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
