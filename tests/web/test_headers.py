"""Cookies of a request."""

import pytest

from pressroom.web.headers import session_token


@pytest.mark.parametrize(
    ("cookie", "token"),
    [
        ("", None),
        ("session=", None),
        ("session=abc", "abc"),
        ("session=; session=abc", "abc"),
        ("theme=dark; session=a=b", "a=b"),
        ("sessions=abc; my-session=abc", None),
    ],
)
def test_token_is_the_first_value_of_its_cookie(cookie: str, token: str | None) -> None:
    assert session_token(cookie) == token
