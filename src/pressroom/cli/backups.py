"""The operator's commands that copy a whole installation: backup, restore, transfer to PostgreSQL."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from pressroom.cli.console import errors, own_settings, plain, run

if TYPE_CHECKING:
    from pressroom.operations.kept_backups import MadeBackup
    from pressroom.operations.manifests import BackupSource, Manifest

T = TypeVar("T")

_named = click.option("--name", help="Of a store: the name of one of its backups; the newest unless given.")
_identity = click.option(
    "--identity", type=click.Path(path_type=Path), help="The file of the secret key, of a backup that is encrypted."
)


@click.command("backup")
@click.option("--to", metavar="FOLDER", help="A folder that is empty or not there yet, for one backup.")
@click.option(
    "--into",
    metavar="PLACE",
    help="A folder of backups, or a store: s3://BUCKET/PREFIX?… or file:///FOLDER. Each shares its media with others.",
)
@click.option("--keep", metavar="RULES", help="With --into: daily=7,weekly=4,monthly=12 or some of these; others go.")
@click.option("--encrypt-to", multiple=True, metavar="KEY", help="A public key of age; only into a store. Repeatable.")
@click.option("--verify", metavar="PLACE", help="A backup, or a store of them, to compare with its manifest.")
@_named
@_identity
def backup_command(
    to: str | None,
    into: str | None,
    keep: str | None,
    encrypt_to: tuple[str, ...],
    verify: str | None,
    name: str | None,
    identity: Path | None,
) -> None:
    """Copy the database and media of an installation on SQLite, also while it serves; or verify a backup."""
    from pressroom.operations.backup import back_up
    from pressroom.operations.kept_backups import MadeBackup, back_up_into, parse_keep

    if [to, into, verify].count(None) != 2 or (keep is not None and into is None):
        raise click.UsageError("Give one of --to, --into and --verify; --keep goes with --into.")
    if to is not None and _is_store(to):
        raise click.UsageError("--to takes a folder; --into s3://… adds a backup to a store.")
    if encrypt_to and not (into is not None and _is_store(into)):
        raise click.UsageError("--encrypt-to goes with --into s3://… or file:///….")
    if verify is not None:
        _verify(verify, name, identity)
        return
    rules = {} if keep is None else parse_keep(keep)
    if into is not None and _is_store(into):
        made = _back_up_to_store(into, rules, encrypt_to)
    elif into is not None:
        made = run(back_up_into(own_settings(), Path(into), rules))
    else:
        folder = Path(to or "")
        made = MadeBackup(run(back_up(own_settings(), folder)), str(folder), [])
    for key in made.manifest.missing:
        errors().print(f"[yellow]pressroom:[/] {plain(f'the store lacks {key}, which the database refers to')}")
    for skipped in made.manifest.skipped:
        errors().print(f"[yellow]pressroom:[/] {plain(f'{skipped} is not a regular file and was skipped')}")
    click.echo(f"Backed up {len(made.manifest.files):,} files to {made.place}.")
    for removed in made.removed:
        click.echo(f"Removed {removed}.")


def _is_store(place: str) -> bool:
    return "://" in place


def _back_up_to_store(place: str, rules: dict[str, int], encrypt_to: tuple[str, ...]) -> "MadeBackup":
    from pressroom.operations.encryption import Recipients
    from pressroom.operations.stored_backups import back_up_to_store

    recipients = Recipients(encrypt_to) if encrypt_to else None
    return run(back_up_to_store(own_settings(), own_settings({"PRESSROOM_BLOBS_URL": place}), rules, recipients))


def _with_backup(
    place: str, name: str | None, identity: Path | None, work: "Callable[[BackupSource], Awaitable[T]]"
) -> "T":
    """Returns the result of `work` on the backup in a folder, or on one of a store."""
    from pressroom.operations.manifests import FolderBackup

    if not _is_store(place) and (name or identity):
        raise click.UsageError("--name and --identity are for a backup in a store: s3://… or file:///….")

    async def use() -> "T":
        if not _is_store(place):
            return await work(FolderBackup(Path(place)))
        from pressroom.operations.stored_backups import opened_backup

        async with opened_backup(own_settings({"PRESSROOM_BLOBS_URL": place}), name, identity) as found:
            return await work(found)

    return run(use())


def _verify(place: str, name: str | None, identity: Path | None) -> None:
    """Compares a backup with its manifest. Raises SettingError when it is damaged."""
    from pressroom.errors import SettingError
    from pressroom.operations.manifests import find_damaged

    async def compare(source: "BackupSource") -> "tuple[Manifest, list[str]]":
        return source.manifest, await find_damaged(source)

    manifest, damaged = _with_backup(place, name, identity, compare)
    if damaged:
        more = f" and {len(damaged) - 1:,} more" if damaged[1:] else ""
        raise SettingError(f"The backup is damaged: {damaged[0]}{more} is missing, or differs from the manifest.")
    click.echo(f"All {len(manifest.files):,} files of {place.partition('?')[0]} are as of {manifest.created_at}.")


@click.command("restore")
@click.option("--from", "source", required=True, metavar="PLACE", help="A folder that backup filled, or a store.")
@_named
@_identity
def restore_command(source: str, name: str | None, identity: Path | None) -> None:
    """Put a backup into PRESSROOM_DATA_DIR, which must be empty."""
    from pressroom.operations.restore import restore, target_of

    settings = own_settings()
    target_of(settings)
    manifest = _with_backup(source, name, identity, lambda found: restore(settings, found))
    click.echo(f"Restored {len(manifest.files):,} files as of {manifest.created_at}.")


@click.command("transfer")
@click.option("--from", "source", required=True, metavar="URL", help="The database to move: sqlite:///FILE.")
@click.option(
    "--to", "target", metavar="URL", help="The database to fill: postgresql://…; PRESSROOM_DATABASE_URL unless given."
)
@click.option(
    "--blobs-from", metavar="URL", help="Its media, file:///FOLDER, to copy; unset: PRESSROOM_BLOBS_URL has them."
)
def transfer_command(source: str, target: str | None, blobs_from: str | None) -> None:
    """Move an installation from SQLite into an empty, migrated PostgreSQL; again, if cut off, to go on."""
    from pressroom.operations.transfer.moving import transfer

    # A database that is named here is reached by no other way than this.
    named = {f"PRESSROOM_DATABASE_{each}": target for each in ("URL", "DIRECT_URL")} if target is not None else None
    moved = run(transfer(own_settings(named), source, blobs_from))
    if moved is None:
        click.echo("The transfer has ended before; nothing is left to do.")
        return
    for key in moved.missing:
        errors().print(f"[yellow]pressroom:[/] {plain(f'the store lacks {key}, which the database refers to')}")
    for name in moved.skipped:
        errors().print(f"[yellow]pressroom:[/] {plain(f'{name} is not a file of the store and was skipped')}")
    for table in moved.tables:
        click.echo(f"{table.name:<20} {table.rows:>12,} rows  SHA-256 {table.sha256}")
    rows = sum(table.rows for table in moved.tables)
    click.echo(f"Transferred {rows:,} rows and {moved.files:,} files; both sides are equal.")
