"""Responses of other hosts, and the errors in place of one."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from pressroom.errors import PressroomError


class OutboundResponse(msgspec.Struct):
    """A response.

    headers: those that some caller here reads, in lower case. body: its first bytes. complete: the whole body was read.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    complete: bool = True


class Failure(StrEnum):
    """How a request failed."""

    NAME = "name"
    """The host name could not be resolved."""
    REFUSED_ADDRESS = "refused_address"
    """The URL, or an address that its host resolves to, may not be reached."""
    CONNECT = "connect"
    """No connection to the host."""
    TLS = "tls"
    """The host's certificate or its TLS is not acceptable."""
    TIMEOUT = "timeout"
    """The answer was not complete at the deadline."""
    PROTOCOL = "protocol"
    """The response is not HTTP/1.1 that we can use."""
    CLOSED = "closed"
    """The connection ended before the answer was complete."""
    BUSY = "busy"
    """As many requests as are allowed are under way to the host's address."""
    OURS = "ours"
    """No fault of the host: this server lacked something to send the request."""


class UrlRefused(PressroomError):
    """The URL may not be used. The message is for the person who gave it."""


class OutboundFailed(PressroomError):
    """There is no complete response.

    Attributes:
        kind: How it failed.
        message: For the endpoint's owner; it reveals nothing internal.
        cause: For the operator's log; the message where that is complete.
    """

    def __init__(self, kind: Failure, message: str, cause: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.cause = cause or message
