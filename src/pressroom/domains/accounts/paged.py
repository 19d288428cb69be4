"""Where a page of a list begins, by the address of the page. Pure."""

import re
from typing import Final
from urllib.parse import parse_qsl

from pressroom.ids import BEYOND

_ID: Final = re.compile(r"[0-9A-Z]{26}")


def cursor_of(query: str) -> tuple[str, bool]:
    """Returns the id that all of the page come before, and whether it is the first page.

    What is no id counts as not given.
    """
    before = dict(parse_qsl(query)).get("before", "")
    return (before, False) if _ID.fullmatch(before) else (BEYOND, True)
