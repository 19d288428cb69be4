"""Signatures, against values that another implementation made."""

import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.domains.webhooks.envelope import PREFIX, new_secret, sign
from pressroom.domains.webhooks.models import SHOWN
from pressroom.receivers.verification import verify

SECRET = "whsec_0123456789ABCDEFGHIJKLMNOPQRSTUV"
OTHER = "whsec_zyxwvutsrqponmlkjihgfedcba987654"


# printf '1800000000.{"event":"webhook.test"}' | openssl dgst -sha256 -hmac whsec_0123456789ABCDEFGHIJKLMNOPQRSTUV
@pytest.mark.parametrize(
    ("secret", "at", "body", "digest"),
    [
        (
            SECRET,
            1_800_000_000,
            b'{"event":"webhook.test"}',
            "a50c6154edbf86841f2d6d4f966a1b7f3e680f7d82defc190c32cf02cb706ecb",
        ),
        (
            SECRET,
            0,
            b"",
            "f762e327176314985aedc3630da634498817b71acd4eb5e28af8791dcd1e2216",
        ),
        (
            "whsec_zyxwvutsrqponmlkjihgfedcba987654",
            1_795_190_892,
            b'{"content":"Gr\xc3\xbc\xc3\x9fe \xf0\x9f\x8e\x89"}',
            "dead4e3a85b5cddc2a8966109f4a5beb9b3dff7d1d3dbd20e6ce512b9d4a17a7",
        ),
        (
            SECRET,
            1_800_000_000,
            bytes(range(256)),
            "4cc8ad1a6917a0faad229a54bfe38f224f3a782a57540a45069ccea3a5151e67",
        ),
    ],
)
def test_vectors_made_with_openssl(secret: str, at: int, body: bytes, digest: str) -> None:
    assert sign(secret, at, body) == f"t={at},v1={digest}"


def test_the_whole_secret_is_the_key() -> None:
    signed = sign(SECRET, 1_800_000_000, b"{}")
    without = hmac.new(SECRET.removeprefix(PREFIX).encode(), b"1800000000.{}", hashlib.sha256).hexdigest()
    assert without not in signed


@given(st.integers(0, 10**12 - 1), st.binary())
def test_signature_of_any_body_verifies(at: int, body: bytes) -> None:
    verify(body, sign(SECRET, at, body), SECRET, now=at)


def test_secrets_are_a_prefix_and_32_random_characters() -> None:
    made = {new_secret() for _ in range(1_000)}
    assert len(made) == 1_000
    assert all(re.fullmatch(r"whsec_[0-9A-Za-z]{32}", secret) for secret in made)


def test_prefix_of_a_secret_hides_most_of_it() -> None:
    assert SHOWN == 12
    assert len({new_secret()[:SHOWN] for _ in range(1_000)}) > 900
