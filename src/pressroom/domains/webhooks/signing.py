"""Signing secrets and signatures (docs/webhooks.md#signatures). Pure, except for random secrets."""

import hashlib
import hmac
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
