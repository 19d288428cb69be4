"""The cookie that carries a session."""

from pressroom.clock import SECOND
from pressroom.domains.accounts.models import SESSION_LIFE


def session_cookie(token: str, *, secure: bool) -> tuple[bytes, bytes]:
    """Returns the Set-Cookie header of a session; an empty token removes the cookie."""
    life = SESSION_LIFE // SECOND if token else 0
    cookie = f"session={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={life}{'; Secure' if secure else ''}"
    return b"set-cookie", cookie.encode()
