"""Traces: one from a request to the delivery that it caused, as a collector sees them."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from pressroom.logs import Log
from pressroom.tracing.otlp import OtlpTracer
from tests.e2e.processes import LONGEST_STOP, one_line
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint, wait_until_settled
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.wire import Request, ask
from tests.services.ports import free_port

MakeServer = Callable[..., ServerProcess]

GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector(ThreadingHTTPServer):
    """A collector of traces that keeps the spans it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def spans(self) -> list[Any]:
        found: list[Any] = []
        for body in self.bodies:
            sent: Any = ExportTraceServiceRequest.FromString(body)
            found += [span for of in sent.resource_spans for scope in of.scope_spans for span in scope.spans]
        return found

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans() if span.name == name]


class _Handler(BaseHTTPRequestHandler):
    server: Collector  # pyright: ignore[reportIncompatibleVariableOverride]  # what it is here

    def do_POST(self) -> None:
        assert self.path == "/v1/traces"
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector that listens."""
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_request_and_its_delivery_are_one_trace(
    roomy_server: MakeServer, engine_settings: dict[str, object], collector: Collector
) -> None:
    server = roomy_server(**QUICK_RETRIES, **engine_settings, TRACING_ENDPOINT=collector.url).start()
    with Receiver() as receiver:
        owner = Owner(server)
        made = owner.new_key().json()
        Endpoint(server, owner, made["id"], receiver.url("/hook"), (POST,))
        for content in ("one", "two"):
            request = publish(server, made["key"], content)
            headers = {**request.headers, "traceparent": GIVEN}
            assert ask(replace(request, headers=headers)).status == 201
        wait_until_settled(server)
        received = [request.headers["traceparent"].rpartition("-")[0] for request in receiver.of("/hook")]
    assert server.stop() == 0

    created, delivered = collector.named("POST /api/posts"), collector.named("deliver post.created")
    assert len(created) == len(delivered) == 2
    causes = {span.span_id: span.trace_id for span in created}
    assert {span.parent_span_id: span.trace_id for span in delivered} == causes
    assert len(set(causes.values())) == 2
    assert GIVEN[3:35] not in {trace_id.hex() for trace_id in causes.values()}, "a stranger named a trace"
    sent = {f"00-{span.trace_id.hex()}-{span.span_id.hex()}" for span in delivered}
    assert set(received) == sent
    told = b"".join(collector.bodies)
    for name in (owner.id, made["id"], made["key"], "/hook", "alice", str(receiver.url("/hook"))):
        assert name.encode() not in told


@pytest.mark.parametrize(("status", "is_error"), [(199, True), (200, False), (299, False), (300, True)])
def test_delivery_without_a_2xx_is_an_error(collector: Collector, status: int, *, is_error: bool) -> None:
    tracer = OtlpTracer(collector.url, Log(requests=False))
    with tracer.delivery(None, "post.created"):
        tracer.describe_answer(status)
    asyncio.run(tracer.close())

    (span,) = collector.named("deliver post.created")
    assert (span.status.code == Status.STATUS_CODE_ERROR) is is_error


def test_a_trusted_proxy_may_say_which_trace_a_request_belongs_to(
    roomy_server: MakeServer, collector: Collector
) -> None:
    server = roomy_server(TRACING_ENDPOINT=collector.url, TRUSTED_PROXIES="127.0.0.1/32").start()
    wrong = (GIVEN[:-1], GIVEN + "-00", "ff" + GIVEN[2:], GIVEN.upper(), "00-" + "0" * 32 + GIVEN[35:], "x" * 5_000)
    for header in (GIVEN, *wrong):
        assert ask(Request(server.port, "GET", "/robots.txt", {"traceparent": header})).status == 200
    for probe in ("/healthz", "/readyz"):
        assert ask(Request(server.port, "GET", probe, {"traceparent": GIVEN})).status == 200
    assert ask(Request(server.port, "BREW", "/nothing/secret")).status == 404
    assert server.stop() == 0
    traces = [span.trace_id.hex() for span in collector.named("GET /robots.txt")]
    assert traces.count(GIVEN[3:35]) == 1
    assert len(traces) == len(set(traces)) == 1 + len(wrong)
    assert len(collector.named("_OTHER")) == 1
    assert collector.named("GET /healthz") == collector.named("GET /readyz") == []
    assert b"secret" not in b"".join(collector.bodies)


def test_a_collector_that_is_away_holds_nothing_up(roomy_server: MakeServer) -> None:
    server = roomy_server(TRACING_ENDPOINT=f"http://127.0.0.1:{free_port()}").start()
    key = Owner(server).key()
    assert [ask(publish(server, key, f"post {n}")).status for n in range(20)] == [201] * 20
    server.terminate()
    assert server.wait(LONGEST_STOP) == 0
    assert not re.search("Traceback", server.output())


@pytest.mark.parametrize("name", ["OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"])
def test_refusal_of_opentelemetry_is_reported_in_one_line(
    process_server: MakeServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "-1")
    server = process_server(TRACING_ENDPOINT=f"http://127.0.0.1:{free_port()}").migrate()
    assert "OTEL_" in one_line(server)


@pytest.mark.parametrize(
    "address", ["localhost:4318", "http://user:secret@localhost:4318", "http://localhost:4318/?x=1"]
)
def test_an_address_that_is_none_is_named(process_server: MakeServer, address: str) -> None:
    line = one_line(process_server(TRACING_ENDPOINT=address))
    assert "PRESSROOM_TRACING_ENDPOINT" in line
    assert "secret" not in line
