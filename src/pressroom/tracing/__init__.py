"""Traces that lead from a request to the deliveries that it caused (docs/operations.md#tracing).

`tracer` is None unless PRESSROOM_TRACING_ENDPOINT is given: then nothing is traced, and nothing of it is loaded.
"""

import re
from collections.abc import Generator, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, Protocol

HEADER: Final = "traceparent"
_GIVEN: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class Tracer(Protocol):
    """Records spans of this process, and sends them on in the background. No method raises or waits."""

    def request(self, parent: str | None) -> AbstractContextManager[None]:
        """Enters the span of a request; `parent` is the traceparent that came with it."""
        ...

    def describe_request(self, method: str, route: str, status: int) -> None:
        """Records method, route and status on the request's span; `route` is the path as the route declares it."""
        ...

    def delivery(self, parent: str | None, event_type: str) -> AbstractContextManager[str]:
        """Enters the span of an attempt to deliver and yields its traceparent; `parent` is that of the event."""
        ...

    def describe_answer(self, status: int) -> None:
        """Records the response status on the delivery's span."""
        ...

    def current(self) -> str | None:
        """Returns the traceparent of the current span, None outside of any."""
        ...

    async def close(self) -> None:
        """Sends the remaining spans, for a moment at most."""
        ...


tracer: Tracer | None = None
"""The tracer of this process."""


def current() -> str | None:
    """Returns the traceparent of the running work, to be stored with the rows that it causes."""
    return None if tracer is None else tracer.current()


def read_parent(header: str) -> str | None:
    """Returns a traceparent as it was received; None when it is none."""
    return header if _GIVEN.fullmatch(header) else None


def delivering(
    parent: str | None, event_type: str, headers: MutableMapping[str, str]
) -> AbstractContextManager[object]:
    """Traces an attempt to deliver, whose `headers` then name the span."""
    return _UNTRACED if tracer is None else _traced(tracer, parent, event_type, headers)


_UNTRACED: Final = nullcontext()


@contextmanager
def _traced(by: Tracer, parent: str | None, event_type: str, headers: MutableMapping[str, str]) -> Generator[None]:
    with by.delivery(parent, event_type) as traceparent:
        headers[HEADER] = traceparent
        yield


def answered(status: int) -> None:
    """Notes the status of the answer to the delivery that is under way."""
    if tracer is not None:
        tracer.describe_answer(status)
