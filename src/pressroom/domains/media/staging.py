"""Stages uploads: stores the files before the transaction that attaches them to a post or a clip."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from pressroom.blobs import Blobs
from pressroom.db import DiskFull
from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.kinds import sniff
from pressroom.domains.media.models import NewMedia, source
from pressroom.errors import Refused, TooMany, Unavailable
from pressroom.ids import new_id
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
            await blobs.put_file(source(new.id), file.path, _AS_BYTES)
        stored = True
        yield staged
    except BaseException as error:
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
