"""The tests lie where docs/development.md says: suites by what they speak, the others as `src` does."""

import ast
from pathlib import Path

TESTS = Path(__file__).parent
MODULES = sorted(TESTS.rglob("test_*.py"))


def imported(module: Path) -> set[str]:
    """The dotted names that a module imports, or imports from."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module or ''}.{alias.name}" for alias in node.names}
    return names


def test_no_module_imports_from_a_test_module() -> None:
    importers = {
        str(path.relative_to(TESTS)): sorted(found)
        for path in TESTS.rglob("*.py")
        if (found := {name for name in imported(path) if any(part.startswith("test_") for part in name.split("."))})
    }
    assert importers == {}, "what tests share lies in a module beside them that is no test, or in tests/harness"


def test_each_module_says_what_it_tests() -> None:
    silent = [
        str(path.relative_to(TESTS)) for path in MODULES if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == [], "these need a docstring"
