"""The operator's commands on an installation: figures, jobs, endpoints, migration, checks, OpenAPI document."""

import sys
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
@click.option("--backup-within", type=click.IntRange(1, 10_000), metavar="HOURS", help="Age of the last backup.")
@click.option("--mail", metavar="ADDRESS", help="Send a message to this address if something is wrong.")
def doctor(backup_within: int | None, mail: str | None) -> None:
    """Check settings, database, disk, clock and backups; exit 1 if something is wrong."""
    from rich.console import Console

    from pressroom.operations.doctor import examine, report

    out = Console(highlight=False, soft_wrap=True)
    settings = own_settings()
    findings = run(examine(settings, backup_within))
    for finding in findings:
        mark = "[green]ok[/]  " if finding.good else "[bold red]bad[/] "
        out.print(f"{mark} {finding.subject:<10} {plain(finding.message)}")
    bad = [finding for finding in findings if not finding.good]
    if bad and mail is not None:
        run(report(settings, bad, mail))
    sys.exit(1 if bad else 0)
