"""The cookies that carry a session, and a sign-in that waits for its code."""

from pressroom.clock import SECOND
from pressroom.domains.accounts.models import SESSION_LIFE, Purpose

CODE_COOKIE = "sign_in"
"""Holds the token of a sign-in whose password was right. Only the pages of signing in get it."""


def session_cookie(token: str, *, secure: bool) -> tuple[bytes, bytes]:
    """Returns the Set-Cookie header of a session; an empty token removes the cookie."""
    life = SESSION_LIFE // SECOND if token else 0
    cookie = f"session={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={life}{'; Secure' if secure else ''}"
    return b"set-cookie", cookie.encode()


def code_cookie(token: str, *, secure: bool) -> tuple[bytes, bytes]:
    """Returns the Set-Cookie header of a sign-in that waits for its code; an empty token removes the cookie."""
    life = Purpose.SIGN_IN_CODE.life // SECOND if token else 0
    cookie = f"{CODE_COOKIE}={token}; Path=/login; HttpOnly; SameSite=Strict; Max-Age={life}"
    return b"set-cookie", f"{cookie}{'; Secure' if secure else ''}".encode()
