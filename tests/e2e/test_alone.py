"""Without Redis one process counts the limits: a second never serves the same database beside it."""

from collections.abc import Callable

from tests.e2e.processes import one_line, serves
from tests.harness.process import ServerProcess
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until


def test_a_server_stays_alone_when_postgres_was_killed(
    roomy_server: Callable[..., ServerProcess], mortal_postgres: PostgresServer
) -> None:
    url = mortal_postgres.create_database("alone")
    first = roomy_server(DATABASE_URL=url).start()
    second = roomy_server(DATABASE_URL=url)

    mortal_postgres.kill()
    mortal_postgres.restart()
    second.launch()

    assert wait_until(lambda: second.ended or serves(second))
    assert wait_until(lambda: not (serves(first) and serves(second)), 5), "both serve"
    assert wait_until(lambda: serves(first) or serves(second)), "neither serves"


def test_migrate_beside_a_server_on_sqlite_is_refused(
    process_server: Callable[..., ServerProcess],
) -> None:
    server = process_server().start()
    assert "pressroom.db is being served" in one_line(server, "migrate")
    server.stop()
    assert "up to date" in server.command("migrate").stdout
