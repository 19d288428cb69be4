"""The cookies of a session, and of a sign-in whose code is still to come."""

from pressroom.clock import SECOND
from pressroom.domains.accounts.models import Caller
from pressroom.domains.sign_in.sessions import SESSION_LIFE
from pressroom.domains.sign_in.tokens import Purpose
from pressroom.web.request import Request
from pressroom.web.response import Response

CODE_COOKIE = "sign_in"
"""Holds the token of a sign-in whose password was right. Only the pages of signing in get it."""


def session_cookie(token: str, *, secure: bool) -> tuple[bytes, bytes]:
    """Returns the Set-Cookie header of a session; an empty token removes the cookie."""
    life = SESSION_LIFE // SECOND if token else 0
    cookie = f"session={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={life}{'; Secure' if secure else ''}"
    return b"set-cookie", cookie.encode()


def set_session_cookie(request: Request[Caller], response: Response, token: str) -> None:
    """Adds the cookie of a session to a response; an empty token removes it from the browser."""
    response.headers.append(session_cookie(token, secure=_is_secure(request)))


def set_code_cookie(request: Request[Caller], response: Response, token: str) -> None:
    """Adds the cookie of a sign-in whose code is still to come; an empty token removes it from the browser."""
    life = Purpose.SIGN_IN_CODE.life // SECOND if token else 0
    cookie = f"{CODE_COOKIE}={token}; Path=/login; HttpOnly; SameSite=Strict; Max-Age={life}"
    response.headers.append((b"set-cookie", f"{cookie}{'; Secure' if _is_secure(request) else ''}".encode()))


def _is_secure(request: Request[Caller]) -> bool:
    return request.settings.base_url.startswith("https://")
