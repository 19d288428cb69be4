"""The heads of requests: the bytes that go before a body. Pure."""

import re
from collections.abc import Mapping
from typing import Final, Literal

Method = Literal["GET", "POST"]
"""The methods that are sent. An answer to a HEAD ends with its head, which is not looked at here."""

DEFAULTS: Final = {
    "accept": "Accept: */*",
    "accept-encoding": "Accept-Encoding: identity",
    "user-agent": "User-Agent: Pressroom",
}
"""Lines of headers that are sent unless others take their place, by names in lower case."""

_ENDS_A_LINE: Final = re.compile("[\r\n\0]")


def request_head(method: Method, path: str, host: str, headers: Mapping[str, str], length: int | None) -> bytes:
    """Returns the head of a request, up to the empty line. Raises ValueError for a header that would end its line.

    Args:
        method: As it is sent.
        path: With its query, as it is sent.
        host: With its port, unless that is the scheme's.
        headers: One of DEFAULTS is left out when its name is among these, in any case.
        length: Bytes of the body; None when there is none.
    """
    lines = [*(DEFAULTS | {name.lower(): f"{name}: {value}" for name, value in headers.items()}).values()]
    if _ENDS_A_LINE.search("".join(lines)):
        raise ValueError("a header holds the end of a line")
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "\r\n"]).encode()
