"""The command line: thin edges over actions. `pressroom --help` lists it.

A command imports what it needs in its own body, so that help and mistyped commands load neither server nor database.
"""

import os
import sys
from typing import Any, Final

import click

from pressroom import __version__
from pressroom.cli.accounts import account
from pressroom.cli.console import errors, plain
from pressroom.cli.keys import key
from pressroom.cli.serving import listen_command, serve, worker
from pressroom.cli.upkeep import backup_command, doctor, migrate_command, openapi, restore_command
from pressroom.errors import Invalid, PressroomError
from pressroom.permissions import UMASK

CANNOT: Final = 2
"""Exit status of a command that could not be carried out as things stand."""


class Commands(click.Group):
    """Turns our errors into one line on standard error and an exit status, for every command."""

    def invoke(self, ctx: click.Context) -> Any:  # click's own signature
        try:
            return super().invoke(ctx)
        except Invalid as error:
            lines = [f"{field_error.field}: {field_error.message}" for field_error in error.field_errors]
        except PressroomError as error:
            lines = [error.message]
        except UnicodeError:
            lines = ["An argument or setting is not UTF-8."]
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
    *(migrate_command, backup_command, restore_command, openapi, doctor),
    *(account, key),
):
    main.add_command(command)
