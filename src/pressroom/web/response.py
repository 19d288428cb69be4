"""Responses: status, body and headers."""

from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

import msgspec

from pressroom.web.asgi import HeaderList
from pressroom.web.codings import CachedBody

JSON: Final = b"application/json"
_encoder = msgspec.json.Encoder()


class EndlessBody(Protocol):
    """A body that lasts until it ends by itself or the client hangs up. It is closed in any case.

    Attributes:
        cut_off: Ends its sending in so many seconds; set by the sender.
    """

    cut_off: Callable[[float], None] | None

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None:
        """Ends it."""
        ...


class Response(msgspec.Struct):
    """A response. `headers` come on top of those that every response has.

    A `stream` of `length` bytes takes the place of a `body` that is too large to be held in memory; an `endless` one is
    sent as it comes. `replayed`: it is the stored response of an earlier request, and this one changed
    nothing. `label` is that of the error (docs/errors.md#labels) in the response to one. `holds_secret`: it is never
    compressed, for the compressed size reveals something of the content. `cached`: the body again, when it is sent many
    times.
    """

    status: int
    body: bytes
    content_type: bytes = JSON
    headers: HeaderList = msgspec.field(default_factory=HeaderList)
    stream: AsyncIterator[bytes] | None = None
    length: int = 0
    endless: EndlessBody | None = None
    replayed: bool = False
    label: str = ""
    holds_secret: bool = False
    cached: CachedBody | None = None


def json_response(shape: object, status: int = 200) -> Response:
    """Returns a struct as a JSON response."""
    return Response(status, _encoder.encode(shape))
