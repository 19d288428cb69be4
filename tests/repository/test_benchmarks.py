"""The benchmarks are run by hand: here they are held to names that exist, and the limit of the database to a create."""

import asyncio
import importlib
import pkgutil
from pathlib import Path

import benchmarks
import pytest
from benchmarks import limit_db
from benchmarks.drift import drift
from benchmarks.seed import seed

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", [*MODULES, "benchmarks.__main__"])
def test_every_module_of_the_benchmarks_can_be_imported(name: str) -> None:
    importlib.import_module(name)


def test_limit_of_the_database_executes_the_statements_of_a_create(tmp_path: Path) -> None:
    file = tmp_path / "pressroom.db"
    keys = asyncio.run(seed(file))
    assert asyncio.run(drift(tmp_path, keys[0])) == ""
    assert limit_db.run(file, keys, seconds=0.001).per_second > 0
