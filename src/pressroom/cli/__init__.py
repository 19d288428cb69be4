"""The command line: thin commands over actions. `pressroom --help` lists them.

A command has its imports in its own body, so that help and mistyped commands load neither server nor database.
"""

import contextlib
import os
import sys
from collections.abc import Generator
from typing import Any, Final

import click

from pressroom import __version__
from pressroom.cli.accounts import account
from pressroom.cli.console import errors, plain
from pressroom.cli.keys import key
from pressroom.cli.operations import job, stats, webhook
from pressroom.cli.serving import listen_command, serve, worker
from pressroom.cli.upkeep import backup_command, doctor, migrate_command, openapi, restore_command, transfer_command
from pressroom.errors import Invalid, PressroomError
from pressroom.operations.permissions import UMASK

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


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 140})
@click.version_option(__version__, prog_name="pressroom")
def main() -> None:
    """Pressroom publishes posts for programs: API keys, exact limits, idempotent writes, signed webhooks."""
    os.umask(UMASK)


for command in (
    *(serve, worker, listen_command),
    *(migrate_command, backup_command, restore_command, transfer_command, openapi, doctor),
    *(account, key, job, webhook, stats),
):
    main.add_command(command)
