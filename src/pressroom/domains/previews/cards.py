"""Fetches cards: one fetch at a time for each page, over all processes, and a create waits a little for its outcome."""

import asyncio
import contextlib
import uuid
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pressroom.blobs import Blobs
from pressroom.clock import SECOND, Clock
from pressroom.db import Database
from pressroom.domains.media.jobs import work_folder
from pressroom.domains.media.kinds import sniff
from pressroom.domains.media.sandbox import ChildDied, DecodingLimits, Sandbox, Undecodable
from pressroom.domains.previews import actions, queries
from pressroom.domains.previews.fetching import CardPostponed, CardUnavailable, fetch_card
from pressroom.domains.previews.models import RETRIES, Card, CardState, CardStatus, card_blob
from pressroom.domains.previews.slots import OF_ACCOUNT, PATIENCE_SECONDS, TOGETHER, Busy, FetchSlots
from pressroom.errors import Unavailable
from pressroom.jobs import queue
from pressroom.jobs.keyed_tasks import KeyedTasks
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler, Postpone, TryAgain
from pressroom.logs import Log
from pressroom.outbound import OutboundClient
from pressroom.threads import run_to_end

BUDGET_SECONDS: Final = 2.0
"""How long a create waits for a card."""

FETCH_SECONDS: Final = 5.0
DECODED_TOGETHER: Final = 2
IMAGE_LIMITS: Final = DecodingLimits(
    wall_seconds=8.0,
    address_bytes=700_000_000,
    frame_pixels=25_000_000,
    frames=100,
    all_pixels=60_000_000,
)
"""Limits of a stranger's image, narrower than those of an upload."""

OF_ADDRESS: Final = 8
"""Requests under way to one IP address, however many names lead to it."""

LATER: Final = 5 * SECOND
POLL_SECONDS: Final = 0.1
"""How often it is looked for the outcome of another process's fetch."""


class Cards:
    """Fetches cards into the database `db` and their thumbnails into the store `blobs`."""

    def __init__(
        self, db: Database, client: OutboundClient, blobs: Blobs, sandbox: Sandbox, clock: Clock, log: Log, folder: Path
    ) -> None:
        self._db = db
        self._client = client
        self._blobs = blobs
        self._sandbox = sandbox
        self._clock = clock
        self._log = log
        self._folder = folder
        self._slots = FetchSlots()
        self._decoding = asyncio.Semaphore(DECODED_TOGETHER)
        self._fetching = KeyedTasks[None]()

    async def wait_for(self, url: str, account_id: str) -> None:
        """Waits until the state of a page's card holds, two seconds at most.

        A fetch that takes longer goes on, and its card is shown from then on. When the account has too many under way,
        the page is left to its job.
        """
        try:
            async with asyncio.timeout(BUDGET_SECONDS):
                state = await self._db.one(queries.FIND_STATE, url=url)
                if state is None or not state.holds(self._clock.now()):
                    # The fetch belongs to all that wait for the page: a create that gives up must not end it.
                    await asyncio.shield(self._begin(url, account_id))
        except (TimeoutError, Busy, CardPostponed):
            return
        except Exception as error:  # a post must not fail for want of a card
            self._log.recurring("link card not fetched", error)

    def handler(self) -> Handler:
        """Returns the handler of jobs, which fetch cards that were not fetched while their post was created."""
        return Handler(actions.FETCH, self._work, TOGETHER, RETRIES, each=OF_ACCOUNT)

    async def sweep(self, before: int) -> None:
        """Removes thumbnails without a card, stored before `before` (milliseconds) by a process that was killed."""
        async for key in self._blobs.list_older("cards", before):
            # Only old ones are listed: a thumbnail is stored a moment before its card's row.
            if await self._db.one(queries.FIND_BY_IMAGE, image_token=key.removeprefix("cards/")) is None:
                await self._blobs.delete(key)

    async def close(self) -> None:
        """Cuts off all fetches, whose jobs remain, and closes the client."""
        await self._fetching.end(0)
        await self._client.close()

    def _begin(self, url: str, account_id: str, *, bounded: bool = True) -> asyncio.Task[None]:
        """Returns the fetch of this page that is under way in this process, begun now if there is none."""
        return self._fetching.get(url) or self._fetching.start(
            url, None, self._fetch(url, account_id, bounded=bounded), "link card"
        )

    async def _work(self, job: Job, token: str) -> None:
        fetch = self._begin(job.subject, job.account_id, bounded=False)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS + FETCH_SECONDS + IMAGE_LIMITS.wall_seconds):
                await asyncio.shield(fetch)
        except (TimeoutError, Busy, CardPostponed):
            raise Postpone("Other link cards come first.", LATER) from None
        state = await self._db.one(queries.FIND_STATE, url=job.subject)
        wanting = state is None or state.status != CardStatus.READY
        if wanting and job.tries <= len(RETRIES):
            raise TryAgain("The page could not be fetched.")
        await self._db.transact(queue.finish, job, token)

    async def _fetch(self, url: str, account_id: str, *, bounded: bool) -> None:
        host, token = urlsplit(url).hostname or "", uuid.uuid4().hex
        await self._slots.prepare()
        # Again after a claim that failed: another process has the page, and its outcome is waited for.
        while not await self._wait_for_others(url):
            async with self._slots.taken(account_id, host, bounded=bounded):
                # In the database, so that a page is fetched once at a time by all processes together.
                if await self._db.transact(actions.claim, url, token):
                    await self._fetch_claimed(url, token)
                    return

    async def _fetch_claimed(self, url: str, token: str) -> None:
        try:
            card = await self._fetch_card(url)
            left_over = await self._db.transact(actions.save_card, card, token)
        except CardUnavailable:
            await self._db.transact(queries.save_failure, url, token)
        except Exception:  # No fault of the page, so nothing is remembered of it.
            await self._db.transact(queries.give_back, url, token)
            raise
        else:
            if left_over is not None:
                with contextlib.suppress(Unavailable):  # the sweep removes it then
                    await self._blobs.delete(card_blob(left_over))

    async def _wait_for_others(self, url: str) -> bool:
        """Waits for the outcome of another fetch. Returns False when there is none, or its lease has run out."""
        while True:
            state: CardState | None = await self._db.one(queries.FIND_STATE, url=url)
            now = self._clock.now()
            if state is not None and state.holds(now):
                return True
            if state is None or state.leased_until <= now:
                return False
            await asyncio.sleep(POLL_SECONDS)

    async def _fetch_card(self, url: str) -> Card:
        found = await fetch_card(self._client, url, seconds=FETCH_SECONDS)
        token = await self._save_image(found.image) if found.image else None
        return Card(url, found.title, found.description, found.site_name, token)

    async def _save_image(self, image: bytes) -> str | None:
        """Stores a thumbnail made of the page's image. Returns the token of its address; None if it is not an image."""
        kind = sniff(image[:4096])
        if kind is None or kind.is_video:
            return None
        async with work_folder(self._folder) as folder:
            try:
                await run_to_end(lambda: (folder / "image").write_bytes(image))
                async with self._decoding:
                    await self._sandbox.process(folder / "image", kind, folder, IMAGE_LIMITS)
                token = uuid.uuid4().hex
                await self._blobs.put_file(card_blob(token), folder / "thumbnail.webp", "image/webp")
            # A card without a picture is better than none.
            except (Undecodable, ChildDied, Unavailable, OSError):
                return None
        return token
