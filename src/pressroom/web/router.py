"""Finding the routes of a path."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Generic, TypeVar
from urllib.parse import unquote

from pressroom.web.routing import Route

C = TypeVar("C")

Methods = dict[str, Route[C]]


class Router(Generic[C]):
    """All routes, by path. A path is taken to the letter: neither slashes nor case are forgiven."""

    def __init__(self, routes: Sequence[Route[C]]) -> None:
        self._plain: dict[str, Methods[C]] = {}
        self._patterns: defaultdict[int, list[tuple[list[str], Methods[C]]]] = defaultdict(list)
        by_path: defaultdict[str, Methods[C]] = defaultdict(dict)
        for route in routes:
            by_path[route.path][route.method] = route
        for path, methods in by_path.items():
            if "GET" in methods:
                methods["HEAD"] = methods["GET"]
            if "{" in path:
                segments = path.split("/")
                self._patterns[len(segments)].append((segments, methods))
            else:
                self._plain[path] = methods

    def find(self, path: str, raw_path: bytes) -> tuple[Methods[C], dict[str, str]] | None:
        """The routes of a path by their methods, and its parameters: `{keyId}` is one whole segment, not empty."""
        if "\0" in path:
            return None
        encoded_slash = b"%2f" in raw_path.lower()
        if not encoded_slash and (methods := self._plain.get(path)) is not None:
            return methods, {}
        given = [unquote(part) for part in raw_path.decode("latin-1").split("/")] if encoded_slash else path.split("/")
        for segments, methods in self._patterns.get(len(given), ()):
            if (parameters := _match(segments, given)) is not None:
                return methods, parameters
        return None


def _match(segments: list[str], given: list[str]) -> dict[str, str] | None:
    parameters: dict[str, str] = {}
    for segment, part in zip(segments, given, strict=True):
        if segment.startswith("{") and part:
            parameters[segment[1:-1]] = part
        elif segment != part:
            return None
    return parameters
