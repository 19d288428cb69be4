"""Receivers tell genuine deliveries from all others."""

import hashlib
import hmac
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.receivers import verification
from pressroom.receivers.verification import LONGEST_HEADER, VerificationFailed, verify

SECRET = "whsec_0123456789ABCDEFGHIJKLMNOPQRSTUV"
OTHER = "whsec_zyxwvutsrqponmlkjihgfedcba987654"
AT = 1_767_323_045
BODY = (
    b'{"event":"post.created","id":"evt_0b0c7f2e-6a1d-4c7e-9d55-3f1c1a2b3c4d",'
    b'"created_at":"2026-01-02T03:04:05.678Z","data":{"post":{"content":"Gr\\u00fc\\u00dfe"}}}'
)

# By `printf '%s' "$AT.$BODY" | openssl dgst -sha256 -hmac $SECRET`.
HEX = "d9b9b2b33a19d0e83e73e625baaf1665e58fb5d93b5f27f9636267eee18b5fe4"
OTHER_HEX = "b344670a5d03cad19cd19c6df33478393dd862b59c238795ea530ca713437662"
EMPTY_HEX = "cd8dbc9c840ef4416e0ec2cb07467b806d7ce59195fea184cb7e8ba2ca2a85df"
BYTES_HEX = "8a9e1bcd0a07c2036977fe7df82cc4802027fc236c6647b4b812a1d6a0a089a2"
HEADER = f"t={AT},v1={HEX}"


def refused(
    header: str | None = HEADER, body: bytes = BODY, secrets: str | Iterable[str] = SECRET, now: float = AT
) -> str:
    """Why a delivery is refused."""
    with pytest.raises(VerificationFailed) as failure:
        verify(body, header, secrets, now=now)
    return str(failure.value)


@pytest.mark.parametrize(
    ("secret", "body", "digest"),
    [
        (SECRET, BODY, HEX),
        (OTHER, BODY, OTHER_HEX),
        (SECRET, b"", EMPTY_HEX),
        (SECRET, b"\x00\xff\r\n", BYTES_HEX),
        (SECRET, BODY, HEX.upper()),
    ],
)
def test_signature_by_openssl_is_genuine(secret: str, body: bytes, digest: str) -> None:
    verify(body, f"t={AT},v1={digest}", secret, now=AT)


def test_during_a_rotation_either_secret_verifies() -> None:
    for header in (HEADER, f"t={AT},v1={OTHER_HEX}", f"t={AT},v1={OTHER_HEX},v1={HEX}"):
        verify(BODY, header, [SECRET, OTHER], now=AT)
        verify(BODY, header, iter((OTHER, SECRET)), now=AT)
    assert "does not match the secret" in refused(f"t={AT},v1={OTHER_HEX}")
    assert "any of the 2 secrets" in refused(f"t={AT},v1={EMPTY_HEX}", secrets=[SECRET, OTHER])


@pytest.mark.parametrize(
    "header",
    [f"v1={HEX},t={AT}", f"t={AT}, v1={HEX}", f"t={AT},v0=old,v1={EMPTY_HEX},v1={HEX},v2=new,x", f" {HEADER}\t"],
)
def test_order_spaces_and_unknown_parts_do_not_matter(header: str) -> None:
    verify(BODY, header, SECRET, now=AT)


@pytest.mark.parametrize("apart", [300.0, -300.0, 0.5, 0.0])
def test_a_clock_may_differ_by_five_minutes(apart: float) -> None:
    verify(BODY, HEADER, SECRET, now=AT + apart)


def test_older_and_newer_schemas_are_refused() -> None:
    assert "too old: it was signed 301 s ago, at most 300 s" in refused(now=AT + 301)
    assert "too new: it was signed 301 s in the future" in refused(now=AT - 301)
    assert "too old" in refused(now=float("inf"))
    assert refused(now=float("nan"))
    with pytest.raises(VerificationFailed, match="at most 5 s"):
        verify(BODY, HEADER, SECRET, tolerance=5, now=AT + 6)
    with pytest.raises(VerificationFailed):
        verify(BODY, HEADER, SECRET, tolerance=float("nan"), now=AT)
    verify(BODY, HEADER, SECRET, tolerance=float("inf"), now=0)


def test_the_clock_is_this_machines_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: AT + 299.0)
    verify(BODY, HEADER, SECRET)
    monkeypatch.setattr("time.time", lambda: AT + 301.0)
    with pytest.raises(VerificationFailed, match="too old"):
        verify(BODY, HEADER, SECRET)


def test_no_header() -> None:
    assert "absent" in refused(None)
    assert "absent" in refused("")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (f"v1={HEX}", "one t"),
        (f"t=,v1={HEX}", "one t"),
        (f"t={AT},t={AT},v1={HEX}", "one t"),
        (f"t=-{AT},v1={HEX}", "one t"),
        (f"t=+{AT},v1={HEX}", "one t"),
        (f"t={AT}.0,v1={HEX}", "one t"),
        (f"t=1_767_323_045,v1={HEX}", "one t"),
        (f"t={AT}\n,v1={HEX}", "one t"),
        (f"t=\u0661\u0667\u0666,v1={HEX}", "one t"),
        (f"t=1{'0' * 13},v1={HEX}", "one t"),
        (f"t=1{'0' * 400},v1={HEX}", "one t"),
        (f"T={AT},V1={HEX}", "one t"),
        (f"t={AT}", "no v1"),
        (f"t={AT},v0={HEX}", "no v1"),
        (f"t={AT},v1=", "64 hex"),
        (f"t={AT},v1={HEX[:-1]}", "64 hex"),
        (f"t={AT},v1={HEX}0", "64 hex"),
        (f"t={AT},v1={HEX[:-1]}g", "64 hex"),
        (f"t={AT},v1={HEX[:-1]}\u0664", "64 hex"),
        (f"t={AT},v1={HEX}\n", "64 hex"),
        (f"t={AT},v1={HEX},v1=", "64 hex"),
        ("\ud800\U0010ffff\x00", "one t"),
        (",=,==,t", "one t"),
        (f"{HEADER},{'v1=' + HEX + ',' * 1000}", f"more than {LONGEST_HEADER}"),
        (f"t=1{'0' * 10**6}", f"more than {LONGEST_HEADER}"),
        (f"{',' * 10**7}", f"more than {LONGEST_HEADER}"),
    ],
)
def test_a_malformed_header(header: str, reason: str) -> None:
    message = refused(header)
    assert "malformed" in message
    assert reason in message
    assert len(message) < 250


def test_a_header_that_is_not_a_string() -> None:
    for header in (HEADER.encode(), 7, [HEADER], b""):
        assert "not a string" in refused(header)  # pyright: ignore[reportArgumentType] — frameworks may hand it on


@pytest.mark.parametrize("secrets", ["", " ", [], [""], [SECRET, ""], SECRET.encode(), [None], [SECRET.encode()]])
def test_without_a_secret_nothing_is_verified(secrets: str | list[str]) -> None:
    empty = hmac.new(b"", f"{AT}.".encode() + BODY, "sha256").hexdigest()
    with pytest.raises(ValueError, match="secret") as failure:
        verify(BODY, f"t={AT},v1={empty}", secrets, now=AT)
    assert not isinstance(failure.value, VerificationFailed)


@given(st.text(max_size=60) | st.text("tv1=,0aF \t", max_size=300), st.text("=,tv10a", max_size=30))
def test_malformed_header_is_refused(header: str, tail: str) -> None:
    refused(header)
    refused(HEADER[:-1] + tail)


@given(st.binary(max_size=300), st.text(min_size=1).filter(str.strip), st.integers(0, 10**12 - 1), st.data())
def test_signature_covers_every_byte(body: bytes, secret: str, at: int, data: st.DataObject) -> None:
    try:
        key = secret.encode()
    except UnicodeEncodeError:
        with pytest.raises(UnicodeEncodeError):
            verify(body, HEADER, secret, now=at)
        return
    digest = hmac.new(key, b"%d." % at + body, hashlib.sha256).digest()
    verify(body, f"t={at},v1={digest.hex()}", secret, now=at)
    signed = bytearray(digest + body)
    position = data.draw(st.integers(0, len(signed) - 1))
    signed[position] ^= data.draw(st.integers(1, 255))
    assert "match" in refused(f"t={at},v1={bytes(signed[:32]).hex()}", bytes(signed[32:]), secret, at)
    assert "match" in refused(f"t={at},v1={digest.hex()}", body, secret + "x", at)


def test_a_copy_of_the_file_works_alone(tmp_path: Path) -> None:
    shutil.copy(str(verification.__file__), tmp_path / "verification.py")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import verification as v\n"
        f"v.verify({BODY!r}, {HEADER!r}, {SECRET!r}, now={AT})\n"
        f"try: v.verify({BODY!r}, {HEADER!r}, {OTHER!r}, now={AT})\n"
        "except v.VerificationFailed: print('told apart', 'pressroom' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("told apart False\n", "")
