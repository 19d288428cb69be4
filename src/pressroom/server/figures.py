"""Figures for the metrics that are looked up: of the disk, Redis and the replica, and of the rows in the database."""

import asyncio
import shutil

from pressroom import metrics
from pressroom.clock import SECOND, parse_iso
from pressroom.db import DatabaseAway, Tx
from pressroom.db.postgres.partitions import list_reaches
from pressroom.domains.webhooks.queries import leases
from pressroom.errors import Unavailable
from pressroom.jobs import overview
from pressroom.server.last_backup import find_last_backup
from pressroom.server.runtime import Runtime

LOOK_SECONDS = 15.0
"""Seconds between two looks."""

MOST = 10_000
"""Jobs of each kind and state that are counted."""


async def look_on(runtime: Runtime) -> None:
    """Records the figures, again and again, if anything is recorded."""
    while metrics.recorder is not None:
        try:
            await _look_around(runtime, metrics.recorder)
            await _look(runtime, metrics.recorder)
        except Exception as error:  # one failure must not end it
            metrics.recorder.unknown()
            runtime.log.recurring("figures cannot be read", error)
        await asyncio.sleep(LOOK_SECONDS)


async def _look_around(runtime: Runtime, recorder: metrics.Recorder) -> None:
    """Records the figures that need no primary."""
    disk = await asyncio.to_thread(shutil.disk_usage, runtime.settings.data_dir)
    recorder.level("pressroom_disk_free_bytes", disk.free)
    recorder.level("pressroom_disk_bytes", disk.total)
    if (backup := find_last_backup(runtime.settings)) is not None and backup.created_at:
        recorder.level("pressroom_last_backup_timestamp_seconds", parse_iso(backup.created_at) / SECOND)
    if runtime.settings.redis_url is not None:
        try:
            notice = await runtime.limiter.ping()
        except Unavailable as error:
            notice = error.message
        recorder.level("pressroom_redis_up", float(notice is None))
    if runtime.replica is not None:
        try:
            lag = await runtime.replica.lag()
        except DatabaseAway:
            lag = float("nan")
        recorder.level("pressroom_replica_lag_seconds", lag)


async def _look(runtime: Runtime, recorder: metrics.Recorder) -> None:
    overdue, depths, dead = await runtime.db.read(_figures)
    recorder.overdue(overdue / SECOND)
    recorder.jobs("waiting", {depth.kind: depth.waiting for depth in depths})
    recorder.jobs("dead", {kind.kind: kind.dead for kind in dead})
    if runtime.db.engine == "postgres":
        for reach in await runtime.db.read(list_reaches):
            recorder.partitions(reach.table_name, reach.ahead / SECOND)


async def _figures(tx: Tx) -> tuple[int, list[overview.Depth], list[overview.DeadOfKind]]:
    due_at = await leases.oldest_due(tx)
    overdue = 0 if due_at is None else max(0, tx.now - due_at)
    return overdue, await overview.list_depths(tx, MOST), await overview.count_dead(tx, MOST)
