"""Stores media bytes in an S3-compatible store, through obstore.

Large blobs are sent and fetched in parts of a few megabytes, so each request is bounded in time and memory, and no
connection waits for a slow reader.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import parse_qsl, urlsplit

import obstore
from obstore.exceptions import BaseError, PreconditionError
from obstore.store import S3Store

from pressroom.blobs.files import Threads, new_file, write_whole
from pressroom.blobs.store import (
    PIECE,
    BlobInfo,
    BlobMissing,
    BlobsAway,
    check_key,
    check_prefix,
    check_range,
    last_byte,
)
from pressroom.errors import SettingError

if TYPE_CHECKING:
    from obstore import GetOptions, ListStream, ObjectMeta
    from obstore.store import S3Config

CONNECT_SECONDS: Final = 3.0
REQUEST_SECONDS: Final = 15.0
"""The default time limit of a request, with its retries."""

PUT_RATE: Final = 1024 * 1024
"""Bytes per second that a put must reach. It fails after the seconds of a request plus the time at this rate."""

RETRIES: Final = 2
RETRY_SECONDS: Final = 10.0
"""Seconds since the first request after which there is no further retry."""

PART: Final = 5 * 1024 * 1024
"""Bytes of each part of a large upload: the least that S3 allows."""

PARTS_AT_ONCE: Final = 2
READ_PART: Final = 1024 * 1024
FETCH_PART: Final = 4 * 1024 * 1024
LIST_BATCH: Final = 500
DELETES_AT_ONCE: Final = 8
SIGNED_SECONDS: Final = 7 * 24 * 3_600
"""Seconds that S3 accepts a presigned address at most."""

# One overload of `obstore.list` names a package that is not installed, which hides the types of all overloads.
_list: Final = cast('Callable[..., "ListStream[Sequence[ObjectMeta]]"]', obstore.list)  # pyright: ignore[reportUnknownMemberType]

_STATUS: Final = re.compile(r"status code: (\d{3})")
_CODE: Final = re.compile(r"<Code>(\w{1,60})</Code>")


class S3Blobs:
    """Blobs in a bucket.

    A call that asks the store one thing takes `request_seconds` at most, retries included; a put has more by its size.

    Args:
        url: A well-formed PRESSROOM_BLOBS_URL: the bucket and a prefix.
        request_seconds: See above.
        folder: Below the prefix, of the blobs of one installation (docs/operations.md#several-installations).
    """

    def __init__(self, url: str, request_seconds: float = REQUEST_SECONDS, folder: str = "") -> None:
        self._request_seconds = request_seconds
        parts = urlsplit(url)
        self.bucket = parts.netloc
        prefix = f"{parts.path.strip('/')}/{folder}".strip("/")
        self._place = f"the bucket {parts.netloc}/{prefix}".rstrip("/")
        # Not every S3-compatible store deletes in bulk, and a file has few blobs.
        config: S3Config = {"disable_bulk_delete": True}
        for name, value in parse_qsl(parts.query):
            if name == "endpoint":
                config["aws_endpoint_url_s3"] = value
            else:
                config["region"] = value
        self._store = S3Store(
            self.bucket,
            prefix=prefix or None,
            config=config,
            client_options={
                # Allows an http:// endpoint; the default endpoint is https.
                "allow_http": True,
                "connect_timeout": timedelta(seconds=min(CONNECT_SECONDS, request_seconds)),
                "timeout": timedelta(seconds=self._request_seconds),
            },
            retry_config={
                "max_retries": RETRIES,
                "retry_timeout": timedelta(seconds=RETRY_SECONDS),
                "backoff": {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=1), "base": 2},
            },
        )
        self._threads = Threads(2)
        self._origin: str | None = None

    @classmethod
    def open(cls, url: str, request_seconds: float = REQUEST_SECONDS, folder: str = "") -> "S3Blobs":
        """Opens the store at `url` and waits for its bucket to answer. Raises SettingError."""
        try:
            blobs = cls(url, request_seconds, folder)
            next(iter(_list(blobs._store, None, chunk_size=1)), None)
        except (BaseError, FileNotFoundError, ValueError) as error:
            bucket = urlsplit(url).netloc
            raise SettingError(f"PRESSROOM_BLOBS_URL: the bucket {bucket} cannot be used: {_reason(error)}.") from None
        return blobs

    async def put_file(self, key: str, file: Path, content_type: str) -> None:
        """Stores a file, a large one in parts (see `Blobs`)."""
        check_key(key)
        # A missing local file must not be reported as a missing bucket.
        found = await self._threads.run(lambda _: file.stat())
        await self._put(key, file, found.st_size, content_type)

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Stores bytes (see `Blobs`)."""
        await self._put(check_key(key), data, len(data), content_type)

    async def fetch_to(self, key: str, file: Path) -> None:
        """Writes a blob to a local file (see `Blobs`)."""
        async with contextlib.aclosing(self._parts(check_key(key), 0, None, FETCH_PART)) as parts:
            first = await anext(parts, b"")
            with new_file(file) as descriptor:
                await self._threads.run(lambda _: write_whole(descriptor, first))
                async for part in parts:
                    await self._threads.run(lambda _, part=part: write_whole(descriptor, part))

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """Yields a range of bytes (see `Blobs`)."""
        check_range(start, end)
        async with contextlib.aclosing(self._parts(check_key(key), start, end, READ_PART)) as parts:
            async for part in parts:
                for offset in range(0, len(part), PIECE):
                    yield part[offset : offset + PIECE]

    async def stat(self, key: str) -> BlobInfo | None:
        """Size and entity tag (see `Blobs`)."""
        try:
            found = await self._head(check_key(key))
        except BlobMissing:
            return None
        return BlobInfo(found["size"], _etag(found))

    async def delete(self, *keys: str) -> None:
        """Removes blobs (see `Blobs`)."""
        names = [check_key(key) for key in keys]
        for at in range(0, len(names), DELETES_AT_ONCE):
            await asyncio.gather(*(self._delete(name) for name in names[at : at + DELETES_AT_ONCE]))

    async def list_older(self, prefix: str, before: int) -> AsyncGenerator[str]:
        """Yields keys by their age (see `Blobs`)."""
        begin = check_prefix(prefix)
        stream = _list(self._store, begin or None, chunk_size=LIST_BATCH)
        while batch := await _next(stream):
            for found in batch:
                # The store rounds down to seconds; a key that may be younger is left for the next call.
                if (found["last_modified"].timestamp() + 1) * 1_000 < before:
                    yield found["path"]

    @property
    def place(self) -> str:
        """Returns the bucket and prefix."""
        return self._place

    @property
    def origin(self) -> str | None:
        """Returns the origin of presigned addresses (see `Blobs`)."""
        if self._origin is None:
            address = urlsplit(self.presigned("origin", 1))
            self._origin = f"{address.scheme}://{address.netloc}"
        return self._origin

    def presigned(self, key: str, seconds: int) -> str:
        """Returns an address that reads the blob for `seconds` (see `Blobs`). Raises ValueError."""
        if not 0 < seconds <= SIGNED_SECONDS:
            raise ValueError(f"{seconds} is not a number of seconds up to a week")
        with _store_answers(key):
            return obstore.sign(self._store, "GET", check_key(key), timedelta(seconds=seconds))

    async def close(self) -> None:
        """Releases the threads (see `Blobs`)."""
        self._threads.close()

    async def _put(self, key: str, source: Path | bytes, size: int, content_type: str) -> None:
        seconds = self._request_seconds + size / PUT_RATE
        try:
            async with asyncio.timeout(seconds):
                with _store_answers(key):
                    await obstore.put_async(
                        self._store,
                        key,
                        source,
                        attributes={"Content-Type": content_type},
                        chunk_size=PART,
                        max_concurrency=PARTS_AT_ONCE,
                    )
        except TimeoutError:
            raise BlobsAway(f"The media store did not take {size:,} bytes within {seconds:.0f} seconds.", 10) from None
        except BlobMissing:
            raise BlobsAway(f"The media store has lost its bucket {self.bucket}.") from None

    async def _head(self, key: str) -> "ObjectMeta":
        async with self._in_time(key):
            return await obstore.head_async(self._store, key)

    async def _delete(self, key: str) -> None:
        with contextlib.suppress(BlobMissing):
            async with self._in_time(key):
                await obstore.delete_async(self._store, key)

    @contextlib.asynccontextmanager
    async def _in_time(self, key: str) -> AsyncGenerator[None]:
        """Ends calls that take longer than a request may, and raises our errors (`_store_answers`)."""
        try:
            async with asyncio.timeout(self._request_seconds):
                with _store_answers(key):
                    yield
        except TimeoutError:
            raise BlobsAway(f"The media store did not answer within {self._request_seconds:g} seconds.", 10) from None

    async def _parts(self, key: str, start: int, end: int | None, length: int) -> AsyncGenerator[bytes]:
        """Yields the bytes of a range in requests of `length` bytes. Raises BlobsAway if the blob is replaced."""
        found = await self._head(key)
        last = last_byte(end, found["size"])
        while start < last:
            upto = min(start + length, last)
            options: GetOptions = {"range": (start, upto)}
            if found["e_tag"] and not found["e_tag"].startswith("W/"):
                options["if_match"] = found["e_tag"]
            async with self._in_time(key):
                answer = await obstore.get_async(self._store, key, options=options)
                part = (await answer.bytes_async()).to_bytes()
            yield part
            start = upto


async def _next(stream: "ListStream[Sequence[ObjectMeta]]") -> Sequence["ObjectMeta"]:
    """Returns the next batch of a listing, empty at its end."""
    with _store_answers(""):
        try:
            return await anext(stream)
        except StopAsyncIteration:
            return ()


def _etag(found: "ObjectMeta") -> str:
    if found["e_tag"]:
        return found["e_tag"].removeprefix("W/").strip('"')
    return f"{found['last_modified'].timestamp():.0f}-{found['size']:x}"


@contextlib.contextmanager
def _store_answers(key: str) -> Generator[None]:
    """Raises our errors instead of obstore's, without their text, which quotes the store's answers."""
    try:
        yield
    except FileNotFoundError:
        raise BlobMissing(f"There is no blob {key}.") from None
    except PreconditionError:
        raise BlobsAway(f"The blob {key} was replaced while it was read. Read it again.") from None
    except BaseError as error:
        raise BlobsAway(f"The media store cannot be used right now: {_reason(error)}.") from None


def _reason(error: Exception) -> str:
    """Returns why the store could not be used, without secrets."""
    text = str(error).partition("\n\nDebug source")[0]
    if "/latest/api/token" in text or "/latest/meta-data" in text:
        return "there are no credentials, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    status, code = _STATUS.search(text), _CODE.search(text)
    if status:
        return f"it answers {status[1]}{f' {code[1]}' if code else ''}"
    return "its address or options are not usable" if isinstance(error, ValueError) else "it does not answer"
