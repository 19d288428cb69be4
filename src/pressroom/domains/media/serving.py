"""Media over HTTP: files that are READY, whole or in ranges, never under a name or type that a user chose."""

import math
import re
from typing import Final

from pressroom.blobs import BlobInfo
from pressroom.clock import SECOND
from pressroom.domains.accounts.models import Caller
from pressroom.domains.media import queries
from pressroom.domains.media.models import Media, MediaEntryType, ProcessingStatus, ServedMedia, Variant
from pressroom.domains.media.urls import STEP, is_signed, read_signed, seconds_left
from pressroom.errors import NotFound
from pressroom.web.access import Public
from pressroom.web.asgi import HeaderList
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


PRESIGNED_SECONDS: Final = STEP // SECOND
FOR_SOME_SECONDS: Final = 60
"""Seconds that a presigned address of a restricted file is valid, plus its duration for a video: players go on reading
at that address, and it cannot be revoked."""

CARD_BLOB: Final = re.compile(r"[0-9a-f]{32}")

_NONE: Final = "There is no such file, or it is not ready yet."
_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")

SAFE: Final[HeaderList] = [
    (b"accept-ranges", b"bytes"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"cross-origin"),
]
"""Headers of every file. If a browser ever takes one for a page, that page may do nothing."""

FOR_GOOD: Final = b"private, max-age=31536000, immutable"
"""Caching of what everybody may see: it never changes at its address."""

PUBLIC: Final = "PUBLIC"


@routes.get("/media/{token}", Public(), summary="A file of a post or clip, or a picture of an account")
async def serve_media(request: Request[Caller]) -> Response:
    """Serves the processed file."""
    return await _serve(request, Variant.MAIN)


@routes.get("/media/{token}/medium", Public(), summary="It in a size between thumbnail and whole")
async def serve_medium(request: Request[Caller]) -> Response:
    """Serves the rendition of at most 1,280 pixels a side; of a smaller image the whole, of a video its poster."""
    return await _serve(request, Variant.MEDIUM)


@routes.get("/media/{token}/thumbnail", Public(), summary="Its thumbnail")
async def serve_thumbnail(request: Request[Caller]) -> Response:
    """Serves its thumbnail."""
    return await _serve(request, Variant.THUMBNAIL)


@routes.get("/media/{token}/poster", Public(), summary="The first picture of a video")
async def serve_poster(request: Request[Caller]) -> Response:
    """Serves the picture that is shown before a video plays."""
    return await _serve(request, Variant.POSTER)


@routes.get("/cards/{token}", Public(), summary="The thumbnail of a link's card")
async def serve_card(request: Request[Caller]) -> Response:
    """Serves the stored thumbnail of a linked page."""
    token = request.parameters["token"]
    if not CARD_BLOB.fullmatch(token):
        raise NotFound(_NONE)
    return await serve_blob(request, f"cards/{token}", b"image/webp", FOR_GOOD)


async def _serve(request: Request[Caller], variant: Variant) -> Response:
    token = request.parameters["token"]
    media, seconds = await (_find_signed(request, token) if is_signed(token) else _find_public(request, token))
    if media is None or media.status != ProcessingStatus.READY:
        raise NotFound(_NONE)
    key, content_type = media.blob(variant), media.content_type(variant).encode()
    if seconds is None:
        # Pictures of accounts stand on every page, also where nothing may be loaded from the store's own address.
        return await serve_blob(request, key, content_type, FOR_GOOD, 0 if media.picture else PRESIGNED_SECONDS)
    caching = b"private, max-age=%d" % seconds
    return await serve_blob(request, key, content_type, caching, min(seconds, _presigned_seconds(media, variant)))


def _presigned_seconds(media: Media, variant: Variant) -> int:
    """Returns the seconds that a presigned address of a restricted file is valid."""
    is_video = media.type is MediaEntryType.VIDEO and variant is Variant.MAIN
    return FOR_SOME_SECONDS + (math.ceil(media.duration or 0) if is_video else 0)


async def _find_public(request: Request[Caller], token: str) -> tuple[Media | None, int | None]:
    """Returns the file with this token if everybody may see it."""
    media = await request.db.one(queries.FIND_BY_TOKEN, token=token)
    visible = media is not None and (
        media.picture is not None or PUBLIC in (media.post_visibility, media.clip_visibility)
    )
    return (media if visible else None), None


async def _find_signed(request: Request[Caller], token: str) -> tuple[Media | None, int | None]:
    """Returns the file at a signed address while its reader may see it, and for how many seconds to cache it."""
    signed, now = read_signed(token), request.clock.now()
    if signed is None or signed.has_ended(now):
        return None, None
    media_id, reader = signed.media_id, signed.reader
    if reader is None:
        media = await request.db.one(queries.FIND_BY_ID, media_id=media_id)
    else:
        media = await request.db.one(queries.FIND_FOR_READER, media_id=media_id, reader=reader)
    secrets = request.services.media_secret.verifying(now)
    if media is None or not any(signed.is_genuine(media.token, secret) for secret in secrets):
        return None, None
    if reader is not None and not await _may_see(request, media, reader):
        return None, None
    return media, seconds_left(signed.until, now)


async def _may_see(request: Request[Caller], media: ServedMedia, reader: str) -> bool:
    if media.post_visibility is None and media.clip_visibility is None:
        return reader == media.account_id  # a file of a draft
    is_clip = media.clip_visibility is not None
    return await request.services.may_see(request.db, reader, media.owner_id, is_clip)


async def serve_blob(
    request: Request[Caller], key: str, content_type: bytes, caching: bytes, presigned_seconds: int = PRESIGNED_SECONDS
) -> Response:
    """Returns a file of the store: whole, a range, or a 304 when the client has it. Raises NotFound.

    S3 serves files itself: then the response redirects to an address that is valid for `presigned_seconds`, if that is
    more than 0.
    """
    info = await request.services.blobs.stat(key)
    if info is None:
        raise NotFound(_NONE)
    elsewhere = request.services.blobs.presigned(key, presigned_seconds) if presigned_seconds > 0 else None
    if elsewhere is not None:
        moved: HeaderList = [(b"location", elsewhere.encode()), (b"cache-control", b"no-store")]
        return Response(302, b"", content_type, moved)
    etag = f'"{info.etag}"'.encode()
    headers: HeaderList = [*SAFE, (b"etag", etag), (b"cache-control", caching)]
    if _has(request.headers.if_none_match, etag):
        return Response(304, b"", content_type, headers)
    return _part(request, key, content_type, headers, info, etag)


def _part(
    request: Request[Caller], key: str, content_type: bytes, headers: HeaderList, info: BlobInfo, etag: bytes
) -> Response:
    wanted = request.headers.range if request.headers.if_range in (None, etag.decode()) else None
    if request.method == "HEAD":
        wanted = None  # ranges are for GET alone
    part = byte_range(wanted, info.size)
    if part is None:
        start, end, status = 0, info.size, 200
    elif part[0] >= part[1]:
        # Not to be cached: others ask for ranges that exist.
        none: HeaderList = [*SAFE, (b"cache-control", b"no-store"), (b"content-range", b"bytes */%d" % info.size)]
        return Response(416, b"", content_type, none)
    else:
        (start, end), status = part, 206
        headers.append((b"content-range", b"bytes %d-%d/%d" % (start, end - 1, info.size)))
    stream = request.services.blobs.read(key, start, end)
    return Response(status, b"", content_type, headers, stream=stream, length=end - start)


def byte_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Returns the range that a Range header asks for of `size` bytes, as start and end (exclusive).

    None when the whole file is to be sent: there is no header, or it asks for several ranges. An empty range when
    no byte of the range exists.
    """
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = min(int(match[2]), size)
        return (size - length, size) if length else (size, size)
    start = int(match[1])
    end = min(int(match[2]) + 1, size) if match[2] else size
    if match[2] and int(match[2]) < start:
        return None
    return (start, end) if start < size else (size, size)


def _has(header: str | None, etag: bytes) -> bool:
    """Returns whether an If-None-Match names this tag."""
    if header is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return "*" in tags or etag.decode() in tags
