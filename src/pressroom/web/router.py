"""Finds the routes of a path."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, Generic, TypeVar
from urllib.parse import unquote

from pressroom.web.routing import Route

C = TypeVar("C")

TOKEN: Final = "{token}"  # noqa: S105  # a parameter's name
"""The parameter that is a secret: it opens the file."""

Methods = dict[str, Route[C]]
_Segment = tuple[str, str | None]
"""The beginning of a segment, and the name of the parameter that follows; None: nothing follows."""


class Router(Generic[C]):
    """All routes, by path. Paths must match exactly, in slashes and in case.

    `{keyId}` matches one whole segment that is not empty, `@{username}` one that begins with @.
    """

    def __init__(self, routes: Sequence[Route[C]]) -> None:
        self._plain: dict[str, Methods[C]] = {}
        self._patterns: defaultdict[int, list[tuple[list[_Segment], Methods[C]]]] = defaultdict(list)
        self._before_tokens = tuple({route.path.partition(TOKEN)[0] for route in routes if TOKEN in route.path})
        by_path: defaultdict[str, Methods[C]] = defaultdict(dict)
        for route in routes:
            by_path[route.path][route.method] = route
        for path, methods in by_path.items():
            if "GET" in methods:
                methods["HEAD"] = methods["GET"]
            if "{" in path:
                segments = [_segment(part) for part in path.split("/")]
                self._patterns[len(segments)].append((segments, methods))
            else:
                self._plain[path] = methods

    def find(self, path: str, raw_path: bytes) -> tuple[Methods[C], dict[str, str]] | None:
        """Returns the routes of a path, by method, and its parameters; None when there are none."""
        # PostgreSQL takes no NUL in a text, and would fail where a parameter is looked up.
        if "\0" in path:
            return None
        # In the decoded path, a slash within a segment looks like one between two.
        encoded_slash = b"%2f" in raw_path.lower()
        if not encoded_slash and (methods := self._plain.get(path)) is not None:
            return methods, {}
        given = [unquote(part) for part in raw_path.decode("latin-1").split("/")] if encoded_slash else path.split("/")
        for segments, methods in self._patterns.get(len(given), ()):
            if (parameters := _match(segments, given)) is not None:
                return methods, parameters
        return None

    def has_page(self, path: str) -> bool:
        """Returns whether GET is served at a path."""
        found = self.find(path, path.encode())
        return found is not None and "GET" in found[0]

    def without_token(self, path: str) -> str:
        """Returns the path as it may be logged: without a token and all that follows it.

        Misspelt addresses are cut too (`//media/…`, `/Media/…`): the token in them would open the file.
        """
        if path in self._plain:
            return path
        folded = path.lower()
        for before in self._before_tokens:
            if (at := folded.find(before)) >= 0:
                return f"{path[: at + len(before)]}[token]"
        return path


def _segment(part: str) -> _Segment:
    """`keys` → ("keys", None), `@{username}` → ("@", "username")."""
    prefix, brace, name = part.partition("{")
    return prefix, name.removesuffix("}") if brace else None


def _match(segments: list[_Segment], given: list[str]) -> dict[str, str] | None:
    parameters: dict[str, str] = {}
    for (prefix, name), part in zip(segments, given, strict=True):
        if name is None:
            if part != prefix:
                return None
        elif len(part) > len(prefix) and part.startswith(prefix):
            parameters[name] = part[len(prefix) :]
        else:
            return None
    return parameters
