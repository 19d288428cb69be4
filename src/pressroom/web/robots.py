"""The robots.txt, made from the routes (RFC 9309). Pure."""

import re
from collections.abc import Iterable
from typing import Any, Final

from pressroom.web.access import Page
from pressroom.web.routing import Route

BESIDE: Final = ("/api/", "/login", "/oembed")
"""Paths for programs and sign-in, which need no session and have nothing to read."""

_PARAMETER: Final = re.compile(r"\{\w+\}")


def robots_of(routes: Iterable[Route[Any]]) -> str:
    """Returns a robots.txt that leaves out every page of `routes` that demands a session.

    A parameter of a path becomes `*`; paths below one that is left out already are not named again.
    """
    owned = {route.path for route in routes if route.method == "GET" and isinstance(route.access, Page)}
    paths: list[str] = []
    for path in sorted({*BESIDE, *(_PARAMETER.sub("*", each) for each in owned)}):
        if not any(path.startswith(f"{above.removesuffix('/')}/") for above in paths):
            paths.append(path)
    return "".join(["User-agent: *\n", *(f"Disallow: {path}\n" for path in paths)])
