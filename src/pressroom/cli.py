"""The command line: thin edges over actions. `pressroom --help` lists it."""

import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec
import uvloop
from rich.console import Console

from pressroom import __version__
from pressroom.clock import SystemClock
from pressroom.db import Database
from pressroom.db.migrate import check_migrated, migrate
from pressroom.domains.accounts import commands as account_commands
from pressroom.domains.keys import commands as key_commands
from pressroom.domains.keys.models import EXPIRIES, Scope
from pressroom.domains.moderation import commands as operator_commands
from pressroom.domains.moderation.actions import SUSPENDED
from pressroom.domains.moderation.schemas import RecordOut
from pressroom.errors import Invalid, PressroomError
from pressroom.logs import Log, without_secrets
from pressroom.permissions import UMASK
from pressroom.runtime import Runtime, open_database
from pressroom.settings import Settings, all_settings, read_settings

T = TypeVar("T")

CANNOT: Final = 2
"""Exit status of a command that could not be carried out as things stand."""

errors = Console(stderr=True, highlight=False, soft_wrap=True)


class Commands(click.Group):
    """Turns our errors and click's into one line on standard error and an exit status, for every command."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:  # click's own signature
        with _in_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # click's own signature
        with _in_one_line():
            return super().invoke(ctx)


@contextlib.contextmanager
def _in_one_line() -> Generator[None]:
    try:
        yield
    except Invalid as error:
        lines = [f"{field_error.field}: {field_error.message}" for field_error in error.field_errors]
    except PressroomError as error:
        lines = [error.message]
    except UnicodeError:
        lines = ["An argument or setting is not UTF-8."]
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "pressroom"
        lines = [f"{error.format_message()} Try {path} --help"]
    else:
        return
    for line in lines:
        errors.print(f"[bold red]pressroom:[/] {_plain(line)}")
    sys.exit(CANNOT)


def _plain(text: str) -> str:
    return " ".join(without_secrets(text).split()).replace("[", r"\[")


def _settings_help() -> str:
    rows = [f"  {setting.variable:<41} {setting.shown or 'unset':<34} {setting.help}" for setting in all_settings()]
    return "\b\nSettings, as environment variables or lines of a .env file in the working folder:\n" + "\n".join(rows)


def _settings() -> Settings:
    settings = read_settings(os.environ, Path.cwd())
    for sentence in settings.unknown():
        errors.print(f"[yellow]pressroom:[/] {_plain(sentence)}")
    return settings


def _run(work: Coroutine[Any, Any, T]) -> T:
    return uvloop.run(work)


def _with_database(work: Callable[[Database], Awaitable[T]]) -> T:
    async def run() -> T:
        db = await open_database(_settings(), SystemClock())
        try:
            await check_migrated(db)
            return await work(db)
        finally:
            await db.close()

    return _run(run())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 140})
@click.version_option(__version__, prog_name="pressroom")
def main() -> None:
    """Pressroom publishes posts for programs: API keys, exact limits, idempotent writes, signed webhooks."""
    os.umask(UMASK)


@main.command(epilog=_settings_help())
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    help="Server processes; several need PostgreSQL and Redis.",
)
@click.option(
    "--only",
    type=click.Choice(["api", "worker"]),
    help="Serve without delivering webhooks, or deliver alone; the rest is for other processes.",
)
@click.option("--sibling", is_flag=True, hidden=True, help="Run as one of several.")
def serve(workers: int, only: str | None, sibling: bool) -> None:  # click passes flags by name
    """Serve the API and the pages and deliver webhooks, until SIGTERM."""
    from pressroom.serve import Part  # other commands need not load the server
    from pressroom.serve import serve as serve_one
    from pressroom.supervise import supervise

    settings, part = _settings(), Part(only) if only else None
    log = Log(requests=settings.access_log)
    if workers > 1:
        sys.exit(supervise(settings, log, workers, part))
    _run(serve_one(settings, log, _announce, only=part, sibling=sibling))


@main.command()
def worker() -> None:
    """Deliver webhooks, beside servers that are run with --only api. Needs PostgreSQL."""
    from pressroom.serve import Part
    from pressroom.serve import serve as serve_one

    settings = _settings()
    _run(serve_one(settings, Log(requests=False), _say_nothing, only=Part.WORKER))


@main.command("listen")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65_535), default=9000, show_default=True, help="Port to listen on.")
@click.option("--secret", "secrets", multiple=True, help="Signing secret to verify with; may be repeated.")
@click.option("--fail", type=click.IntRange(0, 1_000_000), default=0, help="Answer 500 to so many deliveries first.")
@click.option("--slow", default="0s", help="Wait before each answer: 500ms, 12s, 2m.")
@click.option("--forward", metavar="URL", help="Pass verified deliveries on, and answer what is answered there.")
def listen_command(host: str, port: int, secrets: tuple[str, ...], fail: int, slow: str, forward: str | None) -> None:
    """Receive webhooks here, verify and show them: for trying things out."""
    from pressroom.listen import Misbehaviour, listen, parse_duration

    try:
        misbehaviour = Misbehaviour(fail=fail, slow=parse_duration(slow))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--slow") from None
    _run(listen(host, port, list(secrets), misbehaviour, Console(highlight=False), forward))


async def _say_nothing(_runtime: Runtime) -> None:
    pass


async def _announce(runtime: Runtime) -> None:
    settings = runtime.settings
    if not settings.dev:
        return
    out = Console(highlight=False, soft_wrap=True)
    out.print(f"Pressroom {__version__} in development mode: {settings.base_url}  (API reference: /docs)")
    first = await account_commands.first_account(runtime.db, runtime.passwords)
    if first is None:
        out.print(f"Data kept in {settings.data_dir}. The key was shown when it was made; for another one:")
        out.print("  .venv/bin/pressroom key create editor --label another --scope posts:write", markup=False)
        return
    secret = await key_commands.first_key(runtime.db, first.account_id)
    out.print(
        f"\n  Account   {first.username}\n  Password  {first.password}\n  API key   {secret}   (shown this once)\n"
    )
    out.print("Publish a post:\n", markup=False)
    out.print(_curl(settings.base_url, secret) + "\n", markup=False)


def _curl(base_url: str, secret: str) -> str:
    return (
        f"curl -X POST {base_url}/api/posts -H 'Authorization: Bearer {secret}'"
        " -H 'Content-Type: application/json' -H \"Idempotency-Key: $(date +%s%N)\""
        ' -d \'{"content": "Hello from Pressroom"}\''
    )


@main.command("migrate")
def migrate_command() -> None:
    """Bring the database's schema up to date."""

    async def run() -> None:
        db = await open_database(_settings(), SystemClock())
        try:
            applied = await migrate(db)
            await check_migrated(db)
        finally:
            await db.close()
        for migration in applied:
            click.echo(f"applied {migration.version:04d} {migration.name}")
        click.echo("The database is up to date.")

    _run(run())


@main.command("backup")
@click.option("--to", required=True, type=click.Path(path_type=Path), help="A folder that is empty or not there yet.")
def backup_command(to: Path) -> None:
    """Copy database and media of an installation on SQLite, while it serves."""
    from pressroom.backup import back_up

    manifest = _run(back_up(_settings(), to))
    for key in manifest.missing:
        errors.print(f"[yellow]pressroom:[/] {_plain(f'the store lacks {key}, which the database refers to')}")
    for name in manifest.skipped:
        errors.print(f"[yellow]pressroom:[/] {_plain(f'{name} is no file and was left out')}")
    click.echo(f"Backed up {len(manifest.files):,} files to {to}.")


@main.command("restore")
@click.option("--from", "source", required=True, type=click.Path(path_type=Path), help="A folder that backup filled.")
def restore_command(source: Path) -> None:
    """Put a backup into PRESSROOM_DATA_DIR, which must be empty."""
    from pressroom.restore import restore

    manifest = restore(_settings(), source)
    click.echo(f"Restored {len(manifest.files):,} files as of {manifest.created_at}.")


@main.command()
def openapi() -> None:
    """Print the OpenAPI document."""
    from pressroom.document import openapi_document

    click.echo(openapi_document(_settings()))


@main.command()
def doctor() -> None:
    """Check settings, database, disk and clock; exit 1 if something is wrong."""
    from pressroom.doctor import examine

    out = Console(highlight=False, soft_wrap=True)
    findings = _run(examine(_settings()))
    for finding in findings:
        mark = "[green]ok[/]  " if finding.good else "[bold red]bad[/] "
        out.print(f"{mark} {finding.subject:<10} {_plain(finding.says)}")
    sys.exit(0 if all(finding.good for finding in findings) else 1)


_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@main.group()
def account() -> None:
    """People."""


@account.command("create")
@click.argument("username")
@click.option("--email", required=True)
@click.option("--password", required=True, help="10 to 200 characters; - reads it from standard input.")
def account_create(username: str, email: str, password: str) -> None:
    """Make the account USERNAME; prints its id."""
    click.echo(_with_database(lambda db: account_commands.create(db, username, email, _password(password))))


@account.command("list")
@click.option("--limit", type=click.IntRange(1, 1_000), default=100, show_default=True, help="Accounts to show.")
@click.option("--cursor", help="Where an earlier list said that it goes on.")
@_as_json
def account_list(limit: int, cursor: str | None, as_json: bool) -> None:
    """List the accounts, newest first."""
    found = _with_database(lambda db: operator_commands.list_accounts(db, limit, cursor))
    if as_json:
        click.echo(msgspec.json.encode(found))
        return
    _wide().print(operator_commands.table(found))
    if found.next_cursor:
        errors.print(f"There are more: --cursor {found.next_cursor}")


@account.command("show")
@click.argument("username")
@_as_json
def account_show(username: str, as_json: bool) -> None:
    """Show the account USERNAME."""
    _show(_with_database(lambda db: operator_commands.show(db, username)), as_json=as_json)


@account.command("password")
@click.argument("username")
@click.option("--password", default="-", help="10 to 200 characters; -, the default, asks or reads standard input.")
@_as_json
def account_password(username: str, password: str, as_json: bool) -> None:
    """Give the account USERNAME another password and end its sessions."""
    done = _with_database(lambda db: operator_commands.password(db, username, _password(password)))
    _show(done, as_json=as_json)


@account.command("suspend")
@click.argument("username")
@click.option("--reason", default=SUSPENDED, show_default=True, help="Told in the events of its keys.")
@_as_json
def account_suspend(username: str, reason: str, as_json: bool) -> None:
    """Suspend the account USERNAME: end its sessions, revoke its keys, and show nothing of it."""
    _show(_with_database(lambda db: operator_commands.suspend(db, username, reason)), as_json=as_json)


@account.command("restore")
@click.argument("username")
@_as_json
def account_restore(username: str, as_json: bool) -> None:
    """Take the suspension of USERNAME back. Its keys stay revoked."""
    _show(_with_database(lambda db: operator_commands.restore(db, username)), as_json=as_json)


@account.command("delete")
@click.argument("username")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_as_json
def account_delete(username: str, yes: bool, as_json: bool) -> None:
    """Delete the account USERNAME for good: erase its names, e-mail address and password, and show nothing of it."""
    if not yes and click.prompt("This cannot be undone. The user name once more", err=True) != username:
        raise PressroomError("That is another name. Nothing was deleted.")
    _show(_with_database(lambda db: operator_commands.delete(db, username)), as_json=as_json)


@account.command("admin")
@click.argument("username")
@click.option("--revoke", is_flag=True, help="Make it an admin's no longer.")
@_as_json
def account_admin(username: str, revoke: bool, as_json: bool) -> None:
    """Make the account USERNAME an admin's."""
    _show(_with_database(lambda db: operator_commands.admin(db, username, revoke=revoke)), as_json=as_json)


def _password(given: str) -> str:
    """A password from the command line; a dash asks for it, or reads a line of standard input."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        return click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return sys.stdin.readline().rstrip("\n")


def _show(record: RecordOut, *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(record))
        return
    for name, value in msgspec.to_builtins(record).items():
        if value is not None:
            click.echo(f"{name:<15} {_plain(str(value))}")


@main.group()
def key() -> None:
    """API keys."""


@key.command("create")
@click.argument("username")
@click.option("--label", required=True, help="1 to 60 characters.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    help=f"One or more of {', '.join(Scope)}; may be repeated.",
)
@click.option("--expiry", help=f"{', '.join(EXPIRIES)} or an ISO 8601 time.")
@click.option("--ip", "networks", multiple=True, help="Address or network that may use the key; may be repeated.")
@click.argument("more_scopes", nargs=-1, metavar="")
def key_create(
    username: str,
    label: str,
    scopes: tuple[str, ...],
    expiry: str | None,
    networks: tuple[str, ...],
    more_scopes: tuple[str, ...],
) -> None:
    """Make a key for USERNAME; prints the key alone, this once."""
    wanted = [part for scope in (*scopes, *more_scopes) for part in scope.replace(",", " ").split()]
    click.echo(_with_database(lambda db: key_commands.create(db, username, label, wanted, expiry, list(networks))))


@key.command("list")
@click.argument("username")
def key_list(username: str) -> None:
    """List the keys of USERNAME, newest first."""
    _wide().print(_with_database(lambda db: key_commands.table(db, username)))


def _wide() -> Console:
    out = Console()
    # A pipe has no width of its own: whatever reads it wants whole words.
    return Console(width=out.width if out.is_terminal else 300)


@key.command("revoke")
@click.argument("key_id")
@click.option("--reason", required=True, help="Told to the owner and in the event.")
def key_revoke(key_id: str, reason: str) -> None:
    """Revoke the key KEY_ID, at once and for good."""
    click.echo(_with_database(lambda db: key_commands.revoke(db, key_id, reason)))
