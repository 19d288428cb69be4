"""The form of a key, and texts that are none."""

import hashlib
import zlib

import pytest

from pressroom.domains.keys.models import LONGEST_REASON, SOON, ApiKey, KeyStatus, canonical_network, check_reason
from pressroom.domains.keys.secret import hash_secret, is_well_formed, new_secret
from pressroom.errors import Code, Invalid

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def checksum(body: str) -> str:
    """The last six characters of a key, worked out by hand."""
    number = zlib.crc32(body.encode("ascii"))
    return "".join(DIGITS[number // 62**place % 62] for place in (5, 4, 3, 2, 1, 0))


VECTORS = {
    "svc_live_00000000000000000000000000000000": "3uclD9",
    "svc_live_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz": "2Pqui9",
    "svc_live_0123456789ABCDEFGHIJKLMNOPQRSTUV": "0l3Q8O",
    "svc_live_abcdefghijklmnopqrstuvwxyzABCDEF": "0Mo0x7",
}


@pytest.mark.parametrize(("body", "check"), VECTORS.items())
def test_a_key_ends_in_a_checksum_of_all_that_precedes_it(body: str, check: str) -> None:
    assert check == checksum(body)
    assert is_well_formed(body + check)


def test_new_key_is_well_formed_and_unique() -> None:
    keys = {new_secret("") for _ in range(200)}

    assert len(keys) == 200
    for key in keys:
        assert len(key) == 47
        assert key.startswith("svc_live_")
        assert set(key[9:]) <= set(DIGITS)
        assert key[-6:] == checksum(key[:-6])
        assert is_well_formed(key)
    assert set("".join(key[9:41] for key in keys)) == set(DIGITS)


def test_a_small_checksum_is_padded() -> None:
    number = next(n for n in range(100_000) if zlib.crc32(f"svc_live_{n:032d}".encode()) < 62**4)
    body = f"svc_live_{number:032d}"

    assert checksum(body).startswith("00")
    assert is_well_formed(body + checksum(body))


def test_no_single_change_passes() -> None:
    key = new_secret("")

    for place in range(len(key)):
        for other in "0Az_ \x00é":
            if other != key[place]:
                assert not is_well_formed(key[:place] + other + key[place + 1 :])
        assert not is_well_formed(key[:place] + key[place + 1 :])
        assert not is_well_formed(key[:place] + key[place] + key[place:])
        if place and key[place - 1] != key[place]:
            assert not is_well_formed(key[: place - 1] + key[place] + key[place - 1] + key[place + 1 :])


@pytest.mark.parametrize(
    "text", ["", "svc_live_", "svc_live_" + "0" * 38, "svc_test_" + "0" * 38, "\0" * 47, "0" * 10**6]
)
def test_malformed_key_is_not_well_formed(text: str) -> None:
    assert not is_well_formed(text)


def test_a_key_is_kept_as_its_sha_256() -> None:
    key = new_secret("")

    assert hash_secret(key) == hashlib.sha256(key.encode()).hexdigest()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("192.0.2.1", "192.0.2.1/32"),
        ("192.0.2.0/24", "192.0.2.0/24"),
        ("192.0.2.0/0.0.0.255", "192.0.2.0/24"),
        ("2001:DB8::/32", "2001:db8::/32"),
        ("::ffff:192.0.2.1", "192.0.2.1/32"),
        ("::ffff:0:0/96", "0.0.0.0/0"),
        ("::ffff:0:0/95", None),
        ("::/0", "::/0"),
        ("192.0.2.1/24", None),
        ("::ffff:192.0.2.1/120", None),
        ("fe80::1%eth0", None),
        ("fe80::%a b/64", None),
        ("fe80::1%", None),
        ("192.0.2.0/24 10.0.0.0/8", None),
        ("192.0.2.0/", None),
        ("/24", None),
        ("example.org", None),
        ("", None),
    ],
)
def test_allowlist_entry_is_normalized_or_refused(given: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match=r"."):
            canonical_network(given)
    else:
        assert canonical_network(given) == expected
        assert canonical_network(expected) == expected
        assert not set(expected) & set(" \t\n")


@pytest.mark.parametrize(
    ("expires_at", "revoked_at", "status"),
    [
        (None, None, KeyStatus.ACTIVE),
        (1001, None, KeyStatus.ACTIVE),
        (1000, None, KeyStatus.EXPIRED),
        (999, None, KeyStatus.EXPIRED),
        (None, 999, KeyStatus.REVOKED),
        (999, 999, KeyStatus.REVOKED),
        (2000, 1000, KeyStatus.REVOKED),
    ],
)
def test_the_state_of_a_key(expires_at: int | None, revoked_at: int | None, status: KeyStatus) -> None:
    key = ApiKey("id", "account", "svc_live_", "label", "", "", 0, expires_at, None, revoked_at, None, None, None)

    assert key.status(1000) is status


@pytest.mark.parametrize(
    ("expires_at", "soon"),
    [(None, False), (1000, False), (1001, True), (1000 + SOON, True), (1001 + SOON, False)],
)
def test_key_in_its_last_week_expires_soon(expires_at: int | None, *, soon: bool) -> None:
    key = ApiKey("id", "account", "svc_live_", "label", "", "", 0, expires_at, None, None, None, None, None)

    assert key.expires_soon(1000) is soon


@pytest.mark.parametrize(
    ("reason", "code"),
    [("", Code.TOO_SHORT), (" \n", Code.TOO_SHORT), ("\u3164", Code.TOO_SHORT), ("ü" * 201, Code.TOO_LONG)],
)
def test_invalid_reason_names_its_fault(reason: str, code: Code) -> None:
    check_reason("ü" * LONGEST_REASON)
    with pytest.raises(Invalid) as refused:
        check_reason(reason)
    assert [(error.field, error.code) for error in refused.value.field_errors] == [("reason", code)]
