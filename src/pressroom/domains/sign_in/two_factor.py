"""Two-factor sign-in: its codes, and their set-up, use and removal (docs/sign-in.md#two-factor).

Codes are those of an authenticator app (TOTP, RFC 6238) and recovery codes; pyotp is imported when it is needed, for
most commands and requests need none. Actions take an open transaction first.
"""

import hashlib
import hmac
import re
import secrets
from typing import Final

import msgspec

from pressroom.clock import SECOND
from pressroom.db import Tx
from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import WRONG_CREDENTIALS
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import UNKNOWN, Kind, Source
from pressroom.domains.sign_in.queries import attempts, two_factor
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable, WrongCredentials

WRONG_CODE: Final = "This is not the present code. Is the clock of the phone right?"

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


class Proof(msgspec.Struct, frozen=True):
    """A code that is right and was not used yet: the step of an authenticator's, or the hash of a recovery code."""

    step: int | None = None
    recovery_hash: str | None = None


class Demand(msgspec.Struct, frozen=True):
    """Whether an account demands a code, and the proof that came, if it did."""

    is_on: bool
    proof: Proof | None


class State(msgspec.Struct, frozen=True):
    """An account's two-factor sign-in: since when it is on (milliseconds), and how many recovery codes are left."""

    enabled_at: int | None
    recovery_codes_left: int


async def find_demand(tx: Tx, account_id: str, code: str | None) -> Demand:
    """Returns whether the account demands a code, and whether `code` is one. Uses up nothing.

    An account that does not exist (an empty id) is read like any other.
    """
    factor = await two_factor.find(tx, account_id)
    if factor is None or factor.enabled_at is None:
        return Demand(is_on=False, proof=None)
    if code is None:
        return Demand(is_on=True, proof=None)
    if (step := matching_step(factor.secret, code, tx.now, factor.last_step)) is not None:
        return Demand(is_on=True, proof=Proof(step=step))
    code_hash = hash_recovery_code(code)
    known = await two_factor.has_recovery_code(tx, account_id, code_hash)
    return Demand(is_on=True, proof=Proof(recovery_hash=code_hash) if known else None)


async def use_proof(tx: Tx, account_id: str, proof: Proof, source: Source = UNKNOWN) -> None:
    """Uses up a code. Raises WrongCredentials when another request has used it meanwhile."""
    # Conditional updates: of two requests with one code, the second touches no row.
    if proof.step is not None:
        used = await two_factor.use_step(tx, account_id, proof.step)
    else:
        used = await two_factor.use_recovery_code(tx, account_id, proof.recovery_hash or "")
    if not used:
        raise WrongCredentials(WRONG_CREDENTIALS)
    if proof.step is None:
        await record(tx, account_id, Kind.RECOVERY_CODE_USED, source)


async def find_state(tx: Tx, account_id: str) -> State:
    """Returns whether two-factor sign-in is on, and how many recovery codes are left."""
    factor = await two_factor.find(tx, account_id)
    if factor is None or factor.enabled_at is None:
        return State(None, 0)
    return State(factor.enabled_at, await two_factor.count_recovery_codes(tx, account_id))


async def find_begun(tx: Tx, account_id: str) -> str | None:
    """Returns the secret of a set-up that waits for its first code, if there is one."""
    factor = await two_factor.find(tx, account_id)
    return None if factor is None or factor.enabled_at is not None else factor.secret


async def begin(tx: Tx, account_id: str, secret: str) -> str:
    """Begins the set-up with a new secret and returns it; one that was begun before is forgotten. Raises Conflict."""
    if not await two_factor.begin(tx, account_id, secret):
        raise Conflict("Two-factor sign-in is on already; take it off before you set it up anew.")
    return secret


async def confirm(tx: Tx, account_id: str, code: str, source: Source = UNKNOWN) -> list[str]:
    """Turns two-factor sign-in on and returns the recovery codes. The code is used up by it.

    Raises Conflict when it is on already, NotFound when no set-up was begun, Unprocessable for a wrong code.
    """
    factor = await two_factor.find(tx, account_id)
    if factor is None:
        raise NotFound("No set-up was begun: POST /api/auth/two-factor.")
    if factor.enabled_at is not None:
        raise Conflict("Two-factor sign-in is on already.")
    step = matching_step(factor.secret, code, tx.now, factor.last_step)
    if step is None:
        raise Unprocessable([FieldError("code", Code.NOT_ALLOWED, WRONG_CODE)])
    # Only for the secret that the code was checked against: another request may have begun anew.
    if not await two_factor.enable(tx, account_id, factor.secret, step):
        raise Conflict("Two-factor sign-in was set up at the same moment by another request.")
    await record(tx, account_id, Kind.TWO_FACTOR_ON, source)
    return await _renew_recovery_codes(tx, account_id)


async def renew_recovery_codes(tx: Tx, account_id: str, source: Source = UNKNOWN) -> list[str]:
    """Replaces the recovery codes and returns the new ones. Raises NotFound when two-factor sign-in is off."""
    await _get_enabled(tx, account_id)
    await record(tx, account_id, Kind.RECOVERY_CODES_MADE, source)
    return await _renew_recovery_codes(tx, account_id)


async def remove(tx: Tx, account_id: str, proof: Proof | None = None, source: Source = UNKNOWN) -> None:
    """Takes two-factor sign-in off. Uses the `proof` up, when a code and not the password was given.

    Raises NotFound when it is off, WrongCredentials when the code was used meanwhile.
    """
    await _get_enabled(tx, account_id)
    if proof is not None:
        await use_proof(tx, account_id, proof, source)
    await two_factor.delete(tx, account_id)
    await record(tx, account_id, Kind.TWO_FACTOR_OFF, source)


async def remove_by_operator(tx: Tx, account_id: str, source: Source) -> None:
    """Takes two-factor sign-in off an account whose owner lost every code, and forgets its failed sign-ins."""
    await remove(tx, account_id, source=source)
    await attempts.forget_failures(tx, account_id)


async def _get_enabled(tx: Tx, account_id: str) -> None:
    """Raises NotFound unless two-factor sign-in is on; locks the account, so that of two changes one comes first."""
    await queries.lock_account(tx, account_id)
    factor = await two_factor.find(tx, account_id)
    if factor is None or factor.enabled_at is None:
        raise NotFound("Two-factor sign-in is off.")


async def _renew_recovery_codes(tx: Tx, account_id: str) -> list[str]:
    made = new_recovery_codes()
    await two_factor.replace_recovery_codes(tx, account_id, [hash_recovery_code(code) for code in made])
    return made


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
        # Each is compared, even after a match, so that the time reveals nothing.
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
