"""The command line: thin commands over actions. `pressroom --help` lists them.

A command has its imports in its own body, so that help and mistyped commands load neither server nor database.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import click

from pressroom import __version__
from pressroom.cli.accounts import account
from pressroom.cli.backups import backup_command, restore_command, transfer_command
from pressroom.cli.console import errors, plain
from pressroom.cli.imports import import_group
from pressroom.cli.keys import key
from pressroom.cli.operations import (
    config_command,
    doctor,
    job,
    mail,
    maintenance,
    media,
    migrate_command,
    openapi,
    secrets_group,
    stats,
    webhook,
)
from pressroom.cli.serving import listen_command, serve, worker
from pressroom.errors import Invalid, PressroomError
from pressroom.operations.permissions import UMASK
from pressroom.settings.files import CONFIG

CANNOT: Final = 2
"""Exit status of a command that failed."""


class Commands(click.Group):
    """The group of all commands. Prints errors as one line each on standard error, and exits with CANNOT."""

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
        lines = ["An argument or a setting is not UTF-8."]
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "pressroom"
        lines = [f"{error.format_message()} Try {path} --help"]
    else:
        return
    for line in lines:
        errors().print(f"[bold red]pressroom:[/] {plain(line)}")
    sys.exit(CANNOT)


def _show_version(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked:
        from pressroom.db.migrate import newest_schema

        commit = _commit()
        click.echo(f"pressroom {__version__}, schema {newest_schema()}{f', commit {commit}' if commit else ''}")
        context.exit()


def _commit() -> str:
    """Returns the commit of the clone that this runs from; empty outside of one."""
    clone = Path(__file__).parents[3]
    if not (clone / ".git").exists():
        return ""
    asked = ["git", "-C", str(clone), "rev-parse", "--short=12", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 140})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Pressroom publishes posts for programs: API keys, exact limits, idempotent writes, signed webhooks.

    Every command reads its settings from the environment, then from the first of these places: --config FILE,
    PRESSROOM_CONFIG, .env and pressroom.toml in the working folder, /etc/pressroom/pressroom.toml.
    """
    os.umask(UMASK)


def _use_file(_context: click.Context, _parameter: click.Parameter, file: Path | None) -> None:
    """Names the file of settings for this process and for the processes that it starts."""
    if file is not None:
        os.environ[CONFIG] = str(file.resolve())


def _take_config(command: click.Command) -> None:
    """Gives a command, and all below it, the option --config: people type it before or behind the command's name."""
    command.params.append(
        click.Option(
            ["--config"],
            type=click.Path(path_type=Path),
            metavar="FILE",
            expose_value=False,
            is_eager=True,
            callback=_use_file,
            help="Read settings from FILE and no other.",
        )
    )
    if isinstance(command, click.Group):
        for each in command.commands.values():
            _take_config(each)


for command in (
    *(serve, worker, listen_command),
    *(migrate_command, backup_command, restore_command, transfer_command, openapi, doctor, config_command),
    *(account, key, import_group, job, mail, maintenance, media, secrets_group, webhook, stats),
):
    main.add_command(command)
_take_config(main)
