"""Events by pull over HTTP."""

import asyncio
from typing import Final

from pressroom.clock import SECOND
from pressroom.domains.accounts.models import Caller
from pressroom.domains.event_stream import actions
from pressroom.domains.event_stream.actions import Batch
from pressroom.domains.event_stream.schemas import BAD_CURSOR, LONGEST_WAIT, MOST, EventList, Reading, read_reading
from pressroom.errors import CursorExpired
from pressroom.web.access import Keyed
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import QueryParameter, Routes, Tag

TAG = Tag("Events", "The account's own events, for programs that ask for them.")
routes: Final = Routes[Caller](TAG)

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
)
async def read_events(request: Request[Caller]) -> Response:
    """The account's own events of the last 30 days, in an order in which none is skipped: the envelopes that webhooks
    have, but for webhook.test. Of revocations only that of the key itself; it is the last event."""
    reading = read_reading(request.query)
    batch = await _wait_for_events(request, reading)
    body = b'{"events":[%s],"cursor":"%s"}'
    return Response(200, body % (b",".join(each.envelope for each in batch.events), str(batch.cursor).encode()))


async def _wait_for_events(request: Request[Caller], reading: Reading) -> Batch:
    """Returns events that follow the cursor, as soon as there are any; none when the wait is over."""
    account_id, key_id = request.caller.account.id, request.caller.key_id or ""
    with request.services.events.watching(account_id) as news:
        batch, expires_at = await request.db.read(actions.begin, account_id, key_id, reading.after, reading.limit)
        seconds = float(reading.wait)
        if expires_at is not None:
            seconds = min(seconds, (expires_at - request.clock.now()) / SECOND)
        ends_at = asyncio.get_running_loop().time() + seconds
        while not (batch.events or request.services.events.is_closing):
            try:
                async with asyncio.timeout_at(ends_at):
                    await news.wait()
            except TimeoutError:
                break
            news.clear()  # Before the read: a commit that it misses sets it again.
            batch = await request.db.read(actions.read_after, account_id, key_id, batch.cursor, reading.limit)
        return batch
