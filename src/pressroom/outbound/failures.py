"""What can go wrong on the way out: a URL that is refused, a request that failed."""

from enum import StrEnum

from pressroom.errors import PressroomError


class Failure(StrEnum):
    """How a request failed."""

    NAME = "name"
    """The host name could not be resolved."""
    REFUSED_ADDRESS = "refused_address"
    """The URL, or an address that its host resolves to, may not be reached."""
    CONNECT = "connect"
    """No connection to the host."""
    TLS = "tls"
    """The host's certificate or its TLS is no good."""
    TIMEOUT = "timeout"
    """The answer was not complete at the deadline."""
    PROTOCOL = "protocol"
    """The answer is no HTTP/1.1 that we can use."""
    CLOSED = "closed"
    """The connection ended before the answer was complete."""
    BUSY = "busy"
    """As many requests as are allowed are under way to the host's address."""
    OURS = "ours"
    """Nothing that the host did: this server had no means to ask it."""


class UrlRefused(PressroomError):
    """The URL may not be used. The message is for the person who gave it."""


class OutboundFailed(PressroomError):
    """There is no complete answer. The message is for the owner of the endpoint and says nothing of our insides."""

    def __init__(self, kind: Failure, message: str) -> None:
        super().__init__(message)
        self.kind = kind
