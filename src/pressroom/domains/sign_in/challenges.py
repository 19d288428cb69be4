"""Challenges that passkeys answer: signed, so that none is stored before it was answered. Pure.

A challenge names its end, and is signed with what it is for and with the browser or session that asked
(docs/sign-in.md#passkeys).
"""

import hashlib
import hmac
import secrets
import struct
from enum import StrEnum
from typing import Final

from pressroom.clock import MINUTE

LIFE: Final = 5 * MINUTE
"""How long a challenge may be answered, in milliseconds."""

SIGNING: Final = "passkey challenges"
"""The name of the server's secret that signs them."""

_RANDOM: Final = 16
_BODY: Final = struct.calcsize(">Q") + _RANDOM


class Ceremony(StrEnum):
    """What a challenge is for."""

    ADD = "add"
    SIGN_IN = "sign in"
    CONFIRM = "confirm"


def new_challenge(secret: str, ceremony: Ceremony, holder: str, now: int) -> bytes:
    """Returns a challenge for the browser or session that holds the token `holder`; `now` is in milliseconds."""
    body = struct.pack(">Q", now + LIFE) + secrets.token_bytes(_RANDOM)
    return body + _signature(secret, ceremony, holder, body)


def is_valid(challenge: bytes, secret: str, ceremony: Ceremony, holder: str, now: int) -> bool:
    """Returns whether this server made the challenge for this ceremony and holder, and it has not ended."""
    body, signature = challenge[:_BODY], challenge[_BODY:]
    if len(body) != _BODY or not hmac.compare_digest(signature, _signature(secret, ceremony, holder, body)):
        return False
    return int.from_bytes(body[: struct.calcsize(">Q")]) > now


def _signature(secret: str, ceremony: Ceremony, holder: str, body: bytes) -> bytes:
    text = f"{ceremony} {hashlib.sha256(holder.encode()).hexdigest()} ".encode()
    return hmac.digest(secret.encode(), text + body, hashlib.sha256)
