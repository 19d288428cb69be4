"""Which requests come from this site itself."""

from contextlib import nullcontext

import pytest

from pressroom.errors import CrossOrigin
from pressroom.web.headers import Headers
from pressroom.web.origin import check_same_origin

BASE = "https://Press.example:8443"
HOST = "press.example:8443"


def headers(origin: str | None, fetch_site: str | None, host: str) -> Headers:
    return Headers(
        authorization=None,
        cookie="",
        content_type=None,
        content_encoding=None,
        content_length=None,
        chunked=False,
        idempotency_key=None,
        forwarded_for=None,
        fetch_site=fetch_site,
        origin=origin,
        host=host,
    )


OURS = [
    (None, None, HOST),
    (None, "same-origin", HOST),
    (None, "none", ""),
    ("https://elsewhere.example", "same-origin", HOST),
    ("https://press.example:8443", None, HOST),
    ("https://press.example:8443", None, "10.0.0.1:8000"),
    ("https://press.example:8443", None, ""),
    ("https://press.example:8443", None, "PRESS.example:8443"),
    ("https://press.example:8443", None, "elsewhere.example"),
]


@pytest.mark.parametrize(("origin", "fetch_site", "host"), OURS)
def test_ours(origin: str | None, fetch_site: str | None, host: str) -> None:
    check_same_origin(headers(origin, fetch_site, host), BASE)


THEIRS = [
    ("http://[::1]:8000", None, "[::1]:8000"),
    ("https://elsewhere.example", None, "elsewhere.example"),
    ("https://www.press.example", None, "www.press.example"),
    ("https://[::1]:8000", None, "[::1]:8000"),
    ("https://127.0.0.1", None, "127.0.0.1"),
    ("ftp://press.example:8443", None, HOST),
    (None, "cross-site", HOST),
    (None, "same-site", HOST),
    (None, "", HOST),
    (None, "same-origin\nsame-origin", HOST),
    ("https://press.example:8443", "cross-site", HOST),
    ("https://press.example", None, HOST),
    ("http://press.example:8443", None, "10.0.0.1:8000"),
    ("https://press.example:8443.elsewhere.example", None, HOST),
    ("https://elsewhere.example", None, HOST),
    ("https://elsewhere.example", None, ""),
    ("null", None, HOST),
    ("null", None, ""),
    ("", None, ""),
    ("file://", None, ""),
    ("://", None, ""),
    ("http://[", None, HOST),
    ("https://press.example:8443\nhttps://elsewhere.example", None, HOST),
    ("https://\u2100", None, HOST),
]


@pytest.mark.parametrize(("origin", "fetch_site", "host"), THEIRS)
def test_theirs(origin: str | None, fetch_site: str | None, host: str) -> None:
    with pytest.raises(CrossOrigin):
        check_same_origin(headers(origin, fetch_site, host), BASE)


LOCAL = [
    ("http://127.0.0.1:8000", "http://localhost:8000", "localhost:8000", True),
    ("http://127.0.0.1:8000", "http://localhost:9000", "localhost:9000", True),  # a tunnel, a container's port
    ("http://localhost:8000", "http://[::1]:8000", "[::1]:8000", True),
    ("http://0.0.0.0:8000", "http://192.168.0.7:8000", "192.168.0.7:8000", True),
    ("http://127.0.0.1:8000", "http://localhost:3000", "localhost:8000", False),
    ("http://127.0.0.1:8000", "http://rebound.example:8000", "rebound.example:8000", False),
    ("http://127.0.0.1:8000", "http://127.0.0.1.example:8000", "127.0.0.1.example:8000", False),
    ("http://10.1.2.3:8000", "http://10.1.2.4:8000", "10.1.2.4:8000", False),
    ("https://press.example:443", "https://press.example", "press.example", True),
    ("http://press.example:80", "http://press.example", "x", True),
    ("https://press.example", "https://press.example:80", "press.example:80", False),
]


@pytest.mark.parametrize(("base", "origin", "host", "passes"), LOCAL)
def test_names_of_a_server_on_this_machine(base: str, origin: str, host: str, passes: bool) -> None:
    with nullcontext() if passes else pytest.raises(CrossOrigin):
        check_same_origin(headers(origin, None, host), base)


def test_refusal_names_the_sent_and_the_expected_origin() -> None:
    with pytest.raises(CrossOrigin) as refused:
        check_same_origin(headers("https://www.press.example", None, "10.0.0.1:8000"), "http://127.0.0.1:8000")

    for named in ("'https://www.press.example'", "'10.0.0.1:8000'", "http://127.0.0.1:8000", "PRESSROOM_BASE_URL"):
        assert named in refused.value.message

    with pytest.raises(CrossOrigin) as refused:
        check_same_origin(headers("x" * 100_000, "cross-site", HOST), BASE)
    assert "Sec-Fetch-Site 'cross-site'" in refused.value.message
    assert len(refused.value.message) < 1_000
