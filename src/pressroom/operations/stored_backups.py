"""A store of backups: each adds the files that no earlier one has, encrypted if asked (docs/backup.md#into-a-bucket).

backups/2026-11-22t03-15-00z     the manifest of a backup, written last
objects/plain/SHA-256            a file of one or more backups, under the checksum of its content
objects/age-KEYS/SHA-256         the same, encrypted; KEYS is a digest of the public keys
"""

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from pathlib import Path
from typing import Final

from pressroom.blobs import BlobMissing, Blobs, opened_blobs
from pressroom.clock import SystemClock
from pressroom.errors import SettingError
from pressroom.operations.backup import source_of, take, written_to
from pressroom.operations.blob_copies import ANY_TIME
from pressroom.operations.encryption import Identities, Recipients
from pressroom.operations.kept_backups import MadeBackup, alone, is_name, past_rules, time_name
from pressroom.operations.manifests import (
    DATABASE,
    FileEntry,
    Manifest,
    check_schema,
    copy_file,
    decode_manifest,
    encode_manifest,
    entry_of,
    is_final,
    is_regular,
)
from pressroom.server.last_backup import record_backup
from pressroom.settings import Settings
from pressroom.threads import run_to_end

BACKUPS: Final = "backups"
OBJECTS: Final = "objects"
PLAIN: Final = "plain"
LOCK: Final = "backup.lock"
SCRATCH: Final = "backup.tmp"
ANY: Final = "application/octet-stream"
DELETED_AT_ONCE: Final = 100


class StoreTarget:
    """A new backup in a store.

    Args:
        store: The store of backups.
        scratch: An existing folder for files on their way.
        objects: The prefix of the keys of its files.
        present: The keys of files that the store has.
        earlier: An earlier backup with the same prefix: its media are not read again.
        recipients: Encrypts each file; None stores them as they are.
    """

    def __init__(
        self,
        store: Blobs,
        scratch: Path,
        objects: str,
        present: set[str],
        earlier: Manifest | None,
        recipients: Recipients | None,
    ) -> None:
        self._store = store
        self._scratch = scratch
        self._objects = objects
        self._present = present
        self._earlier = earlier.files if earlier is not None else {}
        self._recipients = recipients

    async def keep(self, file: Path, name: str) -> FileEntry:
        """Stores the content of a file unless the store has it (see `Target`)."""
        known = self._earlier.get(name) if is_final(name) else None
        if known is not None and self._key(known) in self._present and is_regular(file, known.size):
            return known
        # A copy: an export's file may be replaced between the reading of its checksum and its way to the store.
        copy = file if name == DATABASE else self._scratch / secrets.token_hex(16)
        sent = copy
        try:
            entry = await run_to_end(lambda: entry_of(file) if name == DATABASE else copy_file(file, copy))
            if (key := self._key(entry)) in self._present:
                return entry
            if (recipients := self._recipients) is not None:
                sent = copy.with_suffix(".age")
                await run_to_end(lambda: recipients.encrypt(copy, sent))
            await self._store.put_file(key, sent, ANY)
            self._present.add(key)
            return entry
        finally:
            copy.unlink(missing_ok=True)
            sent.unlink(missing_ok=True)

    def _key(self, entry: FileEntry) -> str:
        return f"{self._objects}/{entry.sha256}"


async def back_up_to_store(
    settings: Settings, store_settings: Settings, keep: Mapping[str, int], recipients: Recipients | None
) -> MadeBackup:
    """Makes a backup in a store, and removes those not to keep, with the files that no other backup has.

    Args:
        settings: Those of the installation.
        store_settings: The same, with the store of backups in place of that of media.
        keep: How many of each period are kept; empty keeps all.
        recipients: The public keys to encrypt for.

    Returns the new backup. Raises SettingError and the errors of the store.
    """
    source_of(settings)
    with written_to(settings, store_settings.blobs_url.partition("?")[0]):
        async with opened_blobs(store_settings) as store:
            with alone(settings.data_dir / LOCK, store.place), _scratch(settings) as scratch:
                names = [name async for name in _names(store)]
                objects = f"{OBJECTS}/{PLAIN if recipients is None else f'age-{recipients.digest}'}"
                newest = await _read(store, max(names)) if names else None
                earlier = newest if newest is not None and newest.objects == objects else None
                present = {key async for key in store.list_older(objects, ANY_TIME)}
                target = StoreTarget(store, scratch, objects, present, earlier, recipients)
                manifest = await take(settings, target, scratch / DATABASE)
                manifest.objects = objects
                name = time_name(SystemClock().now())
                # Last: without it there is no backup, only files that the next one finds, or removes.
                await store.put(_manifest_key(name), encode_manifest(manifest), "application/json")
                record_backup(settings, manifest.created_at, f"{store.place}, named {name}")
                removed = past_rules([*names, name], keep)
                if keep:
                    await _prune(store, [*names, name], removed)
                return MadeBackup(manifest, f"{store.place}, as {name}", removed)


class StoredBackup:
    """A backup in a store, to restore or verify (see `BackupSource`)."""

    def __init__(self, store: Blobs, name: str, manifest: Manifest, scratch: Path, keys: Identities | None) -> None:
        self.name = name
        self.manifest = manifest
        self._store = store
        self._scratch = scratch
        self._keys = keys

    async def entry(self, name: str) -> FileEntry:
        """Fetches a file and returns its entry. Raises FileNotFoundError when it is missing."""
        copy = self._scratch / secrets.token_hex(16)
        try:
            return await self.copy_to(name, copy)
        finally:
            copy.unlink(missing_ok=True)

    async def copy_to(self, name: str, target: Path) -> FileEntry:
        """Fetches a file (see `BackupSource`)."""
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = f"{self.manifest.objects}/{self.manifest.files[name].sha256}"
        fetched = target if self._keys is None else target.with_name(f"{target.name}.age")
        try:
            await self._store.fetch_to(key, fetched)
        except BlobMissing:
            raise FileNotFoundError(key) from None
        if (keys := self._keys) is not None:
            await run_to_end(lambda: keys.decrypt(fetched, target))
            fetched.unlink()
        return await run_to_end(lambda: _durable_entry(target))


@contextlib.asynccontextmanager
async def opened_backup(store_settings: Settings, name: str | None, keys: Path | None) -> AsyncGenerator[StoredBackup]:
    """Opens a backup of a store: the newest unless named.

    Args:
        store_settings: The store of backups, as that of media.
        name: The name of a backup.
        keys: The file with the secret keys.

    Raises SettingError and the errors of the store.
    """
    async with opened_blobs(store_settings) as store:
        names = [each async for each in _names(store)]
        if not names:
            raise SettingError(f"{store.place} holds no backup.")
        if name is not None and name not in names:
            raise SettingError(f"{store.place} holds no backup {name}, but {', '.join(sorted(names))}.")
        chosen = name or max(names)
        manifest = check_schema(await _read(store, chosen))
        encrypted = manifest.objects != f"{OBJECTS}/{PLAIN}"
        if encrypted and keys is None:
            raise SettingError(f"{chosen} is encrypted: name the file of the secret key, --identity FILE.")
        with tempfile.TemporaryDirectory() as scratch:
            identities = Identities(keys) if encrypted and keys is not None else None
            yield StoredBackup(store, chosen, manifest, Path(scratch), identities)


@contextlib.contextmanager
def _scratch(settings: Settings) -> Generator[Path]:
    """Yields an empty folder for the holder of the lock. Not in `processing`: the server sweeps it hourly."""
    folder = settings.data_dir / SCRATCH
    shutil.rmtree(folder, ignore_errors=True)  # of a command that was killed
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _prune(store: Blobs, names: list[str], removed: list[str]) -> None:
    """Removes backups, then the files that no other one has."""
    used: set[str] = set()
    # Every other manifest is read before anything is removed: one that cannot be read must not lose its files.
    for name in names:
        if name not in removed:
            manifest = await _read(store, name)
            used.update(f"{manifest.objects}/{entry.sha256}" for entry in manifest.files.values())
    # The manifests first: a removal that is cut off must not leave one whose files are gone.
    await store.delete(*(_manifest_key(name) for name in removed))
    batch: list[str] = []
    async for key in store.list_older(OBJECTS, ANY_TIME):
        if key not in used:
            batch.append(key)
        if len(batch) == DELETED_AT_ONCE:
            await store.delete(*batch)
            batch.clear()
    await store.delete(*batch)


async def _names(store: Blobs) -> AsyncGenerator[str]:
    """Yields the names of all backups, unordered."""
    async for key in store.list_older(BACKUPS, ANY_TIME):
        # Keys have small letters alone.
        if is_name(name := key.removeprefix(f"{BACKUPS}/").upper()):
            yield name


async def _read(store: Blobs, name: str) -> Manifest:
    data = b"".join([piece async for piece in store.read(_manifest_key(name))])
    return decode_manifest(data, f"The manifest of {name} in {store.place}")


def _manifest_key(name: str) -> str:
    return f"{BACKUPS}/{name.lower()}"


def _durable_entry(file: Path) -> FileEntry:
    with file.open("rb") as reading:
        os.fsync(reading.fileno())
    return entry_of(file)
