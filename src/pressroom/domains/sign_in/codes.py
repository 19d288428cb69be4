"""Codes of two-factor sign-in: those of an authenticator app (TOTP, RFC 6238) and recovery codes. Pure.

The rules are in docs/sign-in.md#two-factor. pyotp is imported when it is needed: most commands and requests need none.
"""

import hashlib
import hmac
import re
import secrets
from typing import Final

from pressroom.clock import SECOND

STEP: Final = 30 * SECOND
"""Milliseconds that one code of an authenticator app is for."""

DRIFT: Final = 1
"""Steps that the clock of a phone may differ from ours, either way."""

RECOVERY_CODES: Final = 10
"""Recovery codes that an account gets at once."""

LONGEST_CODE: Final = 40
"""Characters of a code as somebody may type it, spaces and dashes included."""

_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without i, l, o, 0 and 1, which are taken for each other."""

_RECOVERY_LENGTH: Final = 16
_SEPARATORS: Final = re.compile(r"[\s-]+")
_TOTP: Final = re.compile(r"[0-9]{6}")


def new_secret() -> str:
    """Returns a new secret of 160 bits for an authenticator app, as base32."""
    import pyotp

    return pyotp.random_base32()


def enrolment_uri(secret: str, username: str, host: str) -> str:
    """Returns the otpauth URI that an authenticator app reads: `username` on the server `host`."""
    from pyotp.totp import TOTP

    return TOTP(secret).provisioning_uri(name=f"{username}@{host}", issuer_name="Pressroom")


def matching_step(secret: str, code: str, now: int, last_step: int) -> int | None:
    """Returns the step whose code this is: the present one, the one before or after; None when it is none of these.

    Only steps after `last_step`, the last that passed, count, so that no code passes twice. `now` is in milliseconds.
    """
    from pyotp.totp import TOTP

    given, totp = _SEPARATORS.sub("", code), TOTP(secret)
    if not _TOTP.fullmatch(given):
        return None
    present = now // STEP
    found = None
    for step in range(present - DRIFT, present + DRIFT + 1):
        # Each is compared, whether an earlier one matched or not: how long it takes says nothing.
        if hmac.compare_digest(totp.generate_otp(step), given) and step > last_step and found is None:
            found = step
    return found


def new_recovery_codes() -> list[str]:
    """Returns ten new recovery codes, such as `k7qm-2xwv-r4hd-9tza`, each of 79 random bits."""
    return [
        _grouped("".join(secrets.choice(_ALPHABET) for _ in range(_RECOVERY_LENGTH))) for _ in range(RECOVERY_CODES)
    ]


def hash_recovery_code(code: str) -> str:
    """Returns the hash of a recovery code, which is all that is stored. Case, spaces and dashes do not matter.

    The codes are random and long, so a plain hash keeps them: a password's would only make them slow.
    """
    return hashlib.sha256(_SEPARATORS.sub("", code).lower().encode()).hexdigest()


def _grouped(code: str) -> str:
    return "-".join(code[at : at + 4] for at in range(0, len(code), 4))
