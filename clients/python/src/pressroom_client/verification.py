"""Checks that a webhook delivery was sent by the service and is recent.

For receivers of webhooks: import this module or copy the file. It needs Python 3.10 or later and nothing else.

    try:
        verify(request.body, request.headers.get("X-Service-Signature"), [SECRET, PREVIOUS_SECRET])
    except VerificationFailed as failure:
        return Response(str(failure), status=400)

Pass the raw bytes of the body, as they arrived. A body that was parsed and serialised again has different bytes.
"""

import hashlib
import hmac
import re
import time
from collections.abc import Iterable
from typing import Final

TOLERANCE: Final = 300.0
"""Seconds that a signature's time may differ from this machine's clock. An older delivery may be a replay."""

LONGEST_HEADER: Final = 1024
"""Characters of the longest header that is parsed. A header with two signatures has about 150."""

_TIME: Final = re.compile(r"[0-9]{1,12}")
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")


class VerificationFailed(ValueError):
    """The delivery cannot be trusted. The message has the reason; of the received bytes it contains only the age."""


def verify(
    body: bytes,
    signature: str | None,
    secrets: str | Iterable[str],
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> None:
    """Returns None if the delivery is genuine and recent.

    Arguments:
        body: The raw bytes of the request's body.
        signature: The header X-Service-Signature, `t=<unix seconds>,v1=<hex>` with one or more `v1`; None if absent.
        secrets: The endpoint's secret, complete with `whsec_`. For 24 hours after a rotation, pass both the new and
            the previous secret.
        tolerance: Seconds that the signature's time may differ from `now`, in the past or the future.
        now: Unix time in seconds; by default the time of this machine's clock.

    Raises VerificationFailed if the delivery cannot be trusted, and a plain ValueError if `secrets` is empty or holds
    an empty secret. The second is an error of the receiver: do not answer it as if the sender were at fault.
    """
    keys = _keys(secrets)
    signed_at, candidates = _parse(signature)
    age = (time.time() if now is None else now) - int(signed_at)
    # Not `age > tolerance`: if either is NaN, the delivery must be refused.
    if not abs(age) <= tolerance:
        raise VerificationFailed(_untimely(age, tolerance))
    for key in keys:
        expected = _hmac(key, signed_at, body)
        if any(hmac.compare_digest(expected, candidate) for candidate in candidates):
            return
    raise VerificationFailed(
        f"The signature does not match {'the secret' if len(keys) == 1 else f'any of the {len(keys)} secrets'}."
        " Verify the raw bytes of the body, with the complete secret of this endpoint, including whsec_."
    )


def _keys(secrets: str | Iterable[object]) -> list[bytes]:
    keys: list[bytes] = []
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        # Anybody can sign with an empty secret.
        if not isinstance(secret, str) or not secret.strip():
            raise ValueError("A secret is empty or not a string. Pass the endpoint's complete secret as a string.")
        keys.append(secret.encode())
    if not keys:
        raise ValueError("There is no secret to verify with. Pass the endpoint's secret.")
    return keys


def _parse(header: object) -> tuple[str, list[bytes]]:
    """Returns the time as it was sent, and at least one digest. Raises VerificationFailed."""
    if header is None or header == "":
        raise VerificationFailed(
            "The header X-Service-Signature is absent. Every delivery has one: is this a delivery?"
        )
    if not isinstance(header, str):
        raise _malformed("it is not a string")
    if len(header) > LONGEST_HEADER:
        raise _malformed(f"it has more than {LONGEST_HEADER} characters")
    times: list[str] = []
    digests: list[bytes] = []
    for part in header.split(","):
        name, _, value = part.strip(" \t").partition("=")
        if name == "t":
            times.append(value)
        elif name == "v1":
            if not _SHA256.fullmatch(value):
                raise _malformed("a v1 is not 64 hexadecimal digits")
            digests.append(bytes.fromhex(value))
    if len(times) != 1 or not _TIME.fullmatch(times[0]):
        raise _malformed("there is not exactly one t of up to 12 digits")
    if not digests:
        raise _malformed("there is no v1")
    return times[0], digests


def _hmac(key: bytes, signed_at: str, body: bytes) -> bytes:
    digest = hmac.new(key, f"{signed_at}.".encode("ascii"), hashlib.sha256)
    digest.update(body)
    return digest.digest()


def _malformed(reason: str) -> VerificationFailed:
    return VerificationFailed(
        f"The header X-Service-Signature is malformed: {reason}."
        " It must read t=<unix seconds>,v1=<64 hexadecimal digits>."
    )


def _untimely(age: float, tolerance: float) -> str:
    advice = f"at most {tolerance:g} s are allowed. Set this machine's clock"
    if age < 0:
        return f"The delivery is too new: it was signed {-age:.0f} s in the future, {advice}."
    return f"The delivery is too old: it was signed {age:.0f} s ago, {advice}, or drop it as a replay."
