"""`pressroom doctor` checks an installation. It removes again whatever it writes to do so."""

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from pressroom.blobs import Blobs, open_blobs
from pressroom.clock import DAY, HOUR, SECOND, SystemClock, iso, parse_iso
from pressroom.db import Database, Query
from pressroom.db.migrate import applied_version, check_migrated, newest_schema, touch
from pressroom.db.postgres.partitions import MOST_BYTES, WEEK, list_reaches
from pressroom.db.schema import check_schema
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.events.queries import find_latest_time
from pressroom.domains.limits.guard import rates_of
from pressroom.domains.limits.redis import RedisLimiter
from pressroom.domains.mail.mailer import Mailer
from pressroom.domains.mail.messages import Mail
from pressroom.domains.mail.smtp import check_server
from pressroom.domains.media.actions import expected_blobs
from pressroom.domains.media.confinement import check_confinement, find_confinement
from pressroom.errors import PressroomError, SettingError, Unavailable
from pressroom.jobs import queue
from pressroom.operations.permissions import find_problems
from pressroom.operations.transfer.marks import check_target
from pressroom.outbound import policy_of
from pressroom.server.clock_watch import SKEW
from pressroom.server.database import check_exists, check_files, open_database, open_directly
from pressroom.server.last_backup import LastBackup, find_last_backup
from pressroom.server.serve import check_port_is_free
from pressroom.settings import Settings

ANSWER_SECONDS: Final = 2.0
"""Seconds that an answer may take."""

ANSWER_BYTES: Final = 4_096
"""Bytes of an answer that are read."""

MOST_DAYS: Final = 8
"""Days after which the last backup is reported as old: a weekly one is not."""

LITTLE_SPACE: Final = 256 * 1024 * 1024
MAKE_PARTITIONS: Final = "Run pressroom migrate; the log of the clean-up says why no server made them."
STORE_SECONDS: Final = 20.0
WORKING_FOLDERS: Final = ("incoming", "processing")
MISSING: Final = "The first serve creates it; if it existed, it was moved, or its disk is not mounted."
INTEGRITY: Final = Query(str, "PRAGMA quick_check(1)")
SERVER_TIME: Final = Query(int, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")


class Readiness(msgspec.Struct, frozen=True):
    """The answer of `/readyz`, in its fields for an operator; both are empty when nothing is wrong.

    Attributes:
        warning: A fault despite which requests are served.
        message: Why none are served.
    """

    warning: str = ""
    message: str = ""


class Health(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer of `/healthz`, by which a Pressroom is known."""

    status: str
    version: str
    maintenance: str = ""


async def find_server(settings: Settings) -> Readiness | None:
    """Returns the report of the Pressroom on this port about itself; None when none answers there."""
    try:
        msgspec.json.decode(await _read(settings, "/healthz"), type=Health)
        return msgspec.json.decode(await _read(settings, "/readyz"), type=Readiness)
    except (OSError, TimeoutError, msgspec.DecodeError, UnicodeError):
        return None


async def _read(settings: Settings, path: str) -> bytes:
    """Returns the body of an answer. Raises OSError or TimeoutError."""
    # An address to listen on is none to connect to.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    async with asyncio.timeout(ANSWER_SECONDS):
        reader, writer = await asyncio.open_connection(host, settings.port)
        try:
            writer.write(f"GET {path} HTTP/1.0\r\nHost: {urlsplit(settings.base_url).netloc}\r\n\r\n".encode())
            answer = await reader.read(ANSWER_BYTES)
        finally:
            writer.close()
    return answer.partition(b"\r\n\r\n")[2]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    subject: str
    good: bool
    message: str


async def report(settings: Settings, bad: list[Finding], to: str) -> None:
    """Mails the problems. Raises Unavailable, TryAgain or GiveUp when the mail server does not take it."""
    subjects = ", ".join(finding.subject for finding in bad)
    text = "".join(f"{finding.subject}: {finding.message}\n" for finding in bad)
    mail = Mail(to, f"{urlsplit(settings.base_url).netloc}: {subjects}", f"pressroom doctor finds:\n\n{text}")
    await Mailer(settings, SystemClock()).send(mail)


async def examine(settings: Settings, backup_within: int | None = None) -> list[Finding]:
    """Checks settings, machine, running server, database and store. A failed check does not stop the others.

    Args:
        settings: Those of the installation.
        backup_within: Hours after which the last backup is old; None for those of a weekly one, if there was any.
    """
    findings = [_settings(settings), _disk(settings), _files(settings), _media(settings)]
    if (backup := _backup(find_last_backup(settings), backup_within)) is not None:
        findings.append(backup)
    findings += await _port(settings)
    # A database that a restore or a transfer left unfinished is not opened: that alone could change its files.
    try:
        check_files(settings)
    except SettingError as error:
        return [*findings, Finding("database", good=False, message=error.message)]
    findings.append(await _attempt("blobs", lambda: _blobs(settings)))
    findings.append(await _attempt("mail", lambda: _mail(settings)))
    # SQLite makes a file that is missing, and a check makes nothing.
    try:
        check_exists(settings)
    except SettingError as error:
        return [*findings, Finding("database", good=False, message=error.message)]
    if settings.redis_url:
        findings.append(await _attempt("limiter", lambda: _redis(settings)))
    if settings.database_url != settings.database_direct_url:
        findings.append(await _attempt("pooler", lambda: _pooler(settings)))
    try:
        db = await _open(settings)
    except PressroomError as error:
        return [*findings, Finding("database", good=False, message=error.message)]
    try:
        findings.append(await _attempt("database", lambda: _database(db)))
        # The other checks read tables, which a database without migrations lacks.
        if findings[-1].good:
            findings.append(await _attempt("clock", lambda: _clock(db)))
            findings.append(await _attempt("jobs", lambda: _jobs(db)))
            if db.engine == "postgres":
                findings.append(await _attempt("partitions", lambda: _partitions(db)))
            findings.append(await _attempt("media store", lambda: _media_store(db, settings)))
    finally:
        await db.close()
    return findings


async def _attempt(subject: str, check: Callable[[], Awaitable[Finding]]) -> Finding:
    try:
        return await check()
    except PressroomError as error:
        return Finding(subject, good=False, message=error.message)


def _settings(settings: Settings) -> Finding:
    try:
        policy_of(settings)
    except SettingError as error:
        return Finding("settings", good=False, message=error.message)
    if settings.dev:
        return Finding("settings", good=True, message="Development mode is on: not for the open internet.")
    return Finding("settings", good=True, message=f"Serving {settings.base_url}.")


def _disk(settings: Settings) -> Finding:
    """Checks that the data and working folders are writable, and the free space of their disks."""
    folder = settings.data_dir
    try:
        if _is_missing(folder):
            return Finding("disk", good=False, message=f"{folder} is not there. {MISSING}")
        places = [folder, *(folder / name for name in WORKING_FOLDERS if (folder / name).is_dir())]
        for place in places:
            with tempfile.TemporaryFile(dir=place) as file:
                file.write(b"pressroom")
        # One line for each disk, named by the data folder where others lie on the same.
        disks = {place.stat().st_dev: place for place in reversed(places)}
        free = {place: shutil.disk_usage(place).free for place in reversed(disks.values())}
    except OSError as error:
        return Finding("disk", good=False, message=f"{error.filename or folder} cannot be written: {error.strerror}.")
    message = " ".join(f"{place} has {size // 2**20:,} MiB free." for place, size in free.items())
    return Finding("disk", good=min(free.values()) > LITTLE_SPACE, message=message)


def _is_missing(folder: Path) -> bool:
    """Returns whether nothing exists at this path. A path that this user may not access is not missing."""
    try:
        folder.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _files(settings: Settings) -> Finding:
    problems = list(find_problems(settings))
    message = " ".join(problems) or f"{settings.data_dir} and the database are for this user alone."
    return Finding("files", good=not problems, message=message)


async def _port(settings: Settings) -> list[Finding]:
    """Checks that the port is free, or in use by a Pressroom that has nothing to warn of."""
    place = f"{settings.host}:{settings.port}"
    try:
        check_port_is_free(settings.host, settings.port)
    except PressroomError as error:
        server = await find_server(settings)
        if server is None:
            return [Finding("port", good=False, message=f"{error.message} No Pressroom answers there.")]
        # Only the running server knows that its clock was set ahead: the database has no time after that yet.
        report = server.message or server.warning
        return [
            Finding("port", good=True, message=f"A Pressroom answers on {place}."),
            Finding("server", good=not report, message=report or "It is ready and warns of nothing."),
        ]
    return [Finding("port", good=True, message=f"{place} is free: no Pressroom runs there.")]


async def _blobs(settings: Settings) -> Finding:
    """Checks that the store of media can write, read and delete."""
    blobs = await _open_blobs(settings)
    key, data = f"doctor/{secrets.token_hex(16)}", secrets.token_bytes(64)
    try:
        async with asyncio.timeout(STORE_SECONDS):
            await blobs.put(key, data, "application/octet-stream")
            read = b"".join([piece async for piece in blobs.read(key)])
            await blobs.delete(key)
    except TimeoutError:
        return Finding("blobs", good=False, message=f"{blobs.place} did not answer within {STORE_SECONDS:.0f} seconds.")
    finally:
        await blobs.close()
    message = "stores and returns data." if read == data else "returned other data than was stored."
    return Finding("blobs", good=read == data, message=f"{blobs.place} {message}")


async def _open_blobs(settings: Settings) -> Blobs:
    """Opens the store of media. Raises SettingError, also if its folder is missing: only the server creates it."""
    scheme, _, folder = settings.blobs_url.partition("://")
    if scheme == "file" and _is_missing(Path(folder)):
        raise SettingError(f"{folder} is not there. {MISSING}")
    return await asyncio.to_thread(open_blobs, settings)


async def _mail(settings: Settings) -> Finding:
    """Checks that the mail server greets us, encrypts and takes our password. Sends nothing."""
    if settings.smtp_url is None:
        message = "No mail is sent: PRESSROOM_SMTP_URL is not set. pressroom account reset NAME makes a link by hand."
        return Finding("mail", good=True, message=message)
    await check_server(settings.smtp_url, settings.mail_from.address.rpartition("@")[2])
    return Finding("mail", good=True, message=f"{settings.smtp_url.place} takes mail of {settings.mail_from.address}.")


def _media(settings: Settings) -> Finding:
    found = find_confinement()
    try:
        check_confinement(found, full=settings.media_confinement)
    except PressroomError as error:
        return Finding("media", good=False, message=error.message)
    if found.is_full:
        return Finding("media", good=True, message=f"Children that decode are fully confined: {found}.")
    message = (
        f"Children that decode are NOT fully confined: {found}. A file that breaks into its decoder could reach what"
        " this user can; PRESSROOM_MEDIA_CONFINEMENT=full refuses to start like this."
    )
    return Finding("media", good=True, message=message)


async def _open(settings: Settings) -> Database:
    """Opens the database without migrating it."""
    if (file := settings.database_file) is not None:
        return open_sqlite(file, SystemClock())
    return await open_directly(settings, SystemClock())


async def _pooler(settings: Settings) -> Finding:
    """Checks that the pooler leads to a database that can be read."""
    db = await open_database(settings, SystemClock())
    try:
        await applied_version(db)
    finally:
        await db.close()
    return Finding(
        "pooler", good=True, message=f"It leads to PostgreSQL; each {settings.database_pooler} has a session."
    )


async def _partitions(db: Database) -> Finding:
    """Checks that each table has partitions ahead, and that few rows found none (docs/operations.md#partitions)."""
    reaches = await db.read(list_reaches)
    good = bool(reaches) and all(each.ahead >= WEEK and each.rest_bytes <= MOST_BYTES for each in reaches)
    message = " ".join(
        f"{each.table_name}: made for {each.ahead // DAY} days ahead, {each.rest_bytes // 2**20:,} MiB outside."
        for each in reaches
    )
    return Finding("partitions", good=good, message=message if good else f"{message} {MAKE_PARTITIONS}")


async def _redis(settings: Settings) -> Finding:
    limiter = RedisLimiter(rates_of(settings), settings.redis_url or "", settings.redis_timeout_ms / 1_000)
    try:
        await limiter.ping()
    finally:
        await limiter.close()
    return Finding("limiter", good=True, message="Redis answers.")


async def _database(db: Database) -> Finding:
    try:
        version = await check_migrated(db)
    except SettingError as error:
        return Finding("database", good=False, message=error.message)
    newer = "" if version == (own := newest_schema()) else f" (this version's is {own}, and it may serve)"
    await check_target(db)
    await check_schema(db)
    # A standby and a full disk can be read, and refuse only a write.
    try:
        await db.transact(touch)
    except Unavailable:
        return Finding("database", good=False, message="It can be read but not written: every write would be a 503.")
    if db.engine == "sqlite":
        verdict = await db.one(INTEGRITY)
        return Finding(
            "database", good=verdict == "ok", message=f"SQLite, schema {version}{newer}, integrity: {verdict}."
        )
    return Finding("database", good=True, message=f"PostgreSQL, schema {version}{newer}.")


async def _jobs(db: Database) -> Finding:
    dead, deferred = await db.read(queue.count_dead), await db.read(queue.count_deferred)
    if deferred.count:
        waiting = "1 job waits" if deferred.count == 1 else f"{deferred.count:,} jobs wait"
        message = f"{waiting} for something that this installation lacks. Last error: {deferred.error}"
        return Finding("jobs", good=False, message=message)
    message = f"{dead:,} jobs were given up; the table jobs says why." if dead else "None was given up."
    return Finding("jobs", good=True, message=message)


async def _media_store(db: Database, settings: Settings) -> Finding:
    """Checks that the store of this process holds files that the database refers to."""
    blobs = await _open_blobs(settings)
    try:
        expected = await db.read(expected_blobs)
        missing = [key for key in expected if await blobs.stat(key) is None]
        if not missing:
            return Finding("media store", good=True, message=f"{blobs.place} holds the files that were looked for.")
        message = (
            f"{missing[0]} is not in {blobs.place}. Every process that serves or works must be given the same"
            " PRESSROOM_BLOBS_URL: one shared folder, or S3."
        )
        return Finding("media store", good=False, message=message)
    finally:
        await blobs.close()


def _backup(last: LastBackup | None, within: int | None) -> Finding | None:
    """Checks the last attempt of a backup and the age of the last one; None where none was made and none is wanted."""
    if last is None or last.created_at is None:
        says, age = "There is none yet.", None
    else:
        says = f"The last one is of {last.created_at}, in {last.folder}."
        age = max(0, SystemClock().now() - parse_iso(last.created_at))
    if last is not None and last.failed_at is not None:
        return Finding("backup", good=False, message=f"The attempt of {last.failed_at} failed: {last.failure} {says}")
    if age is None:
        return None if within is None else Finding("backup", good=False, message=says)
    if age <= (MOST_DAYS * DAY if within is None else within * HOUR):
        return Finding("backup", good=True, message=says)
    return Finding("backup", good=False, message=f"{says} That is {age / HOUR:,.0f} hours ago.")


async def _clock(db: Database) -> Finding:
    now = SystemClock().now()
    if db.engine == "postgres":
        skew = abs((await db.one(SERVER_TIME) or 0) - now)
        return Finding("clock", good=skew < SKEW, message=f"{skew / SECOND:.1f} s from the database server's.")
    newest = await db.read(find_latest_time)
    message = f"It is {iso(now)}; the newest event is of {iso(newest)}." if newest else f"It is {iso(now)}."
    return Finding("clock", good=newest <= now + SKEW, message=message)
