"""The benchmarks are run by hand: here they are only held to names that exist."""

import importlib
import pkgutil

import benchmarks
import pytest

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", [*MODULES, "benchmarks.__main__"])
def test_every_module_of_the_benchmarks_can_be_imported(name: str) -> None:
    importlib.import_module(name)
