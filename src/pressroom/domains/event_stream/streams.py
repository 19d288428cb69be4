"""Streams of events: server-sent events on a connection that stays open (docs/events.md#stream)."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Final

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.domains.event_stream import actions
from pressroom.domains.event_stream.actions import Batch, ReadEvent
from pressroom.domains.event_stream.watch import EventWatch
from pressroom.errors import CursorExpired, Limit, RateLimited, Unavailable

OF_ONE_KEY: Final = 2
"""Open streams of a key, at most, in each process."""

COMMENT_SECONDS: Final = 15.0
"""Seconds of silence after which a comment is sent: proxies close silent connections, and clients see that it lives."""

READ: Final = 10
"""Events that a stream holds at once, at most: a reader that stalls keeps no more in memory."""

RETRY_SECONDS: Final = 15

PAUSE: Final = 1.0
"""Seconds until the database is asked again after it was away."""

GRACE: Final = 1.0
"""Seconds that a stop waits for readers to take the sent bytes."""

_COMMENT: Final = b":\n\n"


class EventStream:
    """The body of an open stream. `aclose` gives its place back.

    Attributes:
        cut_off: Ends the sending of this body in so many seconds; set by its sender.
    """

    def __init__(self, pieces: AsyncGenerator[bytes], release: Callable[["EventStream"], None]) -> None:
        self.cut_off: Callable[[float], None] | None = None
        self._pieces = pieces
        self._release = release

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        """Ends the stream."""
        self._release(self)
        await self._pieces.aclose()


class Streams:
    """The open streams of this process."""

    def __init__(self, db: Database, clock: Clock, watch: EventWatch) -> None:
        self._db = db
        self._clock = clock
        self._watch = watch
        self._of_key = Counter[str]()
        self._open: dict[EventStream, str] = {}

    def __len__(self) -> int:
        return len(self._open)

    def check_room(self, key_id: str) -> None:
        """Raises RateLimited when the key has as many streams as it may have."""
        if self._of_key[key_id] >= OF_ONE_KEY:
            message = f"A key has at most {OF_ONE_KEY} open streams: close one, or wait until a lost one has ended."
            raise RateLimited(message, RETRY_SECONDS, Limit.STREAMS_PER_KEY)

    def open(self, account_id: str, key_id: str, first: Batch, expires_at: int | None) -> EventStream:
        """Returns a stream that begins with the events of `first`. Raises RateLimited.

        Args:
            account_id: The account whose events it has.
            key_id: The key that reads them.
            first: The events that were read when the stream was opened.
            expires_at: When the key expires (milliseconds); None: never.
        """
        self.check_room(key_id)
        stream = EventStream(self._pieces(account_id, key_id, first, expires_at), self._release)
        self._of_key[key_id] += 1
        self._open[stream] = key_id
        return stream

    def close(self) -> None:
        """Ends all streams: at once those that wait for events, in GRACE seconds those whose reader takes nothing."""
        self._watch.close()
        for stream in self._open:
            if stream.cut_off is not None:
                stream.cut_off(GRACE)

    def _release(self, stream: EventStream) -> None:
        key_id = self._open.pop(stream, None)
        if key_id is not None:
            self._of_key[key_id] -= 1
            if not self._of_key[key_id]:
                del self._of_key[key_id]

    async def _pieces(
        self, account_id: str, key_id: str, batch: Batch, expires_at: int | None
    ) -> AsyncGenerator[bytes]:
        """Yields events as they come, and comments in between, until the key ends or the server stops."""
        with self._watch.watching(account_id, until=expires_at) as news:
            # Without an event, a client that connects again needs the id of this place.
            yield b"retry: 2000\nid: %s\n\n" % str(batch.cursor).encode()
            while True:
                for event in batch.events:
                    yield _frame(event)
                if batch.is_last or self._watch.is_closing or self._has_expired(expires_at):
                    return
                caught_up = not batch.events
                while caught_up and not await news.wait(COMMENT_SECONDS):
                    yield _COMMENT
                news.clear()  # Before the read: a commit that it misses sets it again.
                try:
                    batch = await self._db.read(actions.read_after, account_id, key_id, batch.cursor, READ)
                except CursorExpired:
                    return  # The client connects again, and gets the error then.
                except Unavailable:
                    batch = Batch([], batch.cursor)
                    await asyncio.sleep(PAUSE)
                    news.set()

    def _has_expired(self, expires_at: int | None) -> bool:
        return expires_at is not None and expires_at <= self._clock.now()


def _frame(event: ReadEvent) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (str(event.cursor).encode(), event.event.encode(), event.envelope)
