"""Signatures of deliveries (docs/webhooks.md#signatures). Pure, except for random ids and secrets."""

import base64
import hashlib
import hmac
import uuid
from typing import Final

from pressroom.ids import random_base62

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


def sign_standard(secret: str, envelope_id: str, at: int, body: bytes) -> str:
    """Returns the value of webhook-signature: `v1,<base64>`, as Standard Webhooks has it (docs/webhooks.md#signatures).

    The HMAC-SHA256 covers `<envelope_id>.<at>.` and the body's bytes. `at` is in Unix seconds.
    """
    # The libraries take all that follows the prefix for base64: 32 base62 characters are 24 bytes of it.
    key = base64.b64decode(secret.removeprefix(PREFIX))
    digest = hmac.digest(key, f"{envelope_id}.{at}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


SIGNATURE: Final = "X-Service-Signature"
STANDARD_SIGNATURE: Final = "webhook-signature"


def new_envelope_id() -> str:
    """Returns `evt_` and a UUID v4, 40 characters."""
    return f"evt_{uuid.uuid4()}"


def request_headers(
    event_type: str, envelope_id: str, user_agent: str, signature: str, standard_signature: str
) -> dict[str, str]:
    """Returns the headers of an attempt, except those of HTTP itself.

    Args:
        event_type: The event's name.
        envelope_id: The envelope's id.
        user_agent: The sender's name and version.
        signature: The result of `sign`, whose time both signatures have.
        standard_signature: The result of `sign_standard`.
    """
    return {
        "Content-Type": "application/json",
        "User-Agent": user_agent,
        SIGNATURE: signature,
        "X-Service-Event": event_type,
        "X-Service-Delivery-Id": envelope_id,
        "webhook-id": envelope_id,
        "webhook-timestamp": signature.partition(",")[0].removeprefix("t="),
        STANDARD_SIGNATURE: standard_signature,
    }
