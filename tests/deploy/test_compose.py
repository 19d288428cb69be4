"""The processes of compose.yaml, run with its environment and commands; addresses alone are replaced."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.deploy.examples import VARIABLES, environment, services
from tests.e2e.processes import serves
from tests.harness.beside import Command
from tests.harness.process import ServerProcess, free_port
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer


@pytest.fixture
def replaced(
    tmp_path: Path, postgres_server: PostgresServer, redis_server: RedisServer
) -> Callable[[str], dict[str, object]]:
    """The settings of a service, whose addresses lead to the servers of the tests."""
    url = postgres_server.create_database("composed")

    def settings(name: str) -> dict[str, object]:
        given = environment(services()[name], VARIABLES)
        ours = {key.removeprefix("PRESSROOM_"): value for key, value in given.items() if key.startswith("PRESSROOM_")}
        for key in [key for key in ours if key.startswith("DATABASE_") and key.endswith("URL")]:
            assert "secret@" in ours[key]
            ours[key] = url
        return {
            **ours,
            "REDIS_URL": redis_server.url,
            "BLOBS_URL": f"file://{tmp_path}/blobs",
            "METRICS_PORT": free_port(),
            "METRICS_HOST": "127.0.0.1",
            "DRAIN_SECONDS": 0,
        }

    return settings


def test_migrate_serve_and_deliver(
    process_server: Callable[..., ServerProcess], replaced: Callable[[str], dict[str, object]]
) -> None:
    ours = services()
    migrating = process_server(**replaced("migrate"))
    migrating.command(*ours["migrate"]["command"])
    api = process_server(**replaced("api1"))
    serve, *options = ours["api1"]["command"]
    assert serve == "serve"
    api.start(*options)
    assert serves(api)
    worker = process_server(**replaced("worker1"))
    with Command(worker, *ours["worker1"]["command"], ready="delivering"):
        pass
    assert api.stop() == 0
