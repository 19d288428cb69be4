"""Envelopes and their signatures (docs/webhooks.md#envelope). Pure, except for random ids and secrets."""

import hashlib
import hmac
import uuid
from typing import Final

from pressroom.clock import iso
from pressroom.ids import random_base62, time_of

PREFIX: Final = "whsec_"


def new_secret() -> str:
    """Returns a new secret: `whsec_` and 32 random characters."""
    return PREFIX + random_base62(32)


def sign(secret: str, at: int, body: bytes) -> str:
    """Returns the value of X-Service-Signature: `t=<at>,v1=<hex>`, `at` in Unix seconds.

    The HMAC-SHA256 has the whole secret as its key, prefix included, and covers `<at>.` and the body's bytes.
    """
    # The one-shot function costs a third of hmac.new().
    digest = hmac.digest(secret.encode(), b"%d." % at + body, hashlib.sha256)
    return f"t={at},v1={digest.hex()}"


SIGNATURE: Final = "X-Service-Signature"


def new_envelope_id() -> str:
    """Returns `evt_` and a UUID v4, 40 characters."""
    return f"evt_{uuid.uuid4()}"


def envelope(envelope_id: str, event_id: str, event_type: str, data: str) -> bytes:
    """Returns the signed body, byte for byte the same on every attempt and process (docs/webhooks.md#envelope).

    `data` is the event's JSON as it was stored. Its time is the event's own, however late the envelope was made.
    """
    # Put together by hand: an encoder of another version could order or space the fields differently, and receivers
    # compare a redelivery with what they stored.
    head = f'{{"event":"{event_type}","id":"{envelope_id}","created_at":"{iso(time_of(event_id))}","data":'
    return f"{head}{data}}}".encode()


def request_headers(event_type: str, envelope_id: str, user_agent: str, signature: str) -> dict[str, str]:
    """Returns the headers of an attempt, except those of HTTP itself."""
    return {
        "Content-Type": "application/json",
        "User-Agent": user_agent,
        SIGNATURE: signature,
        "X-Service-Event": event_type,
        "X-Service-Delivery-Id": envelope_id,
    }
