"""The token of the link that stops mail about notifications (docs/notifications.md#mail). Pure.

It holds for as long as the account has the e-mail address that it was mailed to, and lets its holder do nothing else.
"""

import hmac
import re
from collections.abc import Iterable
from typing import Final

_TOKEN: Final = re.compile(r"([0-9A-Z]{26})-([0-9a-f]{32})")


def make_token(account_id: str, email: str, secret: str) -> str:
    """Returns the token of an account with this e-mail address."""
    return f"{account_id}-{_signature(account_id, email, secret)}"


def account_of(token: str) -> str | None:
    """Returns the id of the account that a token names, without a look at its signature; None for another text."""
    found = _TOKEN.fullmatch(token)
    return found[1] if found else None


def is_genuine(token: str, account_id: str, email: str, secrets: Iterable[str]) -> bool:
    """Returns whether a token was made for this account and this e-mail address with one of these secrets."""
    return any(hmac.compare_digest(token, make_token(account_id, email, secret)) for secret in secrets)


def _signature(account_id: str, email: str, secret: str) -> str:
    return hmac.digest(secret.encode(), f"{account_id}.{email}".encode(), "sha256").hex()[:32]
