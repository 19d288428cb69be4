"""Taking files in: they stand in the store before the transaction that gives them to a post or a clip."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from pressroom.blobs import Blobs
from pressroom.db import DiskFull
from pressroom.domains.media.kinds import sniff
from pressroom.domains.media.models import NewMedia, source
from pressroom.errors import Refused, TooMany, Unavailable
from pressroom.ids import new_id
from pressroom.web.form_data import IncomingFile
from pressroom.web.response import Response

REMOVE_SECONDS: Final = 2.0
_AS_BYTES: Final = "application/octet-stream"


class StagedUploads:
    """Files that stand in the store. `answered` says what became of the request that brought them."""

    def __init__(self, files: list[NewMedia]) -> None:
        self.files = files
        self.unused = False

    def answered(self, response: Response) -> Response:
        """Returns `response` itself. A replayed one is an earlier request's, with that one's files."""
        self.unused = response.replayed
        return response


@asynccontextmanager
async def staged_uploads(
    blobs: Blobs, files: Sequence[IncomingFile], alt_texts: Sequence[str], now: int
) -> AsyncGenerator[StagedUploads]:
    """Stores files whose forms have been checked; `alt_texts` describe them in their order.

    What a request brought that failed, was refused or repeats another is removed again. When it is not known whether
    the transaction happened (the database was lost meanwhile), the files stay: an hour later they are swept if nothing
    refers to them.
    """
    staged, stored = StagedUploads([]), False
    try:
        for place, file in enumerate(files):
            kind = sniff(file.head)
            if kind is None:
                raise ValueError("This file was not checked.")
            alt_text = alt_texts[place] if place < len(alt_texts) else ""
            new = NewMedia(new_id(now), kind, alt_text or None, file.size)
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
    """Removes what nothing refers to, if the store does it soon; else it is swept. Nobody waits long for it."""
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(REMOVE_SECONDS):
            await blobs.delete(*keys)
