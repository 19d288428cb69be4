"""The part of ASGI that is used here: HTTP requests, whose bodies come and go as messages."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypedDict

HeaderList = list[tuple[bytes, bytes]]


class HttpScope(TypedDict):
    """The head of a request. `path` is decoded, `raw_path` is as sent."""

    http_version: str
    method: str
    path: str
    raw_path: bytes
    query_string: bytes
    headers: HeaderList
    client: tuple[str, int] | None


class ReceiveMessage(TypedDict, total=False):
    """A piece of the request's body, or the news that the client hung up."""

    type: Literal["http.request", "http.disconnect"]
    body: bytes
    more_body: bool


class SendMessage(TypedDict, total=False):
    """The head of the response, or a piece of its body."""

    type: Literal["http.response.start", "http.response.body"]
    status: int
    headers: HeaderList
    body: bytes
    more_body: bool


Receive = Callable[[], Awaitable[ReceiveMessage]]
Send = Callable[[SendMessage], Awaitable[None]]
Application = Callable[[HttpScope, Receive, Send], Awaitable[None]]
