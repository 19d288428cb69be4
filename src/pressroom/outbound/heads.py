"""The heads of requests: the bytes that go before a body. Pure."""

import re
from collections.abc import Mapping
from typing import Final

DEFAULTS: Final = {
    "accept": "Accept: */*",
    "accept-encoding": "Accept-Encoding: identity",
    "user-agent": "User-Agent: Pressroom",
}
"""Lines of headers that are sent unless others take their place, by names in lower case."""

_ENDS_A_LINE: Final = re.compile("[\r\n\0]")


def request_head(method: str, path: str, host: str, headers: Mapping[str, str], length: int | None) -> bytes:
    """Returns the head of a request whose body has so many bytes; None: it has no body.

    path: with its query, as it is sent. host: with its port, unless that is the scheme's. headers: take the place of
    DEFAULTS, in whatever case. Raises ValueError for a header that would end its line.
    """
    lines = [*(DEFAULTS | {name.lower(): f"{name}: {value}" for name, value in headers.items()}).values()]
    if _ENDS_A_LINE.search("".join(lines)):
        raise ValueError("a header holds the end of a line")
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "\r\n"]).encode()
