"""Responses of other hosts."""

from collections.abc import Mapping

import msgspec


class OutboundResponse(msgspec.Struct):
    """A response.

    headers: those that some caller here reads, in lower case. body: its first bytes. complete: the whole body was read.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    complete: bool = True
