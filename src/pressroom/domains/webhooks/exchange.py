"""The stored part of a receiver's answer (docs/webhooks.md#delivery-log). Pure."""

import re
from collections.abc import Mapping
from typing import Final

from pressroom.domains.webhooks.models import CodeClass

KEPT: Final = ("content-type", "server", "location", "retry-after")
"""Headers of an answer that are kept, in lower case."""

KEPT_BYTES: Final = 256
"""Of each value, how many bytes of UTF-8 are kept."""

# Controls, and what turns the direction of the text around it or cannot be seen.
_HARMFUL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

_CLASSES: Final = {
    2: CodeClass.SUCCESS,
    3: CodeClass.REDIRECT,
    4: CodeClass.CLIENT_ERROR,
    5: CodeClass.SERVER_ERROR,
}


def code_class(http_code: int | None) -> CodeClass:
    """Returns the class of an answer's code; NONE without an answer, and for a code that HTTP does not know."""
    return CodeClass.NONE if http_code is None else _CLASSES.get(http_code // 100, CodeClass.NONE)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns what is kept of an answer's headers: some of them, cut, without characters that harm a reader."""
    return {name: _kept(headers[name]) for name in KEPT if name in headers}


def _kept(value: str) -> str:
    start = value[:KEPT_BYTES]
    if not start.isascii():
        start = start.encode()[:KEPT_BYTES].decode("utf-8", "ignore")
    return start if start.isprintable() and start.isascii() else _HARMFUL.sub("\ufffd", start)
