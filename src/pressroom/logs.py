"""Logs: one line of JSON each on standard error, with a level, the request's id and never a secret.

The levels are `info`, `warning` and `error` (docs/operations.md#the-log).

A separate thread writes the lines, so that no request waits when their reader is slow, stalls or goes away. Request
lines are encoded as structs, because there is one for each request.
"""

import json
import re
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TextIO

import msgspec

from pressroom.clock import iso
from pressroom.errors import Unavailable

WAITING: Final = 10_000
"""Lines that may be buffered. Further ones are dropped and counted."""

KINDS: Final = 1_000
"""Kinds of failures that are counted at the same time."""

PAUSE_SECONDS: Final = 0.25
CLOSE_SECONDS: Final = 1.0

_SECRET: Final = re.compile(r"(svc_live_|whsec_)[0-9A-Za-z]{4,}|(\w[\w+.-]*)://[^\s@]*@|(?<=Bearer )\S+")
_encoder: Final = msgspec.json.Encoder()


class _RequestLine(msgspec.Struct, omit_defaults=True):
    at: str
    level: str
    event: str
    request_id: str
    method: str
    path: str
    status: int
    ms: int
    client: str
    account_id: str | None = None
    key_id: str | None = None


def without_secrets(text: str) -> str:
    """Returns `text` with API keys, signing secrets and passwords in addresses replaced by `[secret]`."""
    return _SECRET.sub(_struck_out, text)


def _struck_out(match: re.Match[str]) -> str:
    return f"{match[1] or ''}{f'{match[2]}://' if match[2] else ''}[secret]"


def _named(error: BaseException) -> str:
    """Returns an error's class and the first line of its message; further lines may quote rows of the database."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


class Log:
    """The log of one process. `requests`: each request gets a line."""

    def __init__(self, *, requests: bool, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._requests = requests
        self._lines: list[str] = []
        self._dropped = 0
        self._recurring: Counter[tuple[object, ...]] = Counter()
        self._writing = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write_on, name="log", daemon=True)
        self._thread.start()

    def request(
        self,
        at: int,
        request_id: str,
        method: str,
        path: str,
        status: int,
        ms: int,
        client: str,
        *,
        account_id: str | None = None,
        key_id: str | None = None,
    ) -> None:
        """Writes a line about one request, answered at `at` (Unix time in milliseconds) after `ms` milliseconds."""
        if not self._requests:
            return
        # Of all secrets only keys and signing secrets could stand in a path, and these have an underscore: most
        # requests are spared the search.
        shown = without_secrets(path[:500]) if "_" in path else path[:500]
        line = _RequestLine(
            at=iso(at),
            level="info",
            event="request",
            request_id=request_id,
            method=method,
            path=shown,
            status=status,
            ms=ms,
            client=client,
            account_id=account_id,
            key_id=key_id,
        )
        self._add(_encoder.encode(line).decode())

    def info(self, event: str, **fields: str | int | float | None) -> None:
        """Writes a line about normal operation."""
        self._note("info", event, fields)

    def warning(self, event: str, **fields: str | int | float | None) -> None:
        """Writes a line about something that the operator should look at. The server continues."""
        self._note("warning", event, fields)

    def error(self, event: str, **fields: str | int | float | None) -> None:
        """Writes a line about something that failed and should not have."""
        self._note("error", event, fields)

    def recurring(self, event: str, error: BaseException, **fields: str | int | None) -> None:
        """Writes an error of background work with its cause: the first of a kind, the 10th, the 100th and so on."""
        kind = (event, type(error), str(error)[:200], *fields.values())
        # Messages may hold ids, so that each is a kind of its own: bounded, or the memory would grow with them.
        if kind not in self._recurring and len(self._recurring) >= KINDS:
            self._recurring.clear()
        self._recurring[kind] += 1
        times = self._recurring[kind]
        if set(str(times)[1:]) <= {"0"} and str(times)[0] == "1":
            cause = error.__cause__
            self.error(event, **fields, error=_named(error), cause=_named(cause) if cause else None, times=times)

    def failure(self, request_id: str, error: BaseException) -> None:
        """Writes a line about a request that got a 5xx: where it failed, without values."""
        cause = error.__cause__ or error
        trace = "" if isinstance(error, Unavailable) else "".join(traceback.format_tb(cause.__traceback__))
        named = {"error": _named(error), "cause": _named(cause), "trace": trace}
        self._note("error", "request failed", {"request_id": request_id, **named})

    def flush(self) -> None:
        """Writes the buffered lines. Blocks as long as the reader does."""
        # The thread writes on while a stop or a test flushes: lines of two calls must not mix.
        with self._writing:
            lines, self._lines = self._lines, []
            if self._dropped:
                lines.append(f'{{"level":"warning","event":"lines dropped","count":{self._dropped}}}')
                self._dropped = 0
            try:
                if lines:
                    self._stream.write("\n".join(lines) + "\n")
                    self._stream.flush()
            except (OSError, ValueError):
                return  # The reader has gone. The server continues.

    def close(self) -> None:
        """Writes the buffered lines, for CLOSE_SECONDS at most."""
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)

    def _write_on(self) -> None:
        while not self._closing.wait(PAUSE_SECONDS):
            self.flush()
        self.flush()

    def _note(self, level: str, event: str, fields: Mapping[str, str | float | None]) -> None:
        at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        line = {**fields, "event": event, "at": at, "level": level}
        shown = {name: without_secrets(value) if isinstance(value, str) else value for name, value in line.items()}
        self._add(json.dumps(shown, default=repr))

    def _add(self, line: str) -> None:
        if len(self._lines) < WAITING:
            self._lines.append(line)
        else:
            # A reader that stalls must cost lines, not memory or requests.
            self._dropped += 1
