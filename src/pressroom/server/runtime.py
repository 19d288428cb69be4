"""Everything that a running server holds open: opened once, closed once."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pressroom.blobs import Blobs, open_blobs
from pressroom.clock import SECOND, Clock, SystemClock
from pressroom.db import Database
from pressroom.db.postgres.replica import Replica
from pressroom.domains.clips.queries import CLIPS_BY_KEY, CLIPS_SIGNED_IN
from pressroom.domains.comments.queries import COMMENTS_BY_KEY, COMMENTS_SIGNED_IN
from pressroom.domains.drafts.jobs import publishing_handler
from pressroom.domains.drafts.queries import DRAFTS_BY_KEY, DRAFTS_SIGNED_IN
from pressroom.domains.event_stream.streams import Streams
from pressroom.domains.event_stream.watch import EventWatch
from pressroom.domains.explore.picking import Picker
from pressroom.domains.follows.jobs import request_handler
from pressroom.domains.home.jobs import notification_handler
from pressroom.domains.keys.actions import warn_of_expiry
from pressroom.domains.keys.guard import LastUsed
from pressroom.domains.keys.usage import KeyUsage
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.limits.guard import Limiter, rates_of
from pressroom.domains.limits.local import LocalWhenAway
from pressroom.domains.limits.memory import MemoryLimiter
from pressroom.domains.limits.reserve import Reserve
from pressroom.domains.mail.mailer import Mailer
from pressroom.domains.media.jobs import LEFTOVER, Processing, sweep_folders
from pressroom.domains.media.sandbox import ChildExit, Sandbox
from pressroom.domains.notifications.actions import queue_mails
from pressroom.domains.personal_data.archive import export_handler, purge_exports
from pressroom.domains.personal_data.deletion import deletion_handler
from pressroom.domains.posts.jobs import tag_handler
from pressroom.domains.posts.queries.writing import DELETIONS_BY_KEY, EDITS_BY_KEY, POSTS_BY_KEY, POSTS_SIGNED_IN
from pressroom.domains.previews.cards import OF_ADDRESS, Cards
from pressroom.domains.reading.view_counter import ViewCounter
from pressroom.domains.reports.jobs import decision_handler, reporters_handler
from pressroom.domains.search import jobs as search
from pressroom.domains.shared_state.models import SecretName
from pressroom.domains.sign_in.jobs import mail_handlers
from pressroom.domains.sign_in.passwords import Passwords
from pressroom.domains.sign_in.sessions import SessionUse
from pressroom.domains.webhooks.delivery import DeliveryWorker
from pressroom.errors import PressroomError
from pressroom.jobs.schedule import Every, Schedule
from pressroom.jobs.sweeps import Batch, Sweep, SweepGroup, run_batches
from pressroom.jobs.worker import JobWorker
from pressroom.logs import Log
from pressroom.operations.retention import kept_of, purges_of, rotate_partitions
from pressroom.outbound import OutboundClient, policy_of
from pressroom.outbound.lookups import Resolve
from pressroom.server.clock_watch import ClockWatch, start_clock
from pressroom.server.database import check_to_serve, open_database, open_replica
from pressroom.server.shared_state import SECONDS, StateWatch, open_state
from pressroom.settings import RESERVE, Settings
from pressroom.settings.addresses import parse_redis
from pressroom.settings.values import WhenAway
from pressroom.threads import run_apart

WRITE_SECONDS = 1.0
"""Seconds that a stop tries to flush one write-behind buffer when the database does not answer."""

SOON = (1 * SECOND, 2 * SECOND, 4 * SECOND, 8 * SECOND)
"""Milliseconds between attempts in development mode, so that retries can be watched."""

DUE: Final[tuple[tuple[str, Batch], ...]] = (
    ("keys that expire soon", warn_of_expiry),
    ("mail about notifications", queue_mails),
)
"""The work of a sweep beside the removal of rows, by its name in the log."""

WRITTEN = (
    *(POSTS_BY_KEY, EDITS_BY_KEY, DELETIONS_BY_KEY, COMMENTS_BY_KEY, CLIPS_BY_KEY),
    *(POSTS_SIGNED_IN, COMMENTS_SIGNED_IN, CLIPS_SIGNED_IN, DRAFTS_BY_KEY, DRAFTS_SIGNED_IN),
)
"""Finds the writes of a key or a session, so that it counts against the limits even if the process that counted it was
killed (docs/limits.md#after-a-crash)."""


@dataclass(slots=True)
class Runtime:
    """Everything that requests and background work need, open."""

    settings: Settings
    clock: Clock
    db: Database
    replica: Replica | None
    outbound: OutboundClient
    blobs: Blobs
    cards: Cards
    processing: Processing
    sandbox: Sandbox
    state: StateWatch
    limiter: Limiter
    last_used: LastUsed
    session_use: SessionUse
    usage: KeyUsage
    events: EventWatch
    streams: Streams
    views: ViewCounter
    passwords: Passwords
    mailer: Mailer
    log: Log
    schedule: Schedule = field(init=False)
    draining: bool = False
    """Whether the server is about to stop, and wants no more requests."""

    async def close(self) -> None:
        """Flushes the write-behind buffers, then closes everything."""
        await self.schedule.stop()
        buffers = (
            ("limits", self.limiter.close),
            ("last used", self.last_used.flush),
            ("use of sessions", self.session_use.flush),
            ("usage of keys", self.usage.flush),
            ("views", self.views.flush),
        )
        for what, write in buffers:
            try:
                async with asyncio.timeout(WRITE_SECONDS):
                    await write()
            except (PressroomError, TimeoutError) as error:
                self.log.error("not saved at the stop", what=what, error=str(error))
        self.passwords.close()
        await self.cards.close()
        await self.sandbox.close()
        await self.outbound.close()
        await self.blobs.close()
        if self.replica is not None:
            await self.replica.close()
        await self.db.close()
        self.log.close()


async def open_runtime(
    settings: Settings, log: Log, clock: Clock | None = None, resolve: Resolve | None = None
) -> Runtime:
    """Opens everything; `resolve` looks up names for outbound requests. Raises SettingError."""
    clock = clock or SystemClock()
    policy = policy_of(settings)
    blobs, db, replica, state = await _open_stores(settings, clock, log)
    sandbox, folder = Sandbox(lambda ended: _log_child(log, ended)), settings.data_dir / "processing"
    # A client of their own: names of strangers' pages that hang must not keep webhooks waiting.
    pages = OutboundClient(policy, resolve=resolve, log=log, each_address=OF_ADDRESS)
    cards = Cards(db, pages, blobs, sandbox, clock, log, folder)
    events = EventWatch(db, clock)
    events.listen()
    runtime = Runtime(
        settings=settings,
        clock=clock,
        db=db,
        replica=replica,
        outbound=OutboundClient(policy, resolve=resolve, log=log),
        blobs=blobs,
        cards=cards,
        processing=Processing(db, blobs, sandbox, folder),
        sandbox=sandbox,
        state=state,
        limiter=_open_limiter(settings, db, clock, log),
        last_used=LastUsed(db),
        session_use=SessionUse(db),
        usage=KeyUsage(db),
        events=events,
        streams=Streams(db, clock, events),
        views=ViewCounter(db),
        passwords=Passwords(),
        mailer=Mailer(settings, clock),
        log=log,
    )
    runtime.schedule = Schedule(_recurring_work(runtime), log)
    return runtime


def _recurring_work(runtime: Runtime) -> list[Every]:
    """Returns the flushes of the write-behind buffers, the index of the search, the clock's watch and the sweeps."""
    db, data_dir = runtime.db, runtime.settings.data_dir
    return [
        Every(0.5, "limits", runtime.limiter.flush),
        Every(1, "last used", runtime.last_used.flush),
        Every(1, "use of sessions", runtime.session_use.flush),
        Every(1, "usage of keys", runtime.usage.flush),
        Every(1, "events for waiting readers", runtime.events.look),
        Every(1, "views", runtime.views.flush),
        Every(SECONDS, "state that all processes share", runtime.state.look),
        Every(search.SECONDS, "search index", lambda: search.index_waiting(db)),
        Every(10, "clock", ClockWatch(db, runtime.clock, runtime.log).run),
        *(Every(60, "clean-up", group.run) for group in _sweep_groups(runtime)),
        Every(600, "folders left behind", lambda: asyncio.to_thread(sweep_folders, data_dir)),
    ]


async def _open_stores(
    settings: Settings, clock: Clock, log: Log
) -> tuple[Blobs, Database, Replica | None, StateWatch]:
    """Returns the stores and the state that all processes share.

    Closes everything again when a later part cannot be opened.
    """
    async with AsyncExitStack() as opened:
        # Left behind by a stop, which a store that is silent must not hold up.
        blobs = await run_apart(partial(open_blobs, settings))
        opened.push_async_callback(blobs.close)
        db = await open_database(settings, clock)
        opened.push_async_callback(db.close)
        await check_to_serve(db)
        await start_clock(db, clock)
        state = await open_state(db)
        replica = await open_replica(settings, db, clock, log)
        opened.pop_all()
        return blobs, db, replica, state


def _open_limiter(settings: Settings, db: Database, clock: Clock, log: Log) -> Limiter:
    """Returns the limiter: the one of several processes if they share a Redis."""
    rates = rates_of(settings)
    if not settings.redis_url:
        return MemoryLimiter(rates, db, clock, WRITTEN, reserve=Reserve(settings.data_dir / RESERVE))
    from pressroom.domains.limits.redis import RedisLimiter  # a third of all modules of a server, and most need none

    shared = RedisLimiter(
        rates, settings.redis_url, settings.redis_timeout_ms / 1_000, installation=settings.installation
    )
    counts_keys = settings.limits_when_away is WhenAway.LOCAL
    return LocalWhenAway(shared, clock, log, counts_keys=counts_keys, address=parse_redis(settings.redis_url).shown)


def _log_child(log: Log, ended: ChildExit) -> None:
    """Logs the end of a child process that failed or was killed."""
    if ended.status != 0:
        log.warning("a child that decodes ended badly", status=ended.status, cpu_seconds=ended.cpu_seconds)


def _sweep_groups(runtime: Runtime) -> tuple[SweepGroup, ...]:
    """Returns the sweeps that one process at a time does for all: expired rows, files without a row, picks."""
    db, clock, log, kept = runtime.db, runtime.clock, runtime.log, kept_of(runtime.settings)
    # By the clock of this machine, not the database's: ages of files are the disk's.
    files = (
        Sweep("uploads left behind", lambda: runtime.processing.sweep(SystemClock().now())),
        Sweep("cards left behind", lambda: runtime.cards.sweep(SystemClock().now() - LEFTOVER)),
        Sweep("copies of accounts", lambda: purge_exports(db, runtime.blobs, SystemClock().now())),
    )
    rows = [
        Sweep("partitions", lambda: rotate_partitions(db, log, kept.deliveries)),
        *(Sweep(name, partial(run_batches, db, batch)) for name, batch in (*DUE, *purges_of(db.engine, kept))),
    ]
    return (
        SweepGroup("rows", 60, db, clock, log, rows),
        SweepGroup("files", 600, db, clock, log, files),
        # Due half a minute early: groups are looked at once a minute, and this one is to be done every five minutes.
        SweepGroup("explore", 270, db, clock, log, [Sweep("picks of explore", Picker(db, clock).run)]),
    )


def make_worker(runtime: Runtime, concurrency: int | None = None) -> DeliveryWorker:
    """Returns a worker that delivers webhooks, at most `concurrency` at once, not yet started."""
    waits = [round(seconds * SECOND) for seconds in runtime.settings.webhook_retry_waits]
    soon = [min(wait, short) for wait, short in zip(waits, SOON, strict=False)] if runtime.settings.dev else None
    return DeliveryWorker(
        runtime.db, runtime.outbound, runtime.clock, runtime.log, waits, soon, concurrency=concurrency
    )


def make_job_worker(runtime: Runtime) -> JobWorker:
    """Returns a worker that processes media, fetches cards, updates lists and sends mail, not yet started."""
    mail_secret = runtime.state.secret(SecretName.UNSUBSCRIBING)
    handlers = [
        *runtime.processing.handlers(),
        runtime.cards.handler(),
        request_handler(runtime.db),
        publishing_handler(runtime.db, allowance_of(runtime.settings)),
        tag_handler(runtime.db),
        deletion_handler(runtime.db, runtime.blobs),
        export_handler(runtime.db, runtime.blobs, runtime.settings.data_dir / "processing"),
        *mail_handlers(runtime.db, runtime.mailer, runtime.settings.base_url),
        decision_handler(runtime.db, runtime.mailer, runtime.settings.base_url),
        reporters_handler(runtime.db),
        notification_handler(runtime.db, runtime.mailer, runtime.settings.base_url, mail_secret),
    ]
    return JobWorker(runtime.db, runtime.clock, runtime.log, handlers)
