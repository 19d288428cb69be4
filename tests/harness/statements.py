"""Every statement of the product and its benchmarks, found where it stands."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType

import benchmarks

import pressroom
from pressroom.db import Command

ALONE = {
    "pressroom.operations.doctor.INTEGRITY": "sqlite",
    "pressroom.operations.doctor.SERVER_TIME": "postgres",
    "pressroom.db.migrate.HAS_TABLE[sqlite]": "sqlite",
    "pressroom.db.migrate.HAS_TABLE[postgres]": "postgres",
    **{
        f"pressroom.db.schema.{name}[{engine}]": engine
        for name in ("COLUMNS", "INDEXES", "REFERENCES")
        for engine in ("sqlite", "postgres")
    },
    **{f"pressroom.domains.search.queries.INSERT_INDEXED[{engine}]": engine for engine in ("sqlite", "postgres")},
    **{
        f"pressroom.domains.search.queries.{name}": "sqlite"
        for name in ("DELETE_WORDS", "EMPTY_WORDS", "FIND_NEWEST", "FIND_OLDEST", "INSERT_WORDS")
    },
    "pressroom.domains.search.queries.FIND_IN_SPANS": "postgres",
    "pressroom.db.postgres.partitions.TABLES": "postgres",
    "pressroom.db.postgres.replica.REPLAYED": "postgres",
    "pressroom.db.postgres.partitions.PARTITIONS": "postgres",
    "benchmarks.growth.BACKEND": "postgres",
    "benchmarks.partitions.SIZE": "postgres",
}
"""Statements of one engine alone."""


def modules() -> Iterator[ModuleType]:
    """Yields every module of the product and its benchmarks; none does anything when it is imported."""
    for package in (pressroom, benchmarks):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def statements(engine: str | None = None) -> dict[str, Command]:
    """Returns each statement under the name of its constant or function: all, or those for `engine`."""
    found: dict[int, tuple[str, Command]] = {}
    for module in modules():
        for name, value in vars(module).items():
            for label, command in _commands(f"{module.__name__}.{name}", value):
                # Where a statement is imported it stands again; it is named for the queries that it is defined in.
                known = found.get(id(command))
                if known is None or ("queries" in label and "queries" not in known[0]):
                    found[id(command)] = (label, command)
    return {name: command for name, command in found.values() if engine is None or ALONE.get(name, engine) == engine}


def _commands(name: str, value: object) -> Iterator[tuple[str, Command]]:
    if isinstance(value, Command):
        yield name, value
    elif isinstance(value, FunctionType) and isinstance(declared := getattr(value, "statement", None), Command):
        yield f"{value.__module__}.{value.__name__}", declared  # declared by pressroom.db.sql
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _commands(f"{name}[{key}]", each)
    elif isinstance(value, (tuple, list)):
        for place, each in enumerate(value):
            yield from _commands(f"{name}[{place}]", each)
