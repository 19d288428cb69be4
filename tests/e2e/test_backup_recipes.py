"""The recipes of docs/backup.md, as they stand there, while programs publish: dump, base backup, Litestream."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.backups import back_up_under_load, recipe, run_recipe
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.services.base_backup import RestoredPostgres
from tests.services.postgres import PostgresServer

MakeServer = Callable[..., ServerProcess]

pytestmark = pytest.mark.skipif(shutil.which("tar") is None, reason="the recipes copy media with tar")


def media_of(server: ServerProcess) -> Path:
    """The folder of a server's media."""
    return Path(str(server.settings["DATA_DIR"])) / "blobs"


def without(script: str, *lines: str) -> str:
    """A recipe without lines that a test does itself; each must stand there."""
    for line in lines:
        assert f"{line}\n" in script
        script = script.replace(f"{line}\n", "")
    return script


def test_a_dump_under_load_holds_all_that_was_acknowledged_before_it(
    roomy_server: MakeServer, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    url = postgres_server.create_database(f"dumped_{os.getpid()}")
    server = roomy_server(DATABASE_URL=url).start()
    key = Owner(server).key("all", ("posts:write", "media:write"))
    given = {"PRESSROOM_DATABASE_URL": url, "MEDIA": media_of(server)}
    before = back_up_under_load(server, key, lambda: run_recipe(recipe("pg_dump"), tmp_path, **given))
    assert server.stop() == 0

    url = postgres_server.create_database(f"restored_{os.getpid()}")
    copy = roomy_server(DATABASE_URL="")
    copy.settings["DATABASE_URL"] = url
    back = without(recipe("pg_restore"), "createdb pressroom", "pressroom migrate")
    run_recipe(back, tmp_path, PRESSROOM_DATABASE_URL=url, MEDIA=media_of(copy))

    assert copy.command("migrate").returncode == 0
    before.check_held(copy.start(), key)
    before.observe("`pg_dump`")


def test_a_base_backup_under_load_holds_all_that_was_acknowledged_before_it(
    roomy_server: MakeServer, mortal_postgres: PostgresServer, tmp_path: Path
) -> None:
    url = mortal_postgres.create_database("pressroom")
    server = roomy_server(DATABASE_URL=url).start()
    key = Owner(server).key("all", ("posts:write", "media:write"))
    given = {"PRESSROOM_DATABASE_URL": url, "MEDIA": media_of(server)}
    before = back_up_under_load(server, key, lambda: run_recipe(recipe("pg_basebackup"), tmp_path, **given))
    assert server.stop() == 0
    mortal_postgres.kill()

    copy = roomy_server()
    # The wheel's pg_verifybackup crashes whatever it is asked, even for its version.
    ours = ("pg_verifybackup base", "pg_ctl --pgdata=base --log=base.log --wait start")
    run_recipe(without(recipe("pg_verifybackup"), *ours), tmp_path, MEDIA=media_of(copy))
    with RestoredPostgres.of(mortal_postgres, tmp_path / "base", tmp_path / "restored") as postgres:
        copy.settings["DATABASE_URL"] = postgres.database_url("pressroom")
        before.check_held(copy.start(), key)
        copy.kill()
    before.observe("`pg_basebackup`")
