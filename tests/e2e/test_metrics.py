"""What Prometheus reads on PRESSROOM_METRICS_PORT: true figures, no names, and no counter that runs back."""

import contextlib
import http.client
import os
import re
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from pressroom.entities import _hashtag  # pyright: ignore[reportPrivateUsage]
from tests.e2e.processes import one_line
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint
from tests.harness.observations import observe
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import DEADLINE, ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.wire import Request, ask
from tests.services.ports import free_port
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(server: ServerProcess, path: str = "/metrics", method: str = "GET") -> tuple[int, str]:
    """Status and text of an answer on the port of the metrics."""
    connection = http.client.HTTPConnection("127.0.0.1", int(str(server.settings["METRICS_PORT"])), timeout=30)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def families(server: ServerProcess) -> list[Metric]:
    status, text = read(server)
    assert status == 200
    return list(text_string_to_metric_families(text))


def samples(server: ServerProcess) -> Samples:
    """Every value, by its name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families(server)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float | None:
    return found.get((name, frozenset(labels.items())))


def until(server: ServerProcess, holds: Callable[[Samples], bool]) -> Samples:
    """Reads until a condition holds; returns the last reading."""
    deadline = time.monotonic() + 2 * DEADLINE
    while not holds(found := samples(server)):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def test_slow_step_is_counted_and_logged_by_its_function(roomy_server: MakeServer) -> None:
    server = roomy_server(METRICS_PORT=free_port(), SLOW_STEP_MS=1).start()
    owner = Owner(server)
    key = owner.new_key().json()["key"]
    function = f"{_hashtag.__module__}.{_hashtag.__qualname__}"

    def is_counted(now: Samples) -> bool:
        # A step is named for the function that was seen most often, so not every one of these for this function.
        assert ask(publish(server, key, "#a " * 1_600)).status == 201
        return value(now, "pressroom_slow_steps_total", function=function) is not None

    found = until(server, is_counted)
    assert server.stop() == 0
    named = {dict(labels)["function"] for name, labels in found if name == "pressroom_slow_steps_total"}
    assert named <= set(re.findall(r'"function": ?"([^"]+)"', server.output()))


def test_acts_are_counted_without_names(roomy_server: MakeServer, engine_settings: dict[str, object]) -> None:
    settings = {**QUICK_RETRIES, **engine_settings, "REQUESTS_PER_MINUTE": 8}
    requests = "pressroom_requests_total"
    # A request is counted after its response was sent, and the overdue deliveries are looked up now and then.
    expected = (
        (1, requests, {"method": "POST", "route": "/api/posts", "status": "2xx"}),
        (7, requests, {"method": "GET", "route": "/api/auth/me", "status": "2xx"}),
        (1, requests, {"method": "GET", "route": "/api/auth/me", "status": "4xx"}),
        (3, requests, {"method": "any", "route": "none", "status": "4xx"}),
        (1, "pressroom_request_seconds_count", {"method": "POST", "route": "/api/posts"}),
        (8, "pressroom_limiter_verdicts_total", {"what": "requests", "verdict": "admitted"}),
        (1, "pressroom_limiter_verdicts_total", {"what": "requests", "verdict": "minute"}),
        (1, "pressroom_deliveries_total", {"outcome": "delivered"}),
        (0, "pressroom_deliveries_overdue_seconds", {}),
    )
    with Receiver() as receiver:
        server = roomy_server(METRICS_PORT=free_port(), **settings).start()
        owner = Owner(server)
        made = owner.new_key().json()
        Endpoint(server, owner, made["id"], receiver.url("/hook"), (POST,))
        assert ask(publish(server, made["key"], "counted")).status == 201
        assert [ask(who_am_i(server, made["key"])).status for _ in range(8)] == [200] * 7 + [429]
        for method, path in (("GET", "/nothing/here"), ("BREW", "/api/auth/me"), ("BREW", "/nothing")):
            assert ask(Request(server.port, method, path)).status in (404, 405)
        found = until(server, lambda now: all(value(now, name, **of) == count for count, name, of in expected))

        if "DATABASE_URL" in engine_settings:
            assert (value(found, "pressroom_database_round_trips_total") or 0) > 10
            for table in ("events", "deliveries"):
                assert (value(found, "pressroom_partitions_ahead_seconds", table=table) or 0) >= 28 * 86_400
            assert (value(found, "pressroom_pool_wait_seconds_count") or 0) > 5
        _, text = read(server)
        for name in (owner.id, made["id"], made["key"], receiver.url("/hook"), "alice"):
            assert name not in text
        assert server.stop() == 0
    assert not list((server.folder / "data" / "metrics").iterdir())


def test_the_page_for_operators_names_every_metric_and_no_other(roomy_server: MakeServer) -> None:
    server = roomy_server(METRICS_PORT=free_port()).start()
    exposed = {family.name for family in families(server)}
    section = PAGE.read_text("utf-8").partition("## Metrics\n")[2].partition("\n## ")[0]
    documented = {re.sub("_total$", "", name) for name in re.findall(r"^\| `(pressroom_\w+)", section, re.MULTILINE)}
    from_code = set(re.findall(r'"(pressroom_\w+)"', Path("src/pressroom/metrics/prometheus.py").read_text("utf-8")))
    assert documented == from_code
    assert exposed <= documented


def test_probes_are_not_counted_and_free_disk_space_is_reported(
    roomy_server: MakeServer, request: pytest.FixtureRequest
) -> None:
    redis = request.getfixturevalue("redis_server")
    server = roomy_server(METRICS_PORT=free_port(), REDIS_URL=f"{redis.url}/4").start()
    for path in ("/healthz", "/readyz", "/robots.txt"):
        assert ask(Request(server.port, "GET", path)).status == 200
    assert ask(Request(server.port, "PUT", "/readyz")).status == 405

    found = until(server, lambda now: value(now, "pressroom_redis_up") is not None and counted(now) >= 1)

    routes = {dict(labels).get("route") for name, labels in found if name == "pressroom_requests_total"}
    assert routes == {"/robots.txt"}
    assert value(found, "pressroom_redis_up") == 1
    free, size = (value(found, f"pressroom_disk_{name}bytes") or 0 for name in ("free_", ""))
    assert 0 < free < size
    assert value(found, "pressroom_replica_lag_seconds") is None
    assert server.stop() == 0


def test_a_killed_worker_takes_no_count_along(roomy_server: MakeServer, request: pytest.FixtureRequest) -> None:
    postgres, redis = request.getfixturevalue("postgres_server"), request.getfixturevalue("redis_server")
    url = postgres.create_database(f"metrics_{os.getpid()}")
    server = roomy_server(METRICS_PORT=free_port(), DATABASE_URL=url, REDIS_URL=f"{redis.url}/3")
    server.start("--workers", "2", "--only", "api")
    running = until(server, lambda now: processes(now) == server.output().count('"listening"') == 2)
    for n in range(20):
        ask(Request(server.port, "GET", f"/api/posts/nothing{n}"))
    before = until(server, lambda now: counted(now) >= counted(running) + 20)

    victims = psutil.Process(server.pid).children()
    victim = next(child for child in victims if "--place" in child.cmdline())
    os.kill(victim.pid, signal.SIGKILL)
    killed = time.monotonic()
    seen = before
    deadline = time.monotonic() + 2 * DEADLINE
    while not (server.output().count('"listening"') == 3 and processes(seen) == 2):
        assert time.monotonic() < deadline, server.output()
        now = samples(server)
        back = {key: (seen[key], now.get(key)) for key in seen if is_count(key[0]) and now.get(key, 0) < seen[key]}
        assert not back
        assert processes(now) <= 2
        seen = now
    assert counted(seen) >= counted(before)
    effect = "no counter runs back, and none of its gauges stays; recovered when another serves in its place"
    observe("one of 2 processes of a server killed with -9", effect, time.monotonic() - killed, "the kill")
    assert server.stop() == 0


def processes(found: Samples) -> float:
    return sum(number for (name, _), number in found.items() if name == "pressroom_processes")


def counted(found: Samples) -> float:
    return sum(number for (name, _), number in found.items() if name == "pressroom_requests_total")


def is_count(name: str) -> bool:
    return name.endswith(("_total", "_count", "_sum", "_bucket"))


def test_a_worker_alone_is_measured_too(
    roomy_server: MakeServer, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = request.getfixturevalue("postgres_server").create_database(f"metrics_worker_{os.getpid()}")
    server = roomy_server(METRICS_PORT=free_port(), DATABASE_URL=url)
    server.launch("--only", "worker")
    assert wait_until(lambda: "delivering" in server.output() or server.ended)
    assert not server.ended, server.output()
    found = until(server, lambda now: value(now, "pressroom_deliveries_overdue_seconds") == 0)
    assert processes(found) == 1


def test_only_one_address_is_answered_and_only_so_much_is_read(roomy_server: MakeServer) -> None:
    server = roomy_server(METRICS_PORT=free_port()).start()
    assert read(server, "/")[0] == read(server, "/metricsx")[0] == 404
    assert read(server, method="POST")[0] == 405
    assert read(server, "/metrics?name=x")[0] == 200
    with socket.create_connection(("127.0.0.1", int(str(server.settings["METRICS_PORT"]))), timeout=30) as long:
        try:
            long.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 100_000)
            assert long.recv(100) == b""
        except ConnectionError:
            pass  # closed while we were still sending
    silent = [socket.create_connection(("127.0.0.1", int(str(server.settings["METRICS_PORT"])))) for _ in range(40)]
    for each in silent:
        each.close()
    deadline = time.monotonic() + DEADLINE
    while not is_read(server):
        assert time.monotonic() < deadline, "closed connections are still counted"
    assert ask(Request(server.port, "GET", "/healthz")).status == 200
    assert server.stop() == 0


def test_silent_client_does_not_block_readers(roomy_server: MakeServer) -> None:
    port = free_port()
    server = roomy_server(METRICS_PORT=port).start()
    with contextlib.ExitStack() as silent:
        for _ in range(20):
            silent.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        assert [read(server)[0] for _ in range(3)] == [200] * 3


def test_two_servers_with_one_data_folder_and_port_keep_their_own_values(
    roomy_server: MakeServer, request: pytest.FixtureRequest
) -> None:
    postgres, redis = request.getfixturevalue("postgres_server"), request.getfixturevalue("redis_server")
    shared = {
        "METRICS_PORT": free_port(),
        "DATABASE_URL": postgres.create_database(f"metrics_hosts_{os.getpid()}"),
        "REDIS_URL": f"{redis.url}/4",
    }
    first = roomy_server(**shared).start()
    ask(Request(first.port, "GET", "/api/posts/nothing"))
    before = until(first, lambda now: counted(now) >= 1)

    second = roomy_server(**shared, METRICS_HOST="127.0.0.2", DATA_DIR=first.folder / "data").start()
    assert counted(samples(first)) >= counted(before)
    assert second.stop() == 0

    assert counted(samples(first)) >= counted(before)
    assert first.stop() == 0


def is_read(server: ServerProcess) -> bool:
    try:
        return read(server)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


@pytest.mark.parametrize("arguments", [["serve"], ["serve", "--workers", "2", "--only", "worker"], ["worker"]])
def test_a_port_that_is_taken_is_named_in_one_line(process_server: MakeServer, arguments: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = process_server(METRICS_PORT=port, DATABASE_URL="postgresql://127.0.0.1:1/none")
        line = one_line(server, *arguments)
    assert f"127.0.0.1:{port}" in line
    assert "PRESSROOM_METRICS_PORT" in line


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_port_of_the_server_cannot_be_that_of_the_metrics(process_server: MakeServer, workers: str) -> None:
    server = process_server(DATABASE_URL="postgresql://127.0.0.1:1/none", REDIS_URL="redis://127.0.0.1:1/0")
    server.settings["METRICS_PORT"] = server.port
    assert f"Cannot listen on 127.0.0.1:{server.port}" in one_line(server, "serve", "--workers", workers)
