"""Tests lie where docs/development.md#where-tests-lie says: from outside by what they speak, all others as in `src`."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src" / "pressroom"
FROM_OUTSIDE = {"api", "clients", "deploy", "e2e", "events", "fuzz", "media", "pages", "previews", "races", "webhooks"}
SHARED = {"corpus", "harness", "services"}
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


def test_each_module_has_a_docstring() -> None:
    silent = [
        str(path.relative_to(TESTS)) for path in MODULES if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == [], "these need a docstring"


def packages(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def test_a_folder_is_a_suite_from_outside_or_bears_the_name_of_a_package() -> None:
    assert packages(TESTS) - FROM_OUTSIDE - SHARED - {"repository"} <= packages(SOURCE)
    assert packages(TESTS / "domains") <= packages(SOURCE / "domains")


def test_a_module_in_no_folder_begins_with_the_name_of_one_in_no_package() -> None:
    modules = {path.stem for path in SOURCE.glob("*.py")}
    strange = [
        path.name
        for path in TESTS.glob("test_*.py")
        if not any(f"{path.stem}_".startswith(f"test_{module}_") for module in modules)
    ]
    assert strange == []
