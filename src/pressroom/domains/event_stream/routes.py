"""Events by pull and as a stream over HTTP."""

import asyncio
from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.event_stream import actions, streams
from pressroom.domains.event_stream.actions import Batch
from pressroom.domains.event_stream.cursors import Cursor, parse_cursor
from pressroom.domains.event_stream.schemas import BAD_CURSOR, LONGEST_WAIT, MOST, EventList, Reading, read_reading
from pressroom.errors import Code, CursorExpired, FieldError, Invalid
from pressroom.web.access import Keyed
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import QueryParameter, Routes, Tag

TAG = Tag("Events", "The account's own events, for programs that ask for them.")
routes: Final = Routes[Caller](TAG)

STREAM: Final = "text/event-stream"
UNBUFFERED: Final = (b"x-accel-buffering", b"no")
"""Has nginx pass on each piece at once."""

_STREAM_EXAMPLE: Final = """\
retry: 2000
id: AAAAAAAAACgAAAAAAAAAAA

id: AAAAAAAAACkAAAAAAAAAAA
event: post.created
data: {"event":"post.created","id":"evt_5f0c9a3e-7f4b-4f57-9a43-6f1f0b0f4d1c","created_at":"2026-11-20T16:08:12.345Z",…}

"""

_AFTER: Final = QueryParameter("after", "The cursor to go on from; without one it begins now.", {"type": "string"})
_WAIT: Final = QueryParameter(
    "wait",
    "Seconds to wait for an event when there is none.",
    {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT, "default": 0},
)
_LIMIT: Final = QueryParameter(
    "limit", "Events at most.", {"type": "integer", "minimum": 1, "maximum": MOST, "default": MOST}
)


@routes.get(
    "/api/events",
    Keyed("events:read", key_only=True),
    summary="Read events",
    gives=EventList,
    fails=(BAD_CURSOR, CursorExpired("AAAAAAAAACkAAAAAAAAAAA")),
    query=(_AFTER, _WAIT, _LIMIT),
    stream=_STREAM_EXAMPLE,
)
async def read_events(request: Request[Caller]) -> Response:
    """The account's own events of the last 30 days, in an order in which none is skipped: the envelopes that webhooks
    have, but for webhook.test. Of revocations only that of the key itself; it is the last event. With `Accept:
    text/event-stream` they come as server-sent events, and `Last-Event-ID` takes the place of `after`."""
    reading = read_reading(request.query)
    if request.headers.accepts(STREAM):
        return await _open_stream(request, reading.after)
    batch = await _wait_for_events(request, reading)
    body = b'{"events":[%s],"cursor":"%s"}'
    return Response(200, body % (b",".join(each.envelope for each in batch.events), str(batch.cursor).encode()))


async def _wait_for_events(request: Request[Caller], reading: Reading) -> Batch:
    """Returns events that follow the cursor, as soon as there are any; none when the wait is over."""
    account_id, key_id = _reader_of(request)
    clock = asyncio.get_running_loop().time
    ends_at = clock() + reading.wait
    batch, expires_at = await request.db.read(actions.begin, account_id, key_id, reading.after, reading.limit)
    if batch.events or not reading.wait:
        return batch
    with request.services.events.watching(account_id, expires_at) as news:
        news.set()  # Something may have been committed since the first read.
        while not batch.events and not request.services.events.is_closing:
            if not await news.wait(ends_at - clock()):
                break
            news.clear()  # Before the read: a commit that it misses sets it again.
            batch = await request.db.read(actions.read_after, account_id, key_id, batch.cursor, reading.limit)
            if expires_at is not None and expires_at <= request.clock.now():
                break
        return batch


async def _open_stream(request: Request[Caller], after: Cursor | None) -> Response:
    """Returns a stream of the events that follow the cursor, or that of the header Last-Event-ID."""
    if request.headers.announces_body:
        raise Invalid([FieldError("body", Code.NOT_ALLOWED, "A stream takes no body.")])
    if request.headers.last_event_id:
        after = parse_cursor(request.headers.last_event_id, "header.Last-Event-ID")
    account_id, key_id = _reader_of(request)
    request.services.streams.check_room(key_id)
    first, expires_at = await request.db.read(actions.begin, account_id, key_id, after, streams.READ)
    stream = request.services.streams.open(account_id, key_id, first, expires_at)
    return Response(200, b"", STREAM.encode(), [UNBUFFERED], endless=stream)


def _reader_of(request: Request[Caller]) -> tuple[str, str]:
    """Returns the ids of the account and of the key that read."""
    return request.caller.account.id, request.caller.key_id or ""
