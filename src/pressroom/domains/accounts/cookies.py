"""The cookie that stands for a session."""

from pressroom.clock import SECOND
from pressroom.domains.accounts.models import SESSION_LIFE


def session_cookie(token: str, *, secure: bool) -> tuple[bytes, bytes]:
    """The header that gives a browser its session; an empty token takes it away."""
    life = SESSION_LIFE // SECOND if token else 0
    cookie = f"session={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={life}{'; Secure' if secure else ''}"
    return b"set-cookie", cookie.encode()
