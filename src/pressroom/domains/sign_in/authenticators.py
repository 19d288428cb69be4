"""Challenges to authenticators, and the verification of their answers (docs/sign-in.md#passkeys). Knows no database.

A challenge names its end, and is signed with its purpose and with the browser or session that asked, so that none is
stored before it was answered. The library webauthn is imported when it is needed, in the thread that verifies: it takes
a fifth of a second.
"""

import binascii
import hashlib
import hmac
import ipaddress
import json
import secrets
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from pressroom.clock import MINUTE
from pressroom.domains.sign_in.queries.passkeys import Passkey

ALGORITHMS: Final = (-8, -7, -257)
"""The signatures that are accepted, by their COSE numbers: EdDSA, ES256, RS256."""

LIFE: Final = 5 * MINUTE
"""How long a challenge may be answered, in milliseconds."""

SIGNING: Final = "passkey challenges"
"""The name of the server's secret that signs them."""

_RANDOM: Final = 16
_BODY: Final = struct.calcsize(">Q") + _RANDOM


class Refused(Exception):
    """An answer that does not verify."""


class Site(msgspec.Struct, frozen=True):
    """The server as authenticators know it: the host that owns the passkeys, and the origin of its pages."""

    host: str
    origin: str


class NewCredential(msgspec.Struct, frozen=True):
    """A credential that an authenticator made; ids and keys are base64url."""

    credential_id: str
    public_key: str
    sign_count: int


def site_of(base_url: str) -> Site | None:
    """Returns the site at a base address; None where browsers offer no passkeys: at an IP address, and without https
    anywhere but at localhost."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        is_secure = parts.scheme == "https" or host == "localhost" or host.endswith(".localhost")
        return Site(host, f"{parts.scheme}://{parts.netloc}") if host and is_secure else None
    return None


def challenge_in(client_data: str) -> bytes:
    """Returns the challenge that an answer claims to be for. Raises Refused."""
    try:
        given: Any = json.loads(decode(client_data))
        return decode(given["challenge"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refused("clientDataJSON has no challenge") from error


def verify_new(site: Site, challenge: bytes, client_data: str, attestation: str) -> NewCredential:
    """Returns the credential that an authenticator made for the site. Blocks. Raises Refused."""
    from webauthn import verify_registration_response
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

    made: dict[str, Any] = {"clientDataJSON": client_data, "attestationObject": attestation}
    try:
        # The id stands in the attestation; the library compares it with nothing else.
        found = verify_registration_response(
            credential={"id": "AA", "rawId": "AA", "type": "public-key", "response": made},
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            require_user_verification=True,
            supported_pub_key_algs=[COSEAlgorithmIdentifier(each) for each in ALGORITHMS],
        )
    except Exception as error:
        raise Refused(str(error)) from error
    return NewCredential(encode(found.credential_id), encode(found.credential_public_key), found.sign_count)


def verify_use(
    site: Site, challenge: bytes, passkey: Passkey, client_data: str, authenticator_data: str, signature: str
) -> int:
    """Returns the authenticator's new count after it signed the challenge for the site. Blocks. Raises Refused."""
    from webauthn import verify_authentication_response

    signed: dict[str, Any] = {
        "clientDataJSON": client_data,
        "authenticatorData": authenticator_data,
        "signature": signature,
    }
    name = passkey.credential_id
    try:
        found = verify_authentication_response(
            credential={"id": name, "rawId": name, "type": "public-key", "response": signed},
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=decode(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except Exception as error:
        raise Refused(str(error)) from error
    return found.new_sign_count


def encode(data: bytes) -> str:
    """Returns base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Returns what base64url stands for, padded or not. Raises ValueError."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise ValueError("not base64url") from error


class Ceremony(StrEnum):
    """The purpose of a challenge."""

    ADD = "add"
    SIGN_IN = "sign in"
    CONFIRM = "confirm"


def new_challenge(secret: str, ceremony: Ceremony, holder: str, now: int) -> bytes:
    """Returns a challenge for the browser or session that holds the token `holder`; `now` is in milliseconds."""
    body = struct.pack(">Q", now + LIFE) + secrets.token_bytes(_RANDOM)
    return body + _signature(secret, ceremony, holder, body)


def is_valid(challenge: bytes, valid: Iterable[str], ceremony: Ceremony, holder: str, now: int) -> bool:
    """Returns whether this server made the challenge for this ceremony and holder, and it has not ended.

    `valid` are the secrets whose signatures are valid.
    """
    body, signature = challenge[:_BODY], challenge[_BODY:]
    if len(body) != _BODY:
        return False
    if not any(hmac.compare_digest(signature, _signature(each, ceremony, holder, body)) for each in valid):
        return False
    return int.from_bytes(body[: struct.calcsize(">Q")]) > now


def _signature(secret: str, ceremony: Ceremony, holder: str, body: bytes) -> bytes:
    text = f"{ceremony} {hashlib.sha256(holder.encode()).hexdigest()} ".encode()
    return hmac.digest(secret.encode(), text + body, hashlib.sha256)
