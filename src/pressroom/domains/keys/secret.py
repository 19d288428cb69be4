"""The key itself: its form, checksum and hash (docs/keys.md#api-keys). Pure but for the random characters."""

import binascii
import hashlib
from typing import Final

from pressroom.ids import base62_of_32_bits, random_base62

PREFIX: Final = "svc_live_"
SHOWN: Final = 15
"""How many characters of a key its prefix shows."""

_RANDOM: Final = 32
_CHECKSUM: Final = 6
_LENGTH: Final = len(PREFIX) + _RANDOM + _CHECKSUM


def new_secret(account_id: str) -> str:
    """Returns a new key: the prefix, 29 random characters, the account's place, and a checksum of all that."""
    body = PREFIX + random_base62(_RANDOM, account_id)
    return body + _checksum(body)


def is_well_formed(secret: str) -> bool:
    """Returns whether a string has the form and checksum of a key. Needs no database."""
    body, checksum = secret[:-_CHECKSUM], secret[-_CHECKSUM:]
    if len(secret) != _LENGTH or not body.startswith(PREFIX) or not secret.isascii():
        return False
    return body[len(PREFIX) :].isalnum() and checksum == _checksum(body)


def hash_secret(secret: str) -> str:
    """Returns the hash of a key, which the database stores. 172 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(text: str) -> str:
    return base62_of_32_bits(binascii.crc32(text.encode()))
