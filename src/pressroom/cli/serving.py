"""Commands that run until they are stopped: the server, a worker, and a test receiver of webhooks."""

import sys
from typing import TYPE_CHECKING

import click

from pressroom import __version__
from pressroom.cli.console import own_settings, run
from pressroom.settings import all_settings

if TYPE_CHECKING:
    from pressroom.server.runtime import Runtime


def _settings_help() -> str:
    rows = [f"  {setting.variable:<41} {setting.shown or 'unset':<34} {setting.help}" for setting in all_settings()]
    return "\b\nSettings, as environment variables or in a file (pressroom --help):\n" + "\n".join(rows)


@click.command(epilog=_settings_help())
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    help="Server processes; several need PostgreSQL and Redis.",
)
@click.option(
    "--only",
    type=click.Choice(["api", "worker"]),
    help="Only serve the API and pages, or only deliver webhooks; other processes do the rest.",
)
@click.option(
    "--place", type=click.IntRange(0, 63), hidden=True, help="Run as one of several, in this place among them."
)
def serve(workers: int, only: str | None, place: int | None) -> None:
    """Serve the API and the pages and deliver webhooks, until SIGTERM."""
    from pressroom.logs import Log
    from pressroom.server.serve import Part
    from pressroom.server.serve import serve as serve_one
    from pressroom.server.supervise import supervise

    settings, part = own_settings(), Part(only) if only else None
    log = Log(requests=settings.access_log)
    if workers > 1:
        sys.exit(supervise(settings, log, workers, part))
    run(serve_one(settings, log, _announce, only=part, place=place))


@click.command()
@click.option(
    "--concurrency",
    type=click.IntRange(1, 10_000),
    help="Deliveries under way at once, at most; 1888 unless given.",
)
def worker(concurrency: int | None) -> None:
    """Deliver webhooks for servers that run with --only api. Needs PostgreSQL."""
    from pressroom.logs import Log
    from pressroom.server.serve import Part
    from pressroom.server.serve import serve as serve_one

    settings = own_settings()
    run(serve_one(settings, Log(requests=False), _say_nothing, only=Part.WORKER, concurrency=concurrency))


@click.command("listen")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65_535), default=9000, show_default=True, help="Port to listen on.")
@click.option("--secret", "secrets", multiple=True, help="Signing secret to verify with; may be repeated.")
@click.option("--fail", type=click.IntRange(0, 1_000_000), default=0, help="Answer 500 to this many deliveries first.")
@click.option("--slow", default="0s", help="Wait before each answer: 500ms, 12s, 2m.")
@click.option("--forward", metavar="URL", help="Forward verified deliveries there, and return its answer.")
def listen_command(host: str, port: int, secrets: tuple[str, ...], fail: int, slow: str, forward: str | None) -> None:
    """Receive, verify and print webhooks, to try them out."""
    from rich.console import Console

    from pressroom.receivers.listen import Misbehaviour, listen, parse_duration

    try:
        misbehaviour = Misbehaviour(fail=fail, slow=parse_duration(slow))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--slow") from None
    run(listen(host, port, list(secrets), misbehaviour, Console(highlight=False), forward))


async def _say_nothing(_runtime: "Runtime") -> None:
    pass


async def _announce(runtime: "Runtime") -> None:
    from pressroom.domains.sign_up import commands as account_commands

    settings = runtime.settings
    if not settings.dev:
        if link := await account_commands.setup_link(runtime.db, settings.base_url):
            click.echo(f"There is no account yet. Make the first one, an admin, with this link:\n\n{link}\n")
        return
    click.echo(f"Pressroom {__version__} in development mode: {settings.base_url}  (API reference: /docs)")
    first = await account_commands.first_account(runtime.db, runtime.passwords)
    if first is None:
        click.echo(f"Data are in {settings.data_dir}. The key was shown when it was made; for another one:")
        click.echo("  .venv/bin/pressroom key create editor --label another --scope posts:write")
        return
    from pressroom.domains.keys import commands as key_commands  # which loads the library for tables

    secret = await key_commands.first_key(runtime.db, first.account_id)
    link = await account_commands.sign_in_link(runtime.db, first.account_id, settings.base_url)
    click.echo(
        f"\n  Account   {first.username}, an admin: /admin has the operator's pages\n"
        f"  Password  {first.password}\n  API key   {secret}   (shown this once)\n"
    )
    click.echo(f"Sign in with this link, once and within an hour:\n\n{link}\n")
    click.echo("Publish a post:\n")
    click.echo(_curl(settings.base_url, secret) + "\n")


def _curl(base_url: str, secret: str) -> str:
    return (
        f"curl -X POST {base_url}/api/posts -H 'Authorization: Bearer {secret}'"
        " -H 'Content-Type: application/json' -H \"Idempotency-Key: $(date +%s%N)\""
        ' -d \'{"content": "Hello from Pressroom"}\''
    )
