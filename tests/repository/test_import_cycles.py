"""No module imports itself by way of others: each can be the first that is imported."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"


def modules() -> dict[str, Path]:
    """Returns every module of the package with its file."""
    files = (SRC / "pressroom").rglob("*.py")
    return {".".join(file.with_suffix("").relative_to(SRC).parts).removesuffix(".__init__"): file for file in files}


def imported(file: Path, known: dict[str, Path]) -> set[str]:
    """Returns the modules that a module imports when it is imported itself."""
    found: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{name.name}" for name in node.names}
            found |= {name if name in known else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found & known.keys()


def test_modules_import_each_other_in_one_direction() -> None:
    known = modules()
    graph = {name: imported(file, known) - {name} for name, file in known.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None

    assert len(order) > 400
