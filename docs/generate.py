"""Makes the pages of docs/ that follow from the code: settings.md, commands.md, routes.md. Run by `make docs`."""

import sys
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import click

from pressroom.cli import main as command_line
from pressroom.server.routes import API_ROUTES
from pressroom.settings import all_settings
from pressroom.web.access import Access, Anyone, Keyed, SessionOnly

FOLDER = Path(__file__).parent
NOTE = "<!-- Made by `make docs`; do not edit. -->\n"


def settings_page() -> str:
    """The table of settings."""
    rows = [f"| `{each.variable}` | {each.shown or 'unset'} | {each.help} |" for each in all_settings()]
    head = (
        "# Settings\n\nEnvironment variables, lines of `.env`, or names of `pressroom.toml` in lower case without the"
        " prefix:\n[operations.md](operations.md#configuration).\n"
    )
    return "\n".join([NOTE + head, "| setting | default | |", "| --- | --- | --- |", *rows, ""])


def commands_page() -> str:
    """Every command's own help; what `serve --help` says of settings is in settings.md."""
    parts = [NOTE + "# Commands\n\nInstalled as `.venv/bin/pressroom`. Its settings: [settings.md](settings.md).\n"]
    # Commands inherit the names of their help option from the group, and keep those of their first use.
    group = command_line.make_context(None, [], resilient_parsing=True)
    for name, command in _commands("pressroom", command_line):
        without_settings = copy(command)
        without_settings.epilog = None
        context = click.Context(
            without_settings, parent=group, info_name=name, terminal_width=100, max_content_width=100
        )
        parts.append(f"## `{name}`\n\n```\n{without_settings.get_help(context)}\n```\n")
    return "\n".join(parts)


def routes_page() -> str:
    """The table of routes."""
    rows = [f"| {route.method} | `{route.path}` | {_who(route.access)} | {route.summary} |" for route in API_ROUTES]
    head = "# Routes\n\nThe reference with bodies, answers and examples is `/docs` of every server.\n"
    return "\n".join([NOTE + head, "| method | path | who | what |", "| --- | --- | --- | --- |", *rows, ""])


PAGES = {"settings.md": settings_page, "commands.md": commands_page, "routes.md": routes_page}


def _commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for part, below in command.commands.items():
            yield from _commands(f"{name} {part}", below)
    else:
        yield name, command


def _who(access: Access) -> str:
    match access:
        case Keyed(anyone=True):
            return "anyone, any key"
        case Keyed(scope=None):
            return "any key, or signed in"
        case Keyed():
            return f"key with {' and '.join(f'`{scope}`' for scope in access.scopes)}, or signed in"
        case SessionOnly():
            return "signed in"
        case Anyone():
            return "anyone"
        case _:
            return ""


if __name__ == "__main__":
    for file, make in PAGES.items():
        (FOLDER / file).write_text(make(), "utf-8")
        sys.stdout.write(f"docs/{file}\n")
