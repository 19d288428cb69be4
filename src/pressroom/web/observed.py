"""Measuring and tracing of requests, where either is on (docs/operations.md#metrics)."""

from typing import Final

from pressroom import metrics, tracing
from pressroom.settings.values import Networks
from pressroom.web.asgi import Application, HeaderList, HttpScope, Receive, Send
from pressroom.web.client_address import is_within

PROBES: Final = frozenset({"/healthz", "/readyz"})
"""Paths that load balancers ask, every few seconds for years: answered ahead of all turns, and neither logged nor
measured nor traced, since they would hide what people and programs get."""


def observe(method: str, route: str, status: int, milliseconds: int) -> None:
    """Notes an answered request; `route` is the path as the route declares it, empty where there is none."""
    if metrics.recorder is not None:
        metrics.recorder.request(method, route, status, milliseconds)
    if tracing.tracer is not None:
        tracing.tracer.describe_request(method, route, status)


def traced(app: Application, tracer: tracing.Tracer, trusted: Networks) -> Application:
    """Returns the application with each request in a span. Only trusted proxies may name its trace."""

    async def serve(scope: HttpScope, receive: Receive, send: Send) -> None:
        if scope["path"] in PROBES:
            await app(scope, receive, send)
            return
        peer = scope["client"]
        parent = _parent(scope["headers"]) if peer and is_within(peer[0], trusted) else None
        with tracer.request(parent):
            await app(scope, receive, send)

    return serve


def _parent(headers: HeaderList) -> str | None:
    given = [value for name, value in headers if name == b"traceparent"]
    return tracing.read_parent(given[0].decode("latin-1")) if len(given) == 1 else None
