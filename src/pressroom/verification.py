"""Verifies that a webhook delivery was sent by the service, for those who receive it.

Import this module or copy the file: it needs Python 3.10 or later and nothing else.

    try:
        verify(request.body, request.headers.get("X-Service-Signature"), [SECRET, PREVIOUS_SECRET])
    except VerificationFailed as failure:
        return Response(str(failure), status=400)

Hand over the bytes of the body as they arrived. A body that was parsed and written again has other bytes.
"""

import hashlib
import hmac
import re
import time
from collections.abc import Iterable
from typing import Final

TOLERANCE: Final = 300.0
"""Seconds that the time of a signature may differ from this machine's clock; what is older may be a replay."""

LONGEST_HEADER: Final = 1024
"""Characters of a header that is looked at; one with two signatures has about 150."""

_TIME: Final = re.compile(r"[0-9]{1,12}")
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")


class VerificationFailed(ValueError):
    """The delivery cannot be trusted; the message says why and repeats nothing of what was received but its age."""


def verify(
    body: bytes,
    signature: str | None,
    secrets: str | Iterable[str],
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> None:
    """Returns if the delivery is genuine and fresh, else raises VerificationFailed.

    `signature` is the header X-Service-Signature, `t=<unix seconds>,v1=<hex>`, with one `v1` or several; None if
    there was none. `secrets` is the endpoint's secret, whole, `whsec_` included; during the 24 hours after a rotation
    give the new one and the previous one. `tolerance` is in seconds, either way; `now` is in seconds since 1970, by
    default the clock's. Raises a plain ValueError if there is no secret to verify with: that is a fault of the
    receiver and must not look like one of the sender.
    """
    keys = _keys(secrets)
    signed_at, candidates = _parse(signature)
    age = (time.time() if now is None else now) - int(signed_at)
    # Written so that a tolerance or a time that is no number refuses.
    if not abs(age) <= tolerance:
        raise VerificationFailed(_untimely(age, tolerance))
    for key in keys:
        expected = _hmac(key, signed_at, body)
        if any(hmac.compare_digest(expected, candidate) for candidate in candidates):
            return
    raise VerificationFailed(
        f"The signature does not match {'the secret' if len(keys) == 1 else f'any of the {len(keys)} secrets'}."
        " Verify the raw bytes of the body, with the whole secret of this very endpoint, whsec_ included."
    )


def _keys(secrets: str | Iterable[object]) -> list[bytes]:
    keys: list[bytes] = []
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        # An empty secret would accept what anybody can sign.
        if not isinstance(secret, str) or not secret.strip():
            raise ValueError("A secret is empty or no text. Give the endpoint's secret whole, as text.")
        keys.append(secret.encode())
    if not keys:
        raise ValueError("There is no secret to verify with. Give the endpoint's secret.")
    return keys


def _parse(header: object) -> tuple[str, list[bytes]]:
    """The time as it was sent and the digests, of which there is at least one."""
    if header is None or header == "":
        raise VerificationFailed("The header X-Service-Signature is absent. Deliveries have it: is this one?")
    if not isinstance(header, str):
        raise _garbled("it is no text")
    if len(header) > LONGEST_HEADER:
        raise _garbled(f"it has more than {LONGEST_HEADER} characters")
    times: list[str] = []
    digests: list[bytes] = []
    for part in header.split(","):
        name, _, value = part.strip(" \t").partition("=")
        if name == "t":
            times.append(value)
        elif name == "v1":
            if not _SHA256.fullmatch(value):
                raise _garbled("a v1 is not 64 hexadecimal digits")
            digests.append(bytes.fromhex(value))
    if len(times) != 1 or not _TIME.fullmatch(times[0]):
        raise _garbled("there is not exactly one t of up to 12 digits")
    if not digests:
        raise _garbled("there is no v1")
    return times[0], digests


def _hmac(key: bytes, signed_at: str, body: bytes) -> bytes:
    digest = hmac.new(key, f"{signed_at}.".encode("ascii"), hashlib.sha256)
    digest.update(body)
    return digest.digest()


def _garbled(reason: str) -> VerificationFailed:
    return VerificationFailed(
        f"The header X-Service-Signature is garbled: {reason}. It reads t=<unix seconds>,v1=<64 hexadecimal digits>."
    )


def _untimely(age: float, tolerance: float) -> str:
    advice = f"at most {tolerance:g} s are allowed. Set this machine's clock"
    if age < 0:
        return f"The delivery is too new: it was signed {-age:.0f} s in the future, {advice}."
    return f"The delivery is too old: it was signed {age:.0f} s ago, {advice}, or drop it as a replay."
