"""A schema that a later version made is served by the version before, and refused by one that is older still."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pressroom.db.migrate import newest_schema
from tests.conftest import database_settings
from tests.e2e.processes import one_line, serves
from tests.harness import versions
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import ask

MakeServer = Callable[..., ServerProcess]

OWN = newest_schema()
TWO_VERSIONS_ON = {**versions.LATER, "another": f"UPDATE oldest_program SET schema_version = {OWN + 1};"}  # noqa: S608  # a number


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_program_that_crashed_is_started_again_on_the_schema_of_the_next_version(
    process_server: MakeServer, request: pytest.FixtureRequest, tmp_path: Path, engine: str
) -> None:
    shared = {**ROOMY, **database_settings(request, engine), "DATA_DIR": tmp_path / "data"}
    server = process_server(**shared).start()
    key = Owner(server).key()
    server.kill()

    following = versions.of(versions.later_source(tmp_path / "next", versions.LATER), process_server(**shared))
    assert following.command("migrate").stdout.endswith("The database is up to date.\n")
    assert rows(server, "SELECT max(version) FROM schema_migrations") == [(OWN + 1,)]
    server.start()
    assert serves(server)
    assert ask(publish(server, key, "On a newer schema.", "once")).status == 201
    assert ask(publish(server, key, "On a newer schema.", "once")).status == 200
    assert f"schema {OWN + 1} (this version's is {OWN}, and it may serve)" in server.command("doctor").stdout
    server.kill()
    assert server.command("migrate").stdout == "The database is up to date.\n"
    assert following.start().stop() == 0, "which begins with what the older one wrote"
    assert rows(server, "SELECT content, language FROM posts") == [("On a newer schema.", None)]


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_program_two_versions_back_refuses_to_start(
    process_server: MakeServer, request: pytest.FixtureRequest, tmp_path: Path, engine: str
) -> None:
    shared = {**ROOMY, **database_settings(request, engine), "DATA_DIR": tmp_path / "data"}
    server = process_server(**shared)
    versions.of(versions.later_source(tmp_path / "later", TWO_VERSIONS_ON), process_server(**shared)).command("migrate")
    too_new = f"The database is at schema {OWN + 2}, newer than this version knows ({OWN}): upgrade Pressroom."
    for command in (["serve"], ["migrate"], ["stats"]):
        assert too_new in one_line(server, *command)
    assert too_new in server.command("doctor", check=False).stdout
    assert rows(server, "SELECT count(*) FROM accounts") == [(0,)]


@pytest.mark.skipif(versions.absent() is not None, reason=str(versions.absent()))
def test_the_oldest_program_that_may_serve_is_the_version_before(process_server: MakeServer) -> None:
    server = process_server()
    server.command("migrate")
    assert rows(server, "SELECT schema_version FROM oldest_program") == [(versions.previous_schema(),)]
