"""Shared by all commands: settings, database and printing. Heavy modules are imported when they are needed."""

import os
import pwd
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pressroom.settings import Settings
from pressroom.settings.files import PASSED, read_settings

if TYPE_CHECKING:
    from rich.console import Console

    from pressroom.db import Database
    from pressroom.domains.audit.models import Source

T = TypeVar("T")


def acting(command: Callable[..., T]) -> Callable[..., T]:
    """Gives a command the option `--as`, and its function the parameter `source`: the person whom the log names."""
    return click.option(
        "--as",
        "source",
        metavar="NAME",
        callback=_source,
        help="The person whom the log names; unless given, the user who runs the command or sudo.",
    )(command)


def _source(_context: click.Context, _parameter: click.Parameter, given: str | None) -> "Source":
    from pressroom.domains.audit.models import LONGEST_OPERATOR, Actor, Source

    name = given if given is not None else _login_name()[:LONGEST_OPERATOR]
    if not 1 <= len(name.strip()) <= LONGEST_OPERATOR or not name.isprintable():
        raise click.BadParameter(f"Give a name of 1 to {LONGEST_OPERATOR} printable characters.")
    return Source(actor=Actor.OPERATOR, operator=name.strip())


def _login_name() -> str:
    """Returns the name of the system user who runs this command, or who runs sudo for it."""
    by_sudo = os.environ.get("SUDO_USER", "")
    if by_sudo.isprintable() and by_sudo.strip():
        return by_sudo
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run under a number without a name
        return str(os.getuid())


def errors() -> "Console":
    """Returns the console on standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def plain(text: str) -> str:
    """Returns `text` on one line, without secrets, and escaped for the console: markup and invisible characters."""
    from pressroom.logs import without_secrets

    return visible(" ".join(without_secrets(text).split())).replace("[", r"\[")


def visible(text: str) -> str:
    """Returns `text` with characters that control a terminal, or are invisible, as `\\x1b`."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def current_settings(given: Mapping[str, str] | None = None) -> Settings:
    """Returns the settings of the environment and of files; libraries see their variables of these files from then on.

    `given` are settings by their full names that win over both.
    """
    settings = read_settings({**os.environ, **(given or {})}, Path.cwd())
    for name, value in settings.variables.items():
        if name.startswith(PASSED):
            os.environ.setdefault(name, value)
    return settings


def own_settings(given: Mapping[str, str] | None = None) -> Settings:
    """Returns the settings for work on the installation's files. Raises SettingError for root beside another user's."""
    from pressroom.operations.permissions import check_owner

    settings = current_settings(given)
    check_owner(settings)
    return settings


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end; returns its result."""
    import uvloop

    return uvloop.run(work)


def with_database(work: "Callable[[Database], Awaitable[T]]", settings: Settings | None = None) -> T:
    """Returns the result of `work` on the existing database of the settings, which are read unless given."""
    from pressroom.clock import SystemClock
    from pressroom.server.clock_watch import start_clock
    from pressroom.server.database import check_whole, open_database

    async def use() -> T:
        clock = SystemClock()
        db = await open_database(settings or own_settings(), clock, make=False)
        try:
            await check_whole(db)
            await start_clock(db, clock)
            return await work(db)
        finally:
            await db.close()

    return run(use())


def wide() -> "Console":
    """Returns a console on standard output that does not wrap lines in a pipe."""
    from rich.console import Console

    out = Console()
    # A pipe has no width; programs that read it need unbroken lines.
    return Console(width=out.width if out.is_terminal else 300)
