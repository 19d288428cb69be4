"""The operator's commands on an installation: figures, jobs, endpoints, migration, backup, checks, OpenAPI document."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pressroom.cli.console import (
    acting,
    current_settings,
    errors,
    own_settings,
    plain,
    run,
    visible,
    wide,
    with_database,
)

if TYPE_CHECKING:
    import msgspec

    from pressroom.domains.audit.models import Source

_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@_as_json
def stats(as_json: bool) -> None:
    """Show how much there is, and what waits."""
    from pressroom.domains.administration import commands

    found = with_database(commands.stats)
    if as_json:
        _print_json(found)
        return
    for name, text in commands.stats_lines(found):
        click.echo(f"{name:<11} {text}")


@click.group()
def job() -> None:
    """See what is done in the background, and try again what was given up."""


@job.command("list")
@click.option("--limit", type=click.IntRange(1, 1_000), default=100, show_default=True, help="Dead jobs to show.")
@click.option("--cursor", help="Where to continue: the cursor that an earlier list printed.")
@_as_json
def job_list(limit: int, cursor: str | None, as_json: bool) -> None:
    """List how many jobs of each kind wait, and the dead ones, newest first."""
    from pressroom.domains.administration import commands

    found = with_database(lambda db: commands.list_jobs(db, limit, cursor))
    if as_json:
        _print_json(found)
        return
    wide().print(commands.queue_table(found))
    wide().print(commands.dead_table(found))
    if found.next_cursor:
        errors().print(f"There are more: --cursor {found.next_cursor}")


@job.command("retry")
@click.argument("job_id")
@_as_json
@acting
def job_retry(job_id: str, as_json: bool, source: "Source") -> None:
    """Try the dead job JOB_ID again."""
    from pressroom.domains.administration import commands

    found = with_database(lambda db: commands.retry_job(db, job_id, source))
    if as_json:
        _print_json(found)
        return
    click.echo(f"The job {found.id} ({found.kind}) waits for its first try again.")


@click.group()
def mail() -> None:
    """Try the mail server."""


@mail.command("test")
@click.argument("to", metavar="TO")
def mail_test(to: str) -> None:
    """Send a message to the address TO by the mail server of the settings, at once and once."""
    from pressroom.clock import SystemClock
    from pressroom.domains.mail.mailer import Mailer, test_mail

    run(Mailer(own_settings(), SystemClock()).send(test_mail(to)))
    click.echo(f"The mail server took a message to {to}. Look whether it arrived, and not among the spam.")


@click.group()
def media() -> None:
    """List the accounts that store most, and move all media into another store."""


@media.command("usage")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="Accounts to show.")
@_as_json
def media_usage(limit: int, as_json: bool) -> None:
    """Show the accounts that store most, in bytes by kind of file."""
    from pressroom.domains.administration import commands

    found = with_database(lambda db: commands.usage(db, limit))
    if as_json:
        _print_json(found)
        return
    wide().print(commands.usage_table(found))
    click.echo(f"All accounts store {found.bytes:,} bytes.")


@media.command("move")
@click.option("--to", required=True, metavar="URL", help="The other store: file:///FOLDER or s3://BUCKET/PREFIX?….")
@click.option("--prune", is_flag=True, help="Also remove files there that were deleted here since they were copied.")
@click.option("--dry-run", is_flag=True, help="Count what there is to do, and do nothing.")
def media_move(to: str, prune: bool, dry_run: bool) -> None:
    """Copy all media into another store, also while the server runs; again, for files added meanwhile."""
    from pressroom.operations.blob_copies import Copies
    from pressroom.operations.media_move import move_media

    def report(copies: Copies) -> None:
        if copies.files % 1_000 == 0:
            errors().print(f"{copies.files:,} files compared, {copies.copied:,} of them copied …")

    settings, other = own_settings(), own_settings({"PRESSROOM_BLOBS_URL": to})
    move = with_database(
        lambda db: move_media(settings, other, db, prune=prune, dry_run=dry_run, progress=report), settings
    )
    copies, would = move.copies, "would be " if dry_run else ""
    for name in copies.skipped:
        errors().print(f"[yellow]pressroom:[/] {plain(f'{name} is not a file of the store and was skipped')}")
    click.echo(
        f"{copies.copied:,} of {copies.files:,} files ({copies.copied_bytes:,} bytes) {would}copied"
        f" from {move.source} to {move.target}."
    )
    if prune:
        click.echo(f"{move.pruned:,} files {would}removed there.")
    if not dry_run:
        click.echo(
            "To change over: stop every server and worker, run this command once more with --prune, set"
            " PRESSROOM_BLOBS_URL to the new store everywhere, and start them."
        )


@click.group("secrets")
def secrets_group() -> None:
    """See and replace the secrets that the installation made for itself."""


@secrets_group.command("list")
@_as_json
def secrets_list(as_json: bool) -> None:
    """List the secrets, without showing them: since when each signs, and until when earlier ones verify."""
    from pressroom.domains.shared_state import commands

    found = with_database(commands.list_secrets)
    if as_json:
        _print_json(found)
        return
    wide().print(commands.secret_table(found))


@secrets_group.command("rotate")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--days",
    type=click.IntRange(0, 365),
    default=30,
    show_default=True,
    help="How long signatures of the secret before stay valid. 0: after a leak.",
)
@click.option("--reason", help="Kept in the log.")
@acting
def secrets_rotate(names: tuple[str, ...], days: int, reason: str | None, source: "Source") -> None:
    """Replace the secret NAME, or all that sign; servers take the new one by themselves, within ten seconds."""
    from pressroom.domains.shared_state import commands
    from pressroom.domains.shared_state.models import ROTATED

    known = {name.value: name for name in ROTATED}
    if unknown := [name for name in names if name not in known]:
        raise click.UsageError(f"{unknown[0]} is none of {', '.join(known)}.")
    chosen = [known[name] for name in names] or list(ROTATED)
    with_database(lambda db: commands.rotate(db, chosen, days, reason, source))
    until = "end in ten seconds" if days == 0 else f"stay valid for {days} days"
    click.echo(f"Replaced: {', '.join(chosen)}. Signatures of the secrets before {until}.")


@click.group()
def maintenance() -> None:
    """Close the service to everybody but admins, and open it again."""


@maintenance.command("on")
@click.option("--message", help="The message for people and programs.")
@acting
def maintenance_on(message: str | None, source: "Source") -> None:
    """Answer 503 to everybody but admins; deliveries and jobs go on. Typed again, it changes the message."""
    from pressroom.domains.shared_state import commands
    from pressroom.domains.shared_state.models import DEFAULT_MESSAGE

    told = DEFAULT_MESSAGE if message is None else message
    click.echo(with_database(lambda db: commands.set_maintenance(db, told, source)))


@maintenance.command("off")
@acting
def maintenance_off(source: "Source") -> None:
    """Open the service again."""
    from pressroom.domains.shared_state import commands

    click.echo(with_database(lambda db: commands.set_maintenance(db, None, source)))


@click.group()
def webhook() -> None:
    """See webhook endpoints."""


@webhook.command("list")
@click.argument("username")
@_as_json
def webhook_list(username: str, as_json: bool) -> None:
    """List the newest 50 webhook endpoints of USERNAME."""
    from pressroom.domains.administration import commands

    found = with_database(lambda db: commands.list_webhooks(db, username))
    if as_json:
        _print_json(found)
        return
    wide().print(commands.webhook_table(found))


def _print_json(found: "msgspec.Struct") -> None:
    import msgspec

    click.echo(msgspec.json.encode(found))


@click.command("migrate")
def migrate_command() -> None:
    """Bring the database's schema up to date."""
    from pressroom.clock import SystemClock
    from pressroom.db.migrate import check_migrated, migrate
    from pressroom.db.schema import check_not_cut_off, check_schema
    from pressroom.server.database import open_to_migrate
    from pressroom.server.sole_counter import alone_on_file

    settings = own_settings()

    async def bring_up_to_date() -> None:
        db = await open_to_migrate(settings, SystemClock())
        try:
            await check_not_cut_off(db)
            applied = await migrate(db)
            await check_migrated(db)
            await check_schema(db)
        finally:
            await db.close()
        for migration in applied:
            click.echo(f"applied {migration.version:04d} {migration.name}")
        click.echo("The database is up to date.")

    with alone_on_file(settings, served="{file} is being served: stop that server, which migrates when it starts."):
        run(bring_up_to_date())


@click.command("backup")
@click.option("--to", type=click.Path(path_type=Path), help="A folder that is empty or not there yet, for one backup.")
@click.option("--into", type=click.Path(path_type=Path), help="A folder of backups: each shares its media with others.")
@click.option("--keep", metavar="RULES", help="With --into: daily=7,weekly=4,monthly=12 or some of these; others go.")
@click.option("--verify", type=click.Path(path_type=Path), help="A backup to compare with its manifest.")
def backup_command(to: Path | None, into: Path | None, keep: str | None, verify: Path | None) -> None:
    """Copy the database and media of an installation on SQLite, also while it serves; or verify a backup."""
    from pressroom.operations.backup import back_up
    from pressroom.operations.kept_backups import back_up_into, parse_keep

    if [to, into, verify].count(None) != 2 or (keep is not None and into is None):
        raise click.UsageError("Give one of --to, --into and --verify; --keep goes with --into.")
    removed: list[str] = []
    if verify is not None:
        _verify(verify)
        return
    if into is not None:
        made = run(back_up_into(own_settings(), into, {} if keep is None else parse_keep(keep)))
        manifest, to, removed = made.manifest, made.folder, made.removed
    else:
        manifest = run(back_up(own_settings(), to or Path()))
    for key in manifest.missing:
        errors().print(f"[yellow]pressroom:[/] {plain(f'the store lacks {key}, which the database refers to')}")
    for name in manifest.skipped:
        errors().print(f"[yellow]pressroom:[/] {plain(f'{name} is not a regular file and was skipped')}")
    click.echo(f"Backed up {len(manifest.files):,} files to {to}.")
    for name in removed:
        click.echo(f"Removed {name}.")


def _verify(backup: Path) -> None:
    """Compares a backup with its manifest. Raises SettingError when it is damaged."""
    from pressroom.errors import SettingError
    from pressroom.operations.manifests import find_damaged, read_manifest

    manifest = read_manifest(backup)
    damaged = list(find_damaged(backup, manifest))
    if damaged:
        more = f" and {len(damaged) - 1:,} more" if damaged[1:] else ""
        raise SettingError(f"The backup is damaged: {damaged[0]}{more} is missing or is not what the manifest says.")
    click.echo(f"All {len(manifest.files):,} files of {backup} are as of {manifest.created_at}.")


@click.command("restore")
@click.option("--from", "source", required=True, type=click.Path(path_type=Path), help="A folder that backup filled.")
def restore_command(source: Path) -> None:
    """Put a backup into PRESSROOM_DATA_DIR, which must be empty."""
    from pressroom.operations.restore import restore

    manifest = restore(own_settings(), source)
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


@click.command("config")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def config_command(as_json: bool) -> None:
    """Show each setting with its value, without secrets, and where it is from."""
    import msgspec
    from rich.markup import escape
    from rich.table import Table

    from pressroom.settings.shown import HIDDEN, shown_settings, shown_variables

    settings = current_settings()
    rows = [(each.name, each.value, each.source) for each in shown_settings(settings)]
    rows += [(name, HIDDEN, source) for name, source in shown_variables(settings)]
    if as_json:
        click.echo(msgspec.json.encode([dict(zip(("name", "value", "source"), row, strict=True)) for row in rows]))
        return
    shown = Table("setting", "value", "from", box=None)
    for row in rows:
        shown.add_row(*(escape(visible(each)) for each in row))
    wide().print(shown)


@click.command()
@click.option("--keys", "keyed", is_flag=True, help="Only the operations that take a key.")
def openapi(keyed: bool) -> None:
    """Print the OpenAPI document."""
    from pressroom.server.routes import openapi_document

    click.echo(openapi_document(current_settings(), keyed=keyed))


@click.command()
def doctor() -> None:
    """Check settings, database, disk and clock; exit 1 if something is wrong."""
    from rich.console import Console

    from pressroom.operations.doctor import examine

    out = Console(highlight=False, soft_wrap=True)
    findings = run(examine(own_settings()))
    for finding in findings:
        mark = "[green]ok[/]  " if finding.good else "[bold red]bad[/] "
        out.print(f"{mark} {finding.subject:<10} {plain(finding.message)}")
    sys.exit(0 if all(finding.good for finding in findings) else 1)
