"""The cookies of a session, of a sign-in whose code is still to come, and of a challenge to passkeys."""

from pressroom.clock import SECOND
from pressroom.domains.accounts.models import Caller
from pressroom.domains.sign_in.authenticators import LIFE
from pressroom.domains.sign_in.sessions import SESSION_LIFE
from pressroom.domains.sign_in.tokens import Purpose
from pressroom.web.request import Request
from pressroom.web.response import Response

CODE_COOKIE = "sign_in"
"""Holds the token of a sign-in whose password was right. Only the pages of signing in get it."""


PASSKEY_COOKIE = "passkey"
"""Ties the challenge of a sign-in by passkey to the browser that asked for it."""

PASSKEY_PATH = "/api/auth/login/passkey"


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


def set_passkey_cookie(request: Request[Caller], response: Response, token: str) -> None:
    """Adds the cookie that a challenge is tied to; an empty token removes it from the browser."""
    life = LIFE // SECOND if token else 0
    cookie = f"{PASSKEY_COOKIE}={token}; Path={PASSKEY_PATH}; HttpOnly; SameSite=Strict; Max-Age={life}"
    response.headers.append((b"set-cookie", f"{cookie}{'; Secure' if _is_secure(request) else ''}".encode()))


def _is_secure(request: Request[Caller]) -> bool:
    return request.settings.base_url.startswith("https://")
