"""Passes on what `pressroom listen` received to a program at one's desk: the same bytes, with the same headers."""

from collections.abc import Iterable
from typing import Final

import msgspec

from pressroom.errors import SettingError
from pressroom.outbound import OutboundClient, OutboundFailed, Policy, UrlRefused
from pressroom.outbound.policy import DEVELOPMENT

SECONDS: Final = 10.0
"""How long the program may take: as long as the sender waits."""

_OF_THE_CONNECTION: Final = frozenset(
    ("host", "connection", "content-length", "transfer-encoding", "keep-alive", "te", "trailer", "upgrade", "expect")
)
"""Headers of one hop, in lower case; all others are kept."""


class Forwarded(msgspec.Struct):
    """What the program answered, or 502 and why there is no answer. `headers` are those that the sender heeds."""

    status: int
    headers: dict[str, str]
    body: bytes
    failure: str | None


class Forwarder:
    """Sends deliveries on to `url`, which may be http and private. Raises SettingError when it can be no such URL."""

    def __init__(self, url: str) -> None:
        policy = Policy(allow_http=True, allow=DEVELOPMENT, names_addresses=True)
        try:
            policy.read(url)
        except UrlRefused as refused:
            raise SettingError(f"--forward: {refused.message}") from None
        self.url = url
        self._client = OutboundClient(policy)

    async def send(self, headers: Iterable[tuple[str, str]], body: bytes) -> Forwarded:
        """Posts a body with these headers; what came of it."""
        kept: dict[str, str] = {}
        for name, value in headers:
            if name.lower() not in _OF_THE_CONNECTION:
                kept[name] = f"{kept[name]}, {value}" if name in kept else value
        try:
            answer = await self._client.request("POST", self.url, kept, body, seconds=SECONDS)
        except OutboundFailed as failed:
            return Forwarded(502, {}, b"", failed.message)
        heeded = {name: value for name, value in answer.headers.items() if name in ("content-type", "retry-after")}
        return Forwarded(answer.status, heeded, answer.body, None)

    async def close(self) -> None:
        """Closes every connection."""
        await self._client.close()
