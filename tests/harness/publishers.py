"""Programs that publish through failures, and remember all that they sent and heard."""

import asyncio
import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from tests.harness.owners import publish
from tests.harness.process import ServerProcess
from tests.harness.wire import Connection, Reply, Request

PAUSE = 0.01
"""Seconds between two attempts at a server that is away."""

AGAIN = 5
"""Each fifth acknowledged post is sent once more, to hear its answer again."""


class Schedule:
    """When posts are due, `rate` of them a second, of all publishers; a late one is due at once."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._began = time.monotonic()
        self._numbers = itertools.count()

    async def due(self) -> int:
        """Returns the number of the next post when it is due."""
        number = next(self._numbers)
        await asyncio.sleep(max(0, self._began + number / self._rate - time.monotonic()))
        return number

    def reached(self, posts: int) -> float:
        """How many posts a second it came to, if there are so many by now."""
        return posts / (time.monotonic() - self._began)


class Publisher:
    """Publishes one post after the other, each with its own Idempotency-Key, until it is acknowledged.

    One who is not `patient` gives a post up when its answer fails to come, and goes on to the next.
    """

    def __init__(self, server: ServerProcess, key: str, name: str, *, patient: bool = True) -> None:
        self.name = name
        self.sent: set[str] = set()
        self.acknowledged: dict[str, str] = {}
        self.refused: list[Reply] = []
        self.surprises: list[Reply] = []
        self.heard: defaultdict[str, set[bytes]] = defaultdict(set)
        self.outcomes: Counter[str] = Counter()
        self._server = server
        self._key = key
        self._patient = patient
        self._connection: Connection | None = None

    @property
    def settled(self) -> int:
        """Posts that came to an end, this way or that."""
        return len(self.acknowledged) + len(self.refused)

    def some(self, number: int) -> Iterator[str]:
        """So many contents of its own."""
        return (f"{self.name} {n}" for n in range(number))

    def until(self, over: asyncio.Event) -> Iterator[str]:
        """Contents of its own until `over` is set."""
        return (f"{self.name} {n}" for n in itertools.takewhile(lambda _: not over.is_set(), itertools.count()))

    async def publish(self, contents: Iterable[str]) -> None:
        """Publishes `contents`; each a text that nobody else publishes."""
        for content in contents:
            await self._publish(content, patient=self._patient)
        self.hang_up()

    async def publish_on(self, schedule: Schedule, over: asyncio.Event) -> None:
        """Publishes posts when they are due, until `over` is set."""
        while not over.is_set():
            await self.publish_one(await schedule.due())
        self.hang_up()

    async def publish_one(self, number: int) -> None:
        """Publishes the post of this number."""
        await self._publish(f"{self.name} {number}", patient=self._patient)

    async def publish_at_last(self) -> None:
        """Publishes one post with patience if none came to an end: without patience there may be failures alone."""
        if not self.settled:
            await self._publish(f"{self.name} at last", patient=True)
            self.hang_up()

    async def _publish(self, content: str, *, patient: bool) -> None:
        self.sent.add(content)
        while not (settled := await self._attempt(content)):
            await asyncio.sleep(PAUSE)
            if not patient:
                break
        if settled and len(self.acknowledged) % AGAIN == 0:
            await self._attempt(content)

    async def _attempt(self, content: str) -> bool:
        """Sends a post once; whether that settled it."""
        idempotency_key = content.replace(" ", "-")
        reply = await self.ask(publish(self._server, self._key, content, idempotency_key))
        if reply is None:
            self.outcomes["no answer"] += 1
            return False
        self.outcomes[str(reply.status)] += 1
        match reply.status:
            case 201 | 200 if (reply.status == 200) == ("idempotent-replayed" in reply.headers):
                if reply.status == 200 and content not in self.acknowledged:
                    self.outcomes["kept though its answer was lost"] += 1
                self.acknowledged[content] = reply.json()["id"]
                self.heard[idempotency_key].add(reply.body)
            case 503 if reply.json()["error"] == "Unavailable" and "retry-after" in reply.headers:
                return False
            case 429:
                self.refused.append(reply)
            case _:
                self.surprises.append(reply)
        return True

    async def ask(self, request: Request) -> Reply | None:
        """Sends a request over the connection there is, or a new one; returns None when no answer comes."""
        try:
            if self._connection is None:
                self._connection = await Connection.open(request.port)
            return await self._connection.ask(request)
        except TimeoutError:
            raise  # Silence is never an answer, whatever died.
        except OSError:
            self.hang_up()
            return None

    def hang_up(self) -> None:
        """Closes the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def told(publishers: Iterable[Publisher]) -> str:
    """What all of them heard, for a failure's message: how often which status."""
    return str(dict(sum((publisher.outcomes for publisher in publishers), Counter[str]())))
