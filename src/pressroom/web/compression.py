"""Compresses responses: text of more than 1 KB, for clients that accept gzip or zstd; never one with a secret."""

import asyncio
from collections.abc import Iterable
from typing import Final

import msgspec

from pressroom.web.asgi import HeaderList
from pressroom.web.codings import LARGE, CachedBody, Coding, accepted, best_of, compress
from pressroom.web.headers import Headers
from pressroom.web.response import Response

SMALLEST: Final = 1_024
"""Bytes up to which nothing is compressed: it would save no packet."""

_TEXT: Final = (
    b"text/",
    b"application/json",
    b"application/javascript",
    b"image/svg+xml",
    b"application/xml",
    b"application/atom+xml",
)


def may_be_encoded(response: Response) -> bool:
    """Returns whether `encode` could change a response, which it cannot when it is small and sent once."""
    return response.cached is not None or len(response.body) > SMALLEST


async def encode(response: Response, headers: Headers, *, is_safe: bool) -> Response:
    """Returns the response as this client gets it: compressed if that is worth it, or a 304 for a cached copy.

    Args:
        response: The route's response. It is left unchanged, since it may be shared.
        headers: The headers of the request.
        is_safe: Whether the request is a GET or HEAD.
    """
    if response.stream is not None or response.holds_secret or not response.content_type.startswith(_TEXT):
        return response
    cached, size = response.cached, len(response.body)
    if cached is None and size <= SMALLEST:
        return response
    wanted = accepted(headers.accept_encoding)
    coding = best_of(wanted, size) if size > SMALLEST else None
    added = _varying(response.headers)
    if cached is not None:
        if is_safe and response.status == 200 and headers.if_none_match is not None:
            known = _known(cached, headers.if_none_match, coding, wanted)
            if known is not None:
                added.append((b"etag", known))
                return msgspec.structs.replace(response, status=304, body=b"", headers=added, cached=None)
        added.append((b"etag", cached.etag(coding)))
    if coding is None:
        return msgspec.structs.replace(response, headers=added)
    if cached is not None:
        body = await cached.packed(coding)
    elif size > LARGE[coding]:
        body = await asyncio.to_thread(compress, response.body, coding)
    else:
        body = compress(response.body, coding)
    added.append((b"content-encoding", coding.encode()))
    return msgspec.structs.replace(response, body=body, headers=added)


def _known(cached: CachedBody, if_none_match: str, coding: Coding | None, wanted: Iterable[Coding]) -> bytes | None:
    """Returns the tag under which the client has the body, in any coding that it could be sent in; None if it has not.

    In a coding that this client does not accept it does not count: a shared cache would hand that to it.
    """
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    for each in (cached.etag(coding), *map(cached.etag, wanted), cached.etag(None)):
        if "*" in tags or each.decode() in tags:
            return each
    return None


def _varying(headers: HeaderList) -> HeaderList:
    """Returns the headers with a Vary that names Accept-Encoding beside its other names."""
    named = [value for name, value in headers if name == b"vary"]
    return [*(each for each in headers if each[0] != b"vary"), (b"vary", b", ".join([*named, b"accept-encoding"]))]
