"""haproxy.cfg, run as it stands but for addresses: servers behind it are replaced without a failed request."""

import asyncio
import contextlib
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from tests.deploy.examples import DEPLOY
from tests.harness.observations import NONE_NEEDED, observe
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.records import count
from tests.harness.wire import Connection
from tests.services import haproxy
from tests.services.haproxy import HAProxy
from tests.services.ports import free_port
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]

CONFIG = DEPLOY / "haproxy.cfg"

CLIENTS = 4
PAUSE = 0.01
"""Seconds between two requests of a client."""

needs_haproxy = pytest.mark.skipif(haproxy.available() is not None, reason=str(haproxy.available()))


def changed(changes: dict[str, str]) -> str:
    """The configuration with parts of it replaced; each must be there."""
    text = CONFIG.read_text("utf-8")
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@needs_haproxy
def test_haproxy_finds_nothing_wrong(tmp_path: Path) -> None:
    pem = tmp_path / "site.pem"
    leaf = trustme.CA().issue_cert("social.example.org")
    leaf.private_key_and_cert_chain_pem.write_to_path(str(pem))
    (tmp_path / "haproxy.cfg").write_text(changed({"/etc/haproxy/site.pem": str(pem)}))
    done = subprocess.run(
        [str(haproxy.program()), "-c", "-f", str(tmp_path / "haproxy.cfg")],
        env={**os.environ, "MEDIA_HOST": "media.example.org"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    told = [
        line for line in done.stderr.splitlines() if "NOTICE" not in line and "could not resolve address" not in line
    ]
    assert (done.returncode, [line for line in told if "WARNING" in line or "ALERT" in line]) == (0, [])


class Client:
    """Somebody who publishes all the time over a connection that is kept, and never tries anything twice."""

    def __init__(self, server: ServerProcess, key: str, port: int) -> None:
        self.answers: Counter[int | str] = Counter()
        self._request = publish(server, key, "while servers come and go")
        self._port = port

    async def run(self, over: asyncio.Event) -> None:
        connection = await Connection.open(self._port)
        try:
            while not over.is_set():
                try:
                    self.answers[(await connection.ask(self._request)).status] += 1
                except (OSError, TimeoutError) as error:
                    self.answers[f"{type(error).__name__}: {error}"] += 1
                    connection.close()
                    connection = await Connection.open(self._port)
                await asyncio.sleep(PAUSE)
        finally:
            connection.close()


@needs_haproxy
def test_servers_are_replaced_one_after_the_other_without_a_failed_request(
    roomy_server: MakeServer, postgres_server: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    shared = {"DATABASE_URL": postgres_server.create_database("rolling"), "REDIS_URL": f"{redis_server.url}/5"}
    # Longer than in production, as is everything on a machine that runs a suite.
    servers = [roomy_server(**shared, PORT=free_port(), DRAIN_SECONDS=8) for _ in range(2)]
    for server in servers:
        server.start("--only", "api")
    key = Owner(servers[0]).key()
    config = changed(
        {
            "/tmp/haproxy.sock mode 600": "$SOCKET",
            "bind :80": f"bind 127.0.0.1:{free_port()}",
            "bind :443 ssl crt /etc/haproxy/site.pem alpn h2,http/1.1": "bind 127.0.0.1:$PORT",
            "${MEDIA_HOST}": "media.example.org",
            " resolvers names": "",
            "resolvers names\n    parse-resolv-conf\n": "",
            "s3:8333 check": "127.0.0.1:1",
            "api1:8000": f"127.0.0.1:{servers[0].port}",
            "api2:8000": f"127.0.0.1:{servers[1].port}",
        }
    )
    with HAProxy.start(tmp_path / "haproxy", config) as proxy:
        assert wait_until(lambda: up(proxy) == {"api1", "api2"})
        clients = [Client(servers[0], key, proxy.port) for _ in range(CLIENTS)]
        took = asyncio.run(replace(servers, clients, proxy))
    answers = sum((client.answers for client in clients), Counter())
    assert set(answers) == {201}, answers
    assert count(servers[0], "posts") == answers[201]
    observe(
        "rolling restart of 2 API processes behind HAProxy",
        f"0 of {answers[201]} requests failed in {took:.1f} s",
        NONE_NEEDED,
    )


async def replace(servers: list[ServerProcess], clients: list[Client], proxy: HAProxy) -> float:
    """Stops and starts each server in turn, while clients publish; the seconds that it took."""
    over = asyncio.Event()
    began = time.monotonic()
    async with asyncio.timeout(240), asyncio.TaskGroup() as group:
        for client in clients:
            group.create_task(client.run(over))
        try:
            for server in servers:
                await some_more(clients)
                server.terminate()
                assert await asyncio.to_thread(server.wait, 60) == 0
                await some_more(clients)
                await asyncio.to_thread(server.start, "--only", "api")
                while up(proxy) != {"api1", "api2"}:
                    await asyncio.sleep(0.05)
            await some_more(clients)
            return time.monotonic() - began
        finally:
            over.set()


async def some_more(clients: list[Client]) -> None:
    """Waits until each client has had ten more answers."""
    before = [client.answers.total() for client in clients]
    while any(client.answers.total() < had + 10 for client, had in zip(clients, before, strict=True)):
        await asyncio.sleep(0.02)


def up(proxy: HAProxy) -> set[str]:
    """The servers to which HAProxy sends requests."""
    with contextlib.suppress(OSError):
        lines = [line.split(",") for line in proxy.admin("show stat").splitlines()]
        return {line[1] for line in lines if line[0] == "api" and re.match(r"UP", line[17]) and line[1] != "BACKEND"}
    return set()
