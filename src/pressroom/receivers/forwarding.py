"""Forwards what `pressroom listen` received to another local program: the same bytes and headers."""

from collections.abc import Iterable
from typing import Final

import msgspec

from pressroom.errors import SettingError
from pressroom.outbound import OutboundClient, OutboundFailed, Policy, UrlRefused
from pressroom.outbound.allowed_addresses import DEVELOPMENT

SECONDS: Final = 10.0
"""Seconds that the program may take: as long as the sender waits."""

_HOP_BY_HOP: Final = frozenset(
    ("host", "connection", "content-length", "transfer-encoding", "keep-alive", "te", "trailer", "upgrade", "expect")
)
"""Hop-by-hop headers, in lower case. All others are forwarded."""


class Forwarded(msgspec.Struct):
    """The program's response, or 502 with the failure. `headers` holds only those that the sender uses."""

    status: int
    headers: dict[str, str]
    body: bytes
    failure: str | None


class Forwarder:
    """Forwards deliveries to `url`, which may be http and private. Raises SettingError if the URL is invalid."""

    def __init__(self, url: str) -> None:
        policy = Policy(allow_http=True, allow=DEVELOPMENT, names_addresses=True)
        try:
            policy.read(url)
        except UrlRefused as refused:
            raise SettingError(f"--forward: {refused.message}") from None
        self.url = url
        self._client = OutboundClient(policy)

    async def send(self, headers: Iterable[tuple[str, str]], body: bytes) -> Forwarded:
        """Posts a body with these headers and returns the response."""
        forwarded: dict[str, str] = {}
        for name, value in headers:
            if name.lower() not in _HOP_BY_HOP:
                forwarded[name] = f"{forwarded[name]}, {value}" if name in forwarded else value
        try:
            answer = await self._client.request("POST", self.url, forwarded, body, seconds=SECONDS)
        except OutboundFailed as failed:
            return Forwarded(502, {}, b"", failed.message)
        heeded = {name: value for name, value in answer.headers.items() if name in ("content-type", "retry-after")}
        return Forwarded(answer.status, heeded, answer.body, None)

    async def close(self) -> None:
        """Closes every connection."""
        await self._client.close()
