"""The servers that tests of faults rely on: a cluster that fails over, poolers and proxies that can be broken."""

from pathlib import Path

import asyncpg
import pytest

from . import haproxy, pgbouncer, toxiproxy
from .haproxy import HAProxy
from .kinds import needs_postgres, query
from .pgbouncer import PgBouncer
from .ports import free_port
from .postgres import PostgresServer
from .postgres_cluster import PostgresCluster
from .process import ServerFailedError, wait_until
from .toxiproxy import Toxiproxy

needs_pgbouncer = pytest.mark.skipif(pgbouncer.available() is not None, reason=str(pgbouncer.available()))
needs_haproxy = pytest.mark.skipif(haproxy.available() is not None, reason=str(haproxy.available()))
needs_toxiproxy = pytest.mark.skipif(toxiproxy.available() is not None, reason=str(toxiproxy.available()))


def has(url: str) -> bool:
    """Tell whether the database has the second row."""
    try:
        return query(url, "SELECT count(*) FROM note WHERE id = 2") == 1
    except (OSError, asyncpg.PostgresError):
        return False


@needs_postgres
def test_a_cluster_fails_over_twice_and_its_old_primary_comes_back(tmp_path: Path) -> None:
    with PostgresCluster.start(tmp_path) as cluster:
        first, others = cluster.primary, list(cluster.standbys)
        query(first.url, "CREATE TABLE note AS SELECT 1 AS id")
        assert [node.is_standby() for node in cluster.nodes] == [False, True, True]

        first.crash()
        second = cluster.fail_over()
        assert second in others
        query(second.url, "INSERT INTO note VALUES (2)")  # The other standby has it, or this would not return.
        assert query(cluster.standbys[0].url, "SELECT pg_is_in_recovery()") is True

        first.start_again()
        assert not has(first.url)
        assert not first.is_standby()

        second.freeze()
        third = cluster.fail_over()
        assert has(third.url)
        second.thaw()


@needs_postgres
@needs_pgbouncer
@pytest.mark.parametrize("mode", ["session", "transaction"])
def test_a_pooler_leads_to_the_server_it_is_pointed_at(mode: pgbouncer.PoolMode, tmp_path: Path) -> None:
    with PostgresServer.start(tmp_path / "one") as one, PostgresServer.start(tmp_path / "two") as two:
        query(two.url, "CREATE TABLE note AS SELECT 2 AS id")
        with PgBouncer.start(tmp_path / "bouncer", one.port, mode=mode) as bouncer:
            assert query(bouncer.url, "SELECT 1") == 1
            assert not has(bouncer.url)
            one.kill()
            bouncer.point_at(two.port)
            assert wait_until(lambda: has(bouncer.url))


@needs_haproxy
def test_balancer_can_take_a_server_out(tmp_path: Path) -> None:
    nowhere = [free_port(), free_port()]
    with HAProxy.start(tmp_path / "haproxy", haproxy.before(nowhere)) as balancer:
        balancer.admin("set server pressroom/node0 state maint")
        states = balancer.admin("show servers state").splitlines()
        admin_states = [line.split()[6] for line in states if "node" in line]
        assert admin_states == ["1", "0"]


@needs_postgres
@needs_toxiproxy
def test_a_link_can_be_cut_mended_and_poisoned(tmp_path: Path) -> None:
    with PostgresServer.start(tmp_path / "one") as server, Toxiproxy.start(tmp_path / "toxiproxy") as proxy:
        link = proxy.link(server.port)
        url = server.url.replace(str(server.port), str(link.port))
        assert query(url, "SELECT 1") == 1
        link.cut()
        with pytest.raises(ConnectionRefusedError):
            query(url, "SELECT 1")
        link.mend()
        toxic = link.poison("reset_peer", timeout=0)
        with pytest.raises((OSError, asyncpg.PostgresConnectionError)):
            query(url, "SELECT 1")
        link.cure(toxic)
        assert query(url, "SELECT 1") == 1
        with pytest.raises(ServerFailedError):
            link.cure(toxic)
