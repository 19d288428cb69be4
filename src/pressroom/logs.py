"""Logs: one line of JSON each on standard error, with the request's id and never a secret.

Request lines are encoded directly, since there is one for every request; everything else goes through structlog.
"""

import re
import sys
import traceback
from collections.abc import MutableMapping
from typing import Final, TextIO

import msgspec
import structlog

from pressroom.clock import iso
from pressroom.errors import Unavailable

_SECRET: Final = re.compile(r"(svc_live_|whsec_)[0-9A-Za-z]{4,}|(\w[\w+.-]*)://[^\s@]*@|(?<=Bearer )\S+")
REQUEST_LINES: Final = 50
_encoder = msgspec.json.Encoder()


class _RequestLine(msgspec.Struct):
    at: str
    event: str
    request_id: str
    method: str
    path: str
    status: int
    ms: int
    client: str


def without_secrets(text: str) -> str:
    """`text` with keys, signing secrets and passwords in addresses struck out."""
    return _SECRET.sub(
        lambda match: f"{match[1] or (match[2] or '') + '://' if match[1] or match[2] else ''}[secret]", text
    )


def _named(error: BaseException) -> str:
    """An error's class and the first line of what it says: further lines may quote rows of the database."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def _strike_out(_logger: object, _method: str, event: MutableMapping[str, object]) -> MutableMapping[str, object]:
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = without_secrets(value)
    return event


class Log:
    """The log of one process. `requests` says whether each request gets a line."""

    def __init__(self, *, requests: bool, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._requests = requests
        self._lines: list[bytes] = []
        self._logger = structlog.wrap_logger(
            structlog.WriteLogger(self._stream),
            processors=[
                structlog.processors.TimeStamper(fmt="iso", key="at"),
                _strike_out,
                structlog.processors.JSONRenderer(),
            ],
        )

    def request(self, at: int, request_id: str, method: str, path: str, status: int, ms: int, client: str) -> None:
        """One request, answered at `at` after `ms` milliseconds. The line waits for a flush, or for fifty others."""
        if not self._requests:
            return
        shown = without_secrets(path[:500]) if "_" in path else path[:500]
        line = _RequestLine(iso(at), "request", request_id, method, shown, status, ms, client)
        self._lines.append(_encoder.encode(line))
        if len(self._lines) >= REQUEST_LINES:
            self.flush()

    def event(self, event: str, **fields: str | int | float | None) -> None:
        """Something worth knowing."""
        self.flush()
        self._logger.info(event, **fields)

    def failure(self, request_id: str, error: BaseException) -> None:
        """A request that was answered with 5xx: where it failed, without the values that it failed on."""
        self.flush()
        cause = error.__cause__ or error
        trace = "" if isinstance(error, Unavailable) else "".join(traceback.format_tb(cause.__traceback__))
        self._logger.error(
            "request failed",
            request_id=request_id,
            error=_named(error),
            cause=_named(cause),
            trace=trace,
        )

    def flush(self) -> None:
        """Writes out the request lines that wait."""
        if self._lines:
            lines, self._lines = self._lines, []
            self._stream.write(b"\n".join(lines).decode() + "\n")
            self._stream.flush()
