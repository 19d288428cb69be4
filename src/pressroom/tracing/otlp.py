"""Tracing by OpenTelemetry, sent by OTLP over HTTP. Spans hold routes and statuses, and no address, account or key."""

import asyncio
import logging
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanKind,
    Status,
    StatusCode,
    format_span_id,
    format_trace_id,
    get_current_span,
    set_span_in_context,
    use_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from pressroom import __version__
from pressroom.logs import Log
from pressroom.tracing import HEADER

SEND_SECONDS: Final = 5
"""Seconds that sending a batch of spans may take."""

CLOSE_SECONDS: Final = 3.0
"""Seconds that a stop waits for the last spans to be sent."""

_propagator: Final = TraceContextTextMapPropagator()


class OtlpTracer:
    """The tracer of one process.

    Args:
        endpoint: The collector's address; spans go to /v1/traces below it. Other settings (headers,
            samplers, batches) OpenTelemetry reads from its own variables, OTEL_….
        log: Where it is said that spans cannot be sent.
    """

    def __init__(self, endpoint: str, log: Log) -> None:
        name = os.environ.get("OTEL_SERVICE_NAME") or "pressroom"
        resource = Resource.create({"service.name": name, "service.version": __version__})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=SEND_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("pressroom", __version__)
        logger = logging.getLogger("opentelemetry")
        logger.handlers, logger.propagate = [_ToLog(log)], False

    @contextmanager
    def request(self, parent: str | None) -> Generator[None]:
        with self._span("request", SpanKind.SERVER, parent):
            yield

    def describe_request(self, method: str, route: str, status: int) -> None:
        span = get_current_span()
        shown = method if route else "_OTHER"
        span.update_name(f"{shown} {route}".strip())
        span.set_attributes({"http.request.method": shown, "http.response.status_code": status})
        if route:
            span.set_attribute("http.route", route)
        if status >= 500:
            span.set_status(Status(StatusCode.ERROR))

    @contextmanager
    def delivery(self, parent: str | None, event_type: str) -> Generator[str]:
        with self._span(f"deliver {event_type}", SpanKind.CLIENT, parent) as span:
            yield _traceparent(span)

    def describe_answer(self, status: int) -> None:
        span = get_current_span()
        span.set_attribute("http.response.status_code", status)
        if not 200 <= status < 300:
            span.set_status(Status(StatusCode.ERROR))

    def current(self) -> str | None:
        span = get_current_span()
        return _traceparent(span) if span.get_span_context().is_valid else None

    async def close(self) -> None:
        # Without a collector the library waits longer than a stop may: its thread is left to the end of the process.
        closing = threading.Thread(target=self._provider.shutdown, name="tracing", daemon=True)
        closing.start()
        await asyncio.to_thread(closing.join, CLOSE_SECONDS)

    @contextmanager
    def _span(self, name: str, kind: SpanKind, parent: str | None) -> Generator[Span]:
        """Enters a span below `parent`, or the first of a trace. Errors are not recorded, as they may quote secrets."""
        root = set_span_in_context(INVALID_SPAN)
        context = _propagator.extract({HEADER: parent}, root) if parent else root
        span = self._tracer.start_span(name, context, kind)
        with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                yield span
            except BaseException:
                span.set_status(Status(StatusCode.ERROR))
                raise


def _traceparent(span: Span) -> str:
    """Returns the identifier of a span in headers (W3C Trace Context)."""
    its = span.get_span_context()
    return f"00-{format_trace_id(its.trace_id)}-{format_span_id(its.span_id)}-{its.trace_flags:02x}"


class _ToLog(logging.Handler):
    """Passes on the library's messages, without their values, which may name hosts and passwords."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.recurring("traces cannot be sent", RuntimeError(str(record.msg)))
