"""Asks the server that answers on the port of these settings how it is (docs/operations.md#health-checks)."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

import msgspec

from pressroom.settings import Settings

SECONDS: Final = 2.0
"""Seconds that an answer may take."""

MOST_BYTES: Final = 4_096
"""Bytes of an answer that are read."""


class Readiness(msgspec.Struct, frozen=True):
    """The answer of `/readyz`, in its fields for an operator; both are empty when nothing is wrong.

    Attributes:
        warning: A fault despite which requests are served.
        message: Why none are served.
    """

    warning: str = ""
    message: str = ""


class Health(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer of `/healthz`, by which a Pressroom is known."""

    status: str
    version: str


async def find_server(settings: Settings) -> Readiness | None:
    """Returns the report of the Pressroom on this port about itself; None when none answers there."""
    try:
        msgspec.json.decode(await _read(settings, "/healthz"), type=Health)
        return msgspec.json.decode(await _read(settings, "/readyz"), type=Readiness)
    except (OSError, TimeoutError, msgspec.DecodeError, UnicodeError):
        return None


async def _read(settings: Settings, path: str) -> bytes:
    """Returns the body of an answer. Raises OSError or TimeoutError."""
    # An address to listen on is none to connect to.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    async with asyncio.timeout(SECONDS):
        reader, writer = await asyncio.open_connection(host, settings.port)
        try:
            writer.write(f"GET {path} HTTP/1.0\r\nHost: {urlsplit(settings.base_url).netloc}\r\n\r\n".encode())
            answer = await reader.read(MOST_BYTES)
        finally:
            writer.close()
    return answer.partition(b"\r\n\r\n")[2]
