"""Codes of two-factor sign-in, as the RFC and other authenticators make them."""

import pyotp
import pytest
from pyotp.totp import TOTP

from pressroom.domains.sign_in import two_factor

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
"""The secret of the test vectors of RFC 6238, as base32."""

NEVER = -1


@pytest.mark.parametrize(
    ("seconds", "code"), [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")]
)
def test_the_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    assert two_factor.matching_step(SECRET, code, seconds * 1000, NEVER) == seconds // 30


@pytest.mark.parametrize(("behind", "passes"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_clock_may_be_a_step_off(behind: int, *, passes: bool) -> None:
    code = TOTP(SECRET).generate_otp(50_000_000 + behind)

    found = two_factor.matching_step(SECRET, code, 50_000_000 * two_factor.STEP + 29_999, NEVER)

    assert found == (50_000_000 + behind if passes else None)


def test_no_code_passes_twice_nor_one_before_it() -> None:
    now = 50_000_000 * two_factor.STEP
    code = TOTP(SECRET).generate_otp(50_000_000)

    assert two_factor.matching_step(SECRET, code, now, 49_999_999) == 50_000_000
    assert two_factor.matching_step(SECRET, code, now, 50_000_000) is None
    assert two_factor.matching_step(SECRET, code, now, 50_000_001) is None


@pytest.mark.parametrize(
    "code", ["", " ", "28708", "2870822", "28708\uff12", "abcdef", "-287082-0", "\u00b287082", "+28708"]
)
def test_malformed_code_is_refused(code: str) -> None:
    assert two_factor.matching_step(SECRET, code, 59_000, NEVER) is None


def test_a_code_may_be_typed_in_groups() -> None:
    assert two_factor.matching_step(SECRET, " 287 082", 59_000, NEVER) == 1


def test_recovery_codes() -> None:
    made = two_factor.new_recovery_codes()

    assert len(set(made)) == 10
    assert all(len(code) == 19 and code.count("-") == 3 for code in made)
    assert two_factor.hash_recovery_code(made[0].upper().replace("-", " ")) == two_factor.hash_recovery_code(made[0])
    assert len({two_factor.hash_recovery_code(code) for code in made}) == 10


def test_an_authenticator_reads_the_address() -> None:
    secret = two_factor.new_secret()
    read = pyotp.parse_uri(two_factor.enrolment_uri(secret, "mira_press", "press.example:8000"))

    assert isinstance(read, TOTP)
    assert (read.secret, read.name, read.issuer) == (secret, "mira_press@press.example:8000", "Pressroom")
