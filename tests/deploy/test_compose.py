"""The processes of compose.yaml, run with its environment and commands; addresses alone are replaced."""

import os
import re
import subprocess
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest

from tests.deploy.examples import DEPLOY, VARIABLES, composed, environment, services
from tests.e2e.processes import serves
from tests.harness.beside import Command
from tests.harness.process import ServerProcess
from tests.services.ports import free_port
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


def test_the_store_is_reached_where_haproxy_listens() -> None:
    endpoint = environment(services()["api1"], VARIABLES)["PRESSROOM_BLOBS_URL"].partition("endpoint=")[2]
    assert endpoint.startswith(f"https://{VARIABLES['MEDIA_HOST']}&")
    assert re.search(r"^    bind :443 ssl ", (DEPLOY / "haproxy.cfg").read_text("utf-8"), re.MULTILINE)
    assert services()["haproxy"]["networks"]["inside"]["aliases"] == ["${MEDIA_HOST:?}"]
    assert services()["haproxy"]["ports"] == ["80:80", "443:443"]


def test_no_other_service_is_given_the_address_of_haproxy() -> None:
    (given,) = composed()["networks"]["inside"]["ipam"]["config"]
    haproxy = IPv4Address(services()["haproxy"]["networks"]["inside"]["ipv4_address"])
    assert haproxy in IPv4Network(given["subnet"])
    assert haproxy not in IPv4Network(given["ip_range"])
    assert IPv4Network(given["ip_range"]).subnet_of(IPv4Network(given["subnet"]))


def test_the_standby_is_waited_for_once_the_database_is_made(tmp_path: Path) -> None:
    # The image of PostgreSQL makes the database on a server that has the command's options, and no standby yet.
    assert "synchronous_standby_names" not in " ".join(services()["primary"]["command"])
    subprocess.run(
        ["bash", DEPLOY / "compose" / "allow-standby.sh"], env={**os.environ, "PGDATA": str(tmp_path)}, check=True
    )
    assert (tmp_path / "postgresql.conf").read_text() == "synchronous_standby_names = 'ANY 1 (standby)'\n"
    assert "application_name=standby" in (DEPLOY / "compose" / "start-standby.sh").read_text("utf-8")
    # A server that only makes the database listens on its socket alone.
    assert "-h" in services()["primary"]["healthcheck"]["test"]


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
