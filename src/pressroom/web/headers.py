"""The headers of a request, read in one pass."""

from typing import Any, Final

import msgspec

from pressroom.web.asgi import HeaderList

REPEATED: Final = "\n"
"""Joins the values of a header that must not be repeated. No value can contain it, so none of these passes as valid."""

_LENGTH: Final = "content_length"
_CODINGS: Final = "chunked"

_READ: Final = {
    b"accept": ("accept", ", "),
    b"accept-encoding": ("accept_encoding", ", "),
    b"authorization": ("authorization", REPEATED),
    b"content-encoding": ("content_encoding", REPEATED),
    b"content-length": (_LENGTH, REPEATED),
    b"content-type": ("content_type", REPEATED),
    b"cookie": ("cookie", "; "),
    b"host": ("host", REPEATED),
    b"idempotency-key": ("idempotency_key", REPEATED),
    b"if-none-match": ("if_none_match", ", "),
    b"if-range": ("if_range", REPEATED),
    b"last-event-id": ("last_event_id", REPEATED),
    b"origin": ("origin", REPEATED),
    b"range": ("range", REPEATED),
    b"sec-fetch-site": ("fetch_site", REPEATED),
    b"transfer-encoding": (_CODINGS, ", "),
    b"user-agent": ("user_agent", " "),
    b"x-forwarded-for": ("forwarded_for", ", "),
}
"""Every header that is read: its field of `Headers`, and the separator of its values when it is repeated."""


class Headers(msgspec.Struct):
    """The request headers that anything here reads. Values are Latin-1 text."""

    authorization: str | None = None
    cookie: str = ""
    content_type: str | None = None
    content_encoding: str | None = None
    content_length: int | None = None
    chunked: bool = False
    idempotency_key: str | None = None
    forwarded_for: str | None = None
    fetch_site: str | None = None
    origin: str | None = None
    host: str = ""
    range: str | None = None
    if_range: str | None = None
    if_none_match: str | None = None
    accept: str = ""
    accept_encoding: str = ""
    last_event_id: str = ""
    user_agent: str = ""

    def accepts(self, media_type: str) -> bool:
        """Returns whether the client names this type among those that it accepts."""
        return any(each.partition(";")[0].strip().lower() == media_type for each in self.accept.split(","))

    @property
    def announces_body(self) -> bool:
        """Whether the request has a body of at least one byte, or may have one."""
        return bool(self.content_length) or self.chunked


def read_headers(received: HeaderList) -> Headers:
    """Returns the used headers of a request, whose names are in lower case."""
    found: dict[str, Any] = {}
    for name, value in received:
        if (read := _READ.get(name)) is not None:
            field, joined_by = read
            text = value.decode("latin-1")
            found[field] = f"{found[field]}{joined_by}{text}" if field in found else text
    if (length := found.get(_LENGTH)) is not None:
        found[_LENGTH] = int(length) if length.isdigit() else None
    if _CODINGS in found:
        found[_CODINGS] = True
    return Headers(**found)


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
