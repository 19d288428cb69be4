"""The rules for names and addresses."""

import pytest

from pressroom.domains.accounts.models import display_name_errors, email_errors, folded, username_errors
from pressroom.errors import Code


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("abc", []),
        ("A_9", []),
        ("___", []),
        ("a" * 30, []),
        ("ab", [Code.TOO_SHORT]),
        ("", [Code.TOO_SHORT]),
        ("a" * 31, [Code.TOO_LONG]),
        ("a-b", [Code.INVALID_FORMAT]),
        ("abc\n", [Code.INVALID_FORMAT]),
        ("äbc", [Code.INVALID_FORMAT]),
        ("ab٣", [Code.INVALID_FORMAT]),
        ("a@b", [Code.INVALID_FORMAT]),
        (None, []),
    ],
)
def test_user_names(name: str | None, codes: list[Code]) -> None:
    assert [field_error.code for field_error in username_errors(name)] == codes


@pytest.mark.parametrize(
    "email",
    [
        "a@b",
        "a@example.org",
        "a.b+c@mail.example.org",
        "ä@exämple.org",
        "a@xn--exmple-cua.org",
        "!#$%&'*/=?^`{|}~-@x.org",
    ],
)
def test_addresses(email: str) -> None:
    assert not list(email_errors(email))


@pytest.mark.parametrize(
    "email",
    [
        "",
        "@",
        "a@",
        "@b",
        "a",
        "a@b@c",
        "a b@c",
        "a@b c",
        "a@b.",
        "a@.b",
        "a@b..c",
        "a@b\n",
        "a\r\nBcc: x@y",
        "<a@b>",
        "a@b, c@d",
        "a@[127.0.0.1]",
        '"a"@b',
        "a\0@b",
        "a\x7f@b",
        "a\u3000@b",
    ],
)
def test_invalid_address_is_refused(email: str) -> None:
    assert [field_error.code for field_error in email_errors(email)] == [Code.INVALID_FORMAT]


@pytest.mark.parametrize("name", ["", " ", "\u2003\n", "\x1f"])
def test_a_display_name_shows_something(name: str) -> None:
    assert [field_error.code for field_error in display_name_errors(name)] == [Code.TOO_SHORT]


@pytest.mark.parametrize("name", ["x", " x", "\u2003x", "x\u3000y"])
def test_a_display_name_may_hold_white_space(name: str) -> None:
    assert not list(display_name_errors(name))


@pytest.mark.parametrize("name", ["\u2003\nx", "\x1fx", "x\ny", "\u202ex"])
def test_a_display_name_is_one_line(name: str) -> None:
    assert [field_error.code for field_error in display_name_errors(name)] == [Code.INVALID_FORMAT]


def test_case_is_no_difference() -> None:
    assert folded("Straße@EXAMPLE.org") == folded("STRASSE@example.ORG")
