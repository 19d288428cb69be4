"""The tree of errors in `pressroom/errors.py` is whole."""

import re
from collections.abc import Iterator

from pressroom import errors
from tests.harness.statements import modules


def drawn() -> Iterator[tuple[str, str, str]]:
    """Yields each error of the drawing: its parent, its name and its module."""
    parents = {0: "PressroomError"}
    for line in (errors.__doc__ or "").splitlines():
        branch = re.search(r"[├└]── ", line)
        if branch is None:
            continue
        depth, says = branch.start() // 4, line[branch.end() :].partition("  ")[0]
        names, _, module = says.partition(" (")
        for name in names.split(" · "):
            yield parents[depth], name, f"pressroom.{module.rstrip(')') or 'errors'}"
        parents[depth + 1] = names


def made(parent: type[errors.PressroomError]) -> Iterator[tuple[str, str, str]]:
    """Yields every error of the tree."""
    for error in parent.__subclasses__():
        if error.__module__.startswith("pressroom."):
            yield parent.__name__, error.__name__, error.__module__
            yield from made(error)


def test_every_error_stands_in_the_tree() -> None:
    assert len(list(modules())) > 1  # all are loaded
    assert sorted(drawn()) == sorted(made(errors.PressroomError))
