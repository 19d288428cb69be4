"""One server for each module and engine, and people of their own for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pressroom.domains.keys.models import Scope
from tests.api.actors import Actor
from tests.conftest import database_settings
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

MakeActor = Callable[..., Actor]

one_engine = pytest.mark.parametrize("server", ["sqlite"], indirect=True)
"""Marks what never gets as far as the database, or is the same there whatever the engine."""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A server that the module's tests share, with the settings that the module names SETTINGS."""
    settings = {**getattr(request.module, "SETTINGS", {}), **database_settings(request, request.param)}
    server = LocalServer(tmp_path_factory.mktemp("server"), **settings).start()
    yield server
    server.stop()


@pytest.fixture
def twins(
    request: pytest.FixtureRequest, tmp_path: Path, engine_settings: dict[str, object]
) -> Iterator[tuple[LocalServer, LocalServer]]:
    """Two servers over one database and one store, which write nothing behind by themselves but what limits count.

    They have the settings that the module names SETTINGS.
    """
    given: dict[str, object] = getattr(request.module, "SETTINGS", {})
    settings = {**ROOMY, **given, "DATA_DIR": tmp_path / "data", **engine_settings}
    first, second = (LocalServer(tmp_path / name, **settings).start() for name in ("first", "second"))
    for each in (first, second):
        each.keep_still()
    yield first, second
    for each in (first, second):
        each.stop()


@pytest.fixture
def actor(server: LocalServer) -> Iterator[MakeActor]:
    """Makes accounts of their own, each with a key and a session: `actor(Scope.POSTS_WRITE)`."""
    made: list[Actor] = []

    def make(*scopes: Scope, **key: object) -> Actor:
        made.append(Actor(server, *scopes, **key))
        return made[-1]

    yield make
    for each in made:
        for client in each.clients():
            client.close()


@pytest.fixture
def alice(actor: MakeActor) -> Actor:
    """Somebody whose key has every scope."""
    return actor()
