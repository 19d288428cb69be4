"""The recipes of docs/backup.md, as they stand there, while programs publish: dump, base backup, Litestream."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.backups import back_up_under_load, recipe, run_recipe
from tests.e2e.processes import one_line
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


CUTS = {
    "the tables alone": lambda toc: first(toc, "TABLE DATA"),
    "half of the rows": lambda toc: (first(toc, "TABLE DATA") + first(toc, "CONSTRAINT")) // 2,
    "all rows": lambda toc: first(toc, "CONSTRAINT"),
    "the primary keys": lambda toc: first(toc, "INDEX"),
    "half of the indexes": lambda toc: (first(toc, "INDEX") + first(toc, "FK CONSTRAINT")) // 2,
    "the indexes": lambda toc: first(toc, "FK CONSTRAINT"),
    "all but the last foreign key": lambda toc: len(toc) - 1,
}
"""The progress of a restore without a transaction that was cut off: how many entries of the dump."""


def first(toc: list[str], kind: str) -> int:
    """The place of the first entry of a kind."""
    return next(place for place, entry in enumerate(toc) if f" {kind} public " in entry)


@pytest.fixture(scope="module")
def dump(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump of a database with an account."""
    folder = tmp_path_factory.mktemp("dump")
    server = ServerProcess(folder, DATABASE_URL=postgres_server.create_database(f"whole_{os.getpid()}")).migrate()
    server.create_account()
    url = server.settings["DATABASE_URL"]
    run_recipe(
        'pg_dump --format=custom --file=pressroom.dump "$URL"; pg_restore --list pressroom.dump > toc', folder, URL=url
    )
    return folder


@pytest.mark.parametrize("cut", CUTS)
def test_restore_that_was_cut_off_is_not_served(
    dump: Path, postgres_server: PostgresServer, process_server: MakeServer, cut: str
) -> None:
    toc = [line for line in (dump / "toc").read_text().splitlines() if not line.startswith(";")]
    (dump / "cut").write_text("\n".join(toc[: CUTS[cut](toc)]))
    url = postgres_server.create_database(f"cut_{os.getpid()}_{[*CUTS].index(cut)}")
    run_recipe('pg_restore --no-owner --use-list=cut --dbname="$URL" pressroom.dump', dump, URL=url)
    server = process_server(DATABASE_URL=url)

    refusal = one_line(server, "migrate")
    assert "restore into it was cut off" in refusal or "is not whole: it lacks the " in refusal
    assert "migrate" in one_line(server, "serve") or one_line(server, "serve") == refusal
    assert "bad  database" in server.command("doctor", check=False).stdout


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
