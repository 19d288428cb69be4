"""The units for systemd: well-formed, hardened alike, and their command lines run."""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pressroom.settings.files import SYSTEM
from tests.deploy.examples import DEPLOY, PROGRAM, UNITS, lines_of, unit_environment
from tests.harness.beside import Command
from tests.harness.process import ServerProcess
from tests.services.ports import free_port
from tests.services.postgres import PostgresServer
from tests.services.programs import found
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]


@pytest.mark.parametrize("unit", [*UNITS, *DEPLOY.glob("*.timer")], ids=lambda unit: unit.name)
def test_systemd_finds_nothing_wrong(unit: Path) -> None:
    if (program := found("systemd-analyze")) is None:
        pytest.skip("systemd-analyze is not installed")
    done = subprocess.run([program, "verify", unit], capture_output=True, text=True, timeout=60, check=False)
    # The program itself is not in /opt here.
    complaints = [line for line in done.stderr.splitlines() if "is not executable" not in line and unit.name in line]
    assert complaints == []


def test_all_are_confined_alike() -> None:
    names = ("Protect", "Private", "Restrict", "System", "Lock", "NoNew", "Capability", "UMask")
    confined = {unit.name: sorted(line for line in lines_of(unit) if line[0].startswith(names)) for unit in UNITS}
    assert len(confined) == 4
    assert len(confined["pressroom.service"]) > 15
    assert all(lines == confined["pressroom.service"] for lines in confined.values())


def command_of(name: str) -> list[str]:
    """The words after the program in a unit's command line."""
    line = dict(lines_of(DEPLOY / name))["ExecStart"]
    program, *words = shlex.split(line)
    assert program == PROGRAM
    return words


def settings_of(name: str) -> dict[str, object]:
    """What a unit sets itself beside the common file, its ports replaced."""
    given = {key.removeprefix("PRESSROOM_"): value for key, value in unit_environment(DEPLOY / name).items()}
    assert given.pop("CONFIG") == str(SYSTEM)
    return {**given, **({"METRICS_PORT": free_port()} if "METRICS_PORT" in given else {})}


def test_the_api_and_the_worker_run(
    roomy_server: MakeServer, postgres_server: PostgresServer, redis_server: RedisServer
) -> None:
    shared = {"DATABASE_URL": postgres_server.create_database("units"), "REDIS_URL": redis_server.url}
    api = roomy_server(**shared, **settings_of("pressroom-api.service") | {"DRAIN_SECONDS": 0})
    words = command_of("pressroom-api.service")
    assert words[0] == "serve"
    api.start(*words[1:])
    beside = ServerProcess(api.folder / "worker", **{**api.settings, **settings_of("pressroom-worker.service")})
    with Command(beside, *command_of("pressroom-worker.service"), ready="delivering"):
        pass
    assert api.stop() == 0


def test_a_single_machine_runs_and_is_backed_up(roomy_server: MakeServer) -> None:
    server = roomy_server(**settings_of("pressroom.service"))
    words = command_of("pressroom.service")
    server.start(*words[1:])
    line = dict(lines_of(DEPLOY / "pressroom-backup.service"))["ExecStart"]
    words = line.removeprefix(f"{PROGRAM} ").split()
    assert line.startswith(f"{PROGRAM} backup --into ${{BACKUPS_DIRECTORY}} ")
    server.command(*(word.replace("${BACKUPS_DIRECTORY}", "backups") for word in words))
    assert len(list(server.folder.glob("backups/*/manifest.json"))) == 1
    assert server.stop() == 0
