"""docs/reliability.md has a row for each fault that a test observes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hostile import names

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reliability.md"


def faults() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Each call of `observe`: its place, and the pattern of its rows' names."""
    for path in sorted(TESTS.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "observe":
                yield f"{path.relative_to(TESTS.parent)}:{node.lineno}", pattern(node.args[0], tree)


def pattern(name: ast.expr, module: ast.Module) -> re.Pattern[str]:
    """The possible texts of a literal or an f-string; a name stands for any text of its module."""
    match name:
        case ast.Constant(value=str(text)):
            return re.compile(re.escape(text))
        case ast.JoinedStr(values=parts):
            return re.compile("".join(re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".+" for p in parts))
        case _:
            texts = {str(n.value) for n in ast.walk(module) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
            return re.compile("|".join(map(re.escape, sorted(texts))))


def rows() -> list[str]:
    """The faults that the page names."""
    lines = PAGE.read_text("utf-8").partition("## Attacks")[0].splitlines()
    cells = [line.removeprefix("| ").split(" | ")[0] for line in lines if line.startswith("| ")]
    return [cell.replace("\\|", "|") for cell in cells[2:]]


def test_each_fault_that_a_test_observes_has_its_row() -> None:
    shown = rows()
    missing = [where for where, fault in faults() if not any(fault.fullmatch(row) for row in shown)]
    assert missing == [], "run `make reliability`"


def test_each_attack_has_its_row() -> None:
    table = PAGE.read_text("utf-8").partition("## Attacks")[2]
    assert [name for name in names().values() if f"| {name} |" not in table] == [], "run `benchmarks.hostile --page`"
