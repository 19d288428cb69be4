"""The run of an import: items become posts, some in each transaction (docs/importing.md)."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from pressroom.blobs import Blobs, opened_blobs
from pressroom.clock import Clock, iso, parse_iso
from pressroom.db import Database, Tx
from pressroom.db.params import BATCH
from pressroom.domains.accounts.models import folded
from pressroom.domains.accounts.queries import find_by_username
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.media.kinds import HEAD_BYTES, sniff
from pressroom.domains.media.models import FILE_BYTES_SIGNED_IN, NewMedia, source
from pressroom.domains.posts.actions.importing import import_posts
from pressroom.domains.posts.forms import UploadPost
from pressroom.domains.posts.models import ImportedPost
from pressroom.domains.posts.queries import writing
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.search.actions import index_again
from pressroom.domains.search.queries import find_left_out
from pressroom.errors import Code, FieldError, Invalid, NotFound, PressroomError, Unprocessable
from pressroom.ids import new_id
from pressroom.jobs.sweeps import PAUSE
from pressroom.operations.importing.sources import Attachment, BadSource, Item
from pressroom.settings import Settings
from pressroom.web.json_bodies import decode

PROGRESS: Final = 10_000
"""Items after which the operator is told how many were read."""

Say = Callable[[str], None]
"""Tells the operator something in a line."""


class Import(msgspec.Struct, frozen=True):
    """What to import, and how.

    Attributes:
        username: The account that the posts will belong to.
        name: The source, as the account's log names it.
        visibility: The audience of all posts; None: that of each item.
        dry_run: Changes nothing, and shows each new post.
        source: Who runs it.
    """

    username: str
    name: str
    visibility: Visibility | None
    dry_run: bool
    source: Source


async def import_items(
    settings: Settings, db: Database, clock: Clock, wanted: Import, items: Iterable[Item], say: Say
) -> Counter[str]:
    """Imports the items that are new, and returns how many items had each outcome.

    Posts that one transaction inserts are whole after a kill at any moment, and the next run goes on behind them.
    Raises NotFound for an unknown account, SettingError, and PressroomError for a source that cannot be read.
    """
    account = await db.read(find_by_username, folded(wanted.username))
    if account is None:
        raise NotFound(f"There is no account {wanted.username}, or it is suspended.")
    folder = settings.data_dir / "processing"  # where the server sweeps leftovers of a killed command
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with opened_blobs(settings) as blobs:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            run = _Run(settings, db, blobs, clock, wanted, account.id, Path(scratch), say)
            if not wanted.dry_run:
                await db.transact(_record, account.id, wanted)
            try:
                await run.take(items)
            finally:
                # What an import that ended early inserted is found too.
                if not wanted.dry_run and await db.read(find_left_out, account.id) is not None:
                    await db.transact(index_again)
                    say("The server indexes all posts again: until it has, search does not find every post.")
    return run.counts


async def _record(tx: Tx, account_id: str, wanted: Import) -> None:
    await record(tx, account_id, Kind.POSTS_IMPORTED, wanted.source, file=wanted.name)


class _Run:
    """One import. `counts` holds the number of items with each outcome."""

    def __init__(
        self,
        settings: Settings,
        db: Database,
        blobs: Blobs,
        clock: Clock,
        wanted: Import,
        account_id: str,
        scratch: Path,
        say: Say,
    ) -> None:
        self._storage = settings.account_storage_bytes
        self._db, self._blobs, self._clock = db, blobs, clock
        self._wanted, self._account_id, self._scratch, self._say = wanted, account_id, scratch, say
        self.counts = Counter[str]()

    async def take(self, items: Iterable[Item]) -> None:
        """Imports the items. Raises PressroomError for a source that cannot be read, behind those before the fault."""
        plain: list[Item] = []
        fault = ""
        try:
            for number, item in enumerate(items, 1):
                if not self._is_post(item):
                    pass
                elif item.files:
                    await self._take_batch([item])  # while their archive is open
                else:
                    plain.append(item)
                if len(plain) == BATCH:
                    await self._take_batch(plain)
                    plain = []
                if number % PROGRESS == 0:
                    self._say(f"{number:,} items read …")
        except BadSource as error:
            fault = str(error)
        await self._take_batch(plain)
        if fault:
            raise PressroomError(fault)

    def _is_post(self, item: Item) -> bool:
        is_post = not item.skip and bool(item.text or item.files)
        self.counts["left out"] += not is_post
        return is_post

    async def _take_batch(self, items: Sequence[Item]) -> None:
        """Imports items that were not imported before: those without files in one transaction."""
        if not items:
            return
        keys = [item.idempotency_key for item in items]
        known = set(await self._db.read(writing.list_imported, self._account_id, keys))
        plain: list[ImportedPost] = []
        for item, key in zip(items, keys, strict=True):
            if key in known:
                self.counts["imported before"] += 1
                continue
            known.add(key)
            try:
                post = self._post_of(item)
            except Invalid as refused:
                self._refuse(item, "; ".join(f"{each.field}: {each.message}" for each in refused.field_errors))
                continue
            if self._wanted.dry_run:
                self._show(item, post)
            elif item.files:
                await self._import_with_files(item, post)
            else:
                plain.append(post)
        if plain:
            await self._insert(plain)

    def _post_of(self, item: Item) -> ImportedPost:
        """Returns the post of an item, without its files. Raises Invalid."""
        now = self._clock.now()
        visibility = self._wanted.visibility or item.visibility
        given = {"content": item.text or None, "visibility": visibility and visibility.upper()}
        body = decode(UploadPost, msgspec.json.encode(given), [], now)
        new = body.new_post([])
        return ImportedPost(item.idempotency_key, _time_of(item.date, now), new.content, new.fields.visibility)

    def _show(self, item: Item, post: ImportedPost) -> None:
        text = post.content.text if post.content else ""
        self._say(f"{iso(post.created_at)} {post.visibility} {len(item.files)} files: {text[:100]}")
        self.counts["to be imported"] += 1

    def _refuse(self, item: Item, reason: str) -> None:
        self._say(f"{item.id}: {reason}")
        self.counts["refused"] += 1

    async def _insert(self, posts: Sequence[ImportedPost]) -> None:
        new = await self._db.transact(import_posts, self._account_id, posts, self._storage)
        await asyncio.sleep(PAUSE)  # in which a server beside it writes
        self.counts["imported"] += new
        self.counts["imported before"] += len(posts) - new

    async def _import_with_files(self, item: Item, post: ImportedPost) -> None:
        try:
            for attachment in item.files:
                if (new := await self._stage(item, attachment)) is not None:
                    post.media.append(new)
            if not post.media and post.content is None:
                self._refuse(item, "It has neither text nor a file that can be imported.")
                return
            await self._insert([post])
        except Unprocessable as refused:
            # A committed post needs its files, so only a proven rollback removes them.
            await self._blobs.delete(*(source(new.id) for new in post.media))
            raise PressroomError(
                f"{item.id}: {refused.field_errors[0].message} Set PRESSROOM_ACCOUNT_STORAGE_BYTES for this command."
            ) from None

    async def _stage(self, item: Item, attachment: Attachment) -> NewMedia | None:
        """Stores a file that no row refers to yet; None, and says why, when no post can have it."""
        spool = self._scratch / "file"
        with spool.open("w+b") as written:
            size = attachment.copy_to(written, FILE_BYTES_SIGNED_IN)
            written.seek(0)
            kind = sniff(written.read(HEAD_BYTES))
        if kind is None or not 0 < size <= FILE_BYTES_SIGNED_IN:
            limit = f"{FILE_BYTES_SIGNED_IN:,} bytes"
            self._say(f"{item.id}: the file {attachment.name} is left out: no picture or video of up to {limit}.")
            return None
        new = NewMedia(new_id(self._clock.now(), self._account_id), kind, attachment.alt_text or None, size)
        # Before the transaction, as for uploads: a committed post never refers to a missing file.
        await self._blobs.put_file(source(new.id), spool, "application/octet-stream")
        return new


def _time_of(date: str | None, now: int) -> int:
    """Returns a date of a source in milliseconds: midnight for a day, UTC for a time without a zone, `now` for None.

    Raises Invalid for another text, and for a time before 1970 or in the future.
    """
    if date is None:
        return now
    text = date.strip()
    for form in (f"{text}T00:00:00Z", text, f"{text}Z"):
        try:
            at = parse_iso(form)
        except ValueError:
            continue
        if 0 <= at <= now:
            return at
        raise Invalid([FieldError("createdAt", Code.OUT_OF_RANGE, f"{date} is before 1970 or in the future.")])
    message = "This is no date such as 2019-04-01 or 2019-04-01T10:00:00Z."
    raise Invalid([FieldError("createdAt", Code.INVALID_FORMAT, message)])
