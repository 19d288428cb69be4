"""The operator's commands on the installation: what there is, jobs, endpoints."""

from typing import TYPE_CHECKING

import click

from pressroom.cli.console import errors, wide, with_database

if TYPE_CHECKING:
    import msgspec

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
def job_retry(job_id: str, as_json: bool) -> None:
    """Try the dead job JOB_ID again."""
    from pressroom.domains.administration import commands

    found = with_database(lambda db: commands.retry_job(db, job_id))
    if as_json:
        _print_json(found)
        return
    click.echo(f"The job {found.id} ({found.kind}) waits for its first try again.")


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
