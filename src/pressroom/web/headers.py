"""The headers of a request, read in one pass."""

from typing import Final

import msgspec

from pressroom.web.asgi import HeaderList

REPEATED: Final = "\n"
"""Joins the values of a header that must not be repeated. No value can contain it, so none of these passes as valid."""

_JOINED_BY: Final = {
    b"accept-encoding": ", ",
    b"authorization": REPEATED,
    b"content-encoding": REPEATED,
    b"content-length": REPEATED,
    b"content-type": REPEATED,
    b"cookie": "; ",
    b"host": REPEATED,
    b"idempotency-key": REPEATED,
    b"if-none-match": ", ",
    b"if-range": REPEATED,
    b"origin": REPEATED,
    b"range": REPEATED,
    b"sec-fetch-site": REPEATED,
    b"transfer-encoding": ", ",
    b"user-agent": " ",
    b"x-forwarded-for": ", ",
}
"""Every header that is read, and what joins its values when it comes more than once."""


class Headers(msgspec.Struct):
    """The request headers that anything here reads. Values are Latin-1 text."""

    authorization: str | None
    cookie: str
    content_type: str | None
    content_encoding: str | None
    content_length: int | None
    chunked: bool
    idempotency_key: str | None
    forwarded_for: str | None
    fetch_site: str | None
    origin: str | None
    host: str
    range: str | None = None
    if_range: str | None = None
    if_none_match: str | None = None
    accept_encoding: str = ""
    user_agent: str = ""

    @property
    def announces_body(self) -> bool:
        """Whether the request has a body of at least one byte, or may have one."""
        return bool(self.content_length) or self.chunked


def read_headers(received: HeaderList) -> Headers:
    """Returns what is read of the headers of a request, whose names are in lower case."""
    found: dict[bytes, str] = {}
    for name, value in received:
        if name in _JOINED_BY:
            text = value.decode("latin-1")
            found[name] = f"{found[name]}{_JOINED_BY[name]}{text}" if name in found else text
    length = found.get(b"content-length", "")
    return Headers(
        authorization=found.get(b"authorization"),
        cookie=found.get(b"cookie", ""),
        content_type=found.get(b"content-type"),
        content_encoding=found.get(b"content-encoding"),
        content_length=int(length) if length.isdigit() else None,
        chunked=b"transfer-encoding" in found,
        idempotency_key=found.get(b"idempotency-key"),
        forwarded_for=found.get(b"x-forwarded-for"),
        fetch_site=found.get(b"sec-fetch-site"),
        origin=found.get(b"origin"),
        host=found.get(b"host", ""),
        range=found.get(b"range"),
        if_range=found.get(b"if-range"),
        if_none_match=found.get(b"if-none-match"),
        accept_encoding=found.get(b"accept-encoding", ""),
        user_agent=found.get(b"user-agent", ""),
    )


def session_token(cookie: str) -> str | None:
    """Returns the value of the cookie `session`; None when there is none."""
    return cookie_value(cookie, "session")


def cookie_value(cookie: str, wanted: str) -> str | None:
    """Returns the value of the cookie of this name; None when there is none."""
    for part in cookie.split(";") if cookie else ():
        name, _, value = part.strip().partition("=")
        if name == wanted and value:
            return value
    return None
