"""A standby that pages are read from: it serves visitors who are not signed in, nobody else, and may fail."""

import time
from collections.abc import Callable

import pytest

from tests.e2e.processes import one_line
from tests.harness.observations import NONE_NEEDED, observe
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.wire import Reply, Request, ask
from tests.services.postgres import PostgresServer
from tests.services.postgres_cluster import PostgresCluster, PostgresNode
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]


def test_visitors_read_the_replica_and_nobody_else_does(cluster: PostgresCluster, roomy_server: MakeServer) -> None:
    standby = cluster.standbys[0]
    urls = {"DATABASE_URL": cluster.primary.create_database("copied"), "REPLICA_URL": standby.database_url("copied")}
    server = roomy_server(**urls)
    _wait_for_replay(cluster.primary, standby)
    server.start()
    alice = Owner(server)
    key = alice.key()
    post = ask(publish(server, key, "first words")).json()["id"]
    _stop_replay(cluster.primary, standby)

    assert _edit(server, key, post, "second words").status == 200
    later = ask(publish(server, key, "written since")).json()["id"]

    assert "first words" in _visit(server, post), "a visitor is not shown what the replica has"
    for feed in ("/@alice", "/@alice/feed.atom"):
        assert b"first words" in ask(Request(server.port, "GET", feed)).body
    assert "second words" in _visit(server, post, {"Cookie": alice.cookie})
    of_api = ask(Request(server.port, "GET", f"/api/posts/{post}", {"Authorization": f"Bearer {key}"}))
    assert of_api.json()["content"] == "second words"
    assert "written since" in _visit(server, later), "what the replica lacks is looked up in the primary"

    standby.query("SELECT pg_wal_replay_resume()")
    assert wait_until(lambda: "second words" in _visit(server, post))

    cluster.primary.set("synchronous_standby_names", "")
    standby.crash()
    assert _edit(server, key, post, "third words").status == 200
    assert "third words" in _visit(server, post)
    assert wait_until(lambda: "the replica failed" in server.output())
    observe(
        "the replica that pages are read from is killed",
        "visitors are served from the primary by the next request",
        NONE_NEEDED,
    )


def test_a_replica_that_is_away_at_the_start_keeps_nothing_from_being_served(
    cluster: PostgresCluster, roomy_server: MakeServer
) -> None:
    standby = cluster.standbys[0]
    urls = {"DATABASE_URL": cluster.primary.create_database("alone"), "REPLICA_URL": standby.database_url("alone")}
    server = roomy_server(**urls).migrate()
    cluster.primary.set("synchronous_standby_names", "")
    standby.crash()
    server.start()
    post = ask(publish(server, Owner(server).key(), "all the same")).json()["id"]

    assert "all the same" in _visit(server, post)


@pytest.mark.parametrize(
    ("replica", "words"),
    [
        ("sqlite:///other.db", "is not postgresql://"),
        ("postgresql://127.0.0.1:port/x", "is no address of a database"),
        ("{url}_absent", "does not exist"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(
    process_server: MakeServer, postgres_server: PostgresServer, replica: str, words: str
) -> None:
    url = postgres_server.create_database(f"without_replica_{time.monotonic_ns()}")
    server = process_server(DATABASE_URL=url).migrate()
    server.settings["REPLICA_URL"] = replica.format(url=url)

    said = one_line(server)

    assert words in said
    assert "PRESSROOM_REPLICA_URL" in said


def test_a_replica_of_sqlite_is_refused(process_server: MakeServer) -> None:
    assert "needs PostgreSQL" in one_line(process_server(REPLICA_URL="postgresql://127.0.0.1/x"))


def _wait_for_replay(primary: PostgresNode, standby: PostgresNode) -> None:
    """Waits until the standby shows all that the primary has by now."""
    written = primary.query("SELECT pg_current_wal_lsn()")
    assert wait_until(lambda: standby.query(f"SELECT pg_last_wal_replay_lsn() >= '{written}'::pg_lsn") == "t")


def _stop_replay(primary: PostgresNode, standby: PostgresNode) -> None:
    """Lets the standby come as far as the primary is, and no further."""
    _wait_for_replay(primary, standby)
    standby.query("SELECT pg_wal_replay_pause()")
    assert wait_until(lambda: standby.query("SELECT pg_get_wal_replay_pause_state()") == "paused")


def _edit(server: ServerProcess, key: str, post: str, content: str) -> Reply:
    headers = {"Authorization": f"Bearer {key}"}
    return ask(Request(server.port, "PATCH", f"/api/posts/{post}", headers, {"content": content}))


def _visit(server: ServerProcess, post: str, headers: dict[str, str] | None = None) -> str:
    """Returns the page of a post."""
    page = ask(Request(server.port, "GET", f"/post/{post}", headers or {}))
    assert page.status == 200, page
    return page.body.decode()
