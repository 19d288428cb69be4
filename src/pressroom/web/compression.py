"""Compresses what is sent: text of more than 1 KB, for clients that accept gzip, and never what holds a secret."""

import asyncio
from typing import Final

import msgspec

from pressroom.web.asgi import HeaderList
from pressroom.web.cached_body import CachedBody, compress
from pressroom.web.headers import Headers
from pressroom.web.response import Response

SMALLEST: Final = 1_024
"""Bytes up to which nothing is compressed: it would save no packet."""

LARGE: Final = 32 * 1024
"""Bytes above which compressing is done in a thread: it takes more than a third of a millisecond."""

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
    """Returns the response as this client gets it: compressed if that is worth it, or a 304 for what it has already.

    Args:
        response: What the route returned. It is left as it is, since it may be shared.
        headers: The headers of the request.
        is_safe: Whether the request is a GET or HEAD.
    """
    if response.stream is not None or response.holds_secret or not response.content_type.startswith(_TEXT):
        return response
    cached = response.cached
    if cached is None and len(response.body) <= SMALLEST:
        return response
    as_gzip = accepts_gzip(headers.accept_encoding) and len(response.body) > SMALLEST
    added = _varying(response.headers)
    if cached is not None:
        added.append((b"etag", cached.etag(gzipped=as_gzip)))
        if is_safe and response.status == 200 and _is_known(cached, headers.if_none_match):
            return msgspec.structs.replace(response, status=304, body=b"", headers=added, cached=None)
    if not as_gzip:
        return msgspec.structs.replace(response, headers=added)
    if cached is not None:
        body = await cached.gzipped()
    elif len(response.body) > LARGE:
        body = await asyncio.to_thread(compress, response.body)
    else:
        body = compress(response.body)
    added.append((b"content-encoding", b"gzip"))
    return msgspec.structs.replace(response, body=body, headers=added)


def accepts_gzip(accept_encoding: str) -> bool:
    """Returns whether a client wants gzip, by its header Accept-Encoding (RFC 9110, 12.5.3)."""
    if accept_encoding in {"gzip, deflate, br, zstd", "gzip, deflate, br", "gzip, deflate", "gzip"}:
        return True
    weights: dict[str, float] = {}
    for part in accept_encoding.lower().split(",")[:20]:
        coding, _, parameter = part.partition(";")
        weights[coding.strip()] = _weight(parameter)
    wanted = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return wanted > 0 and wanted >= weights.get("identity", 0.0)


def _weight(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    if not name.strip():
        return 1.0
    try:
        return float(value) if name.strip() == "q" else 0.0
    except ValueError:
        return 0.0


def _is_known(cached: CachedBody, if_none_match: str | None) -> bool:
    """Returns whether the client has the body, in either encoding: the 304 lets it keep what it has."""
    if if_none_match is None:
        return False
    known = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in known or any(cached.etag(gzipped=each).decode() in known for each in (True, False))


def _varying(headers: HeaderList) -> HeaderList:
    """Returns the headers with a Vary that names Accept-Encoding beside what it names already."""
    named = [value for name, value in headers if name == b"vary"]
    return [*(each for each in headers if each[0] != b"vary"), (b"vary", b", ".join([*named, b"accept-encoding"]))]
