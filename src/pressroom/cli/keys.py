"""The operator's commands on API keys."""

import sys
from typing import TYPE_CHECKING, Final

import click

from pressroom.cli.console import acting, wide, with_database
from pressroom.domains.keys.models import EXPIRIES, Scope

if TYPE_CHECKING:
    from pressroom.domains.audit.models import Source

MOST_READ: Final = 1_048_576
"""Bytes of standard input that are searched for a key."""


@click.group()
def key() -> None:
    """Manage API keys."""


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
@acting
def key_create(
    username: str,
    label: str,
    scopes: tuple[str, ...],
    expiry: str | None,
    networks: tuple[str, ...],
    more_scopes: tuple[str, ...],
    source: "Source",
) -> None:
    """Make a key for USERNAME and print it, this once."""
    from pressroom.domains.keys import commands as key_commands

    wanted = [part for scope in (*scopes, *more_scopes) for part in scope.replace(",", " ").split()]
    click.echo(
        with_database(lambda db: key_commands.create(db, username, label, wanted, expiry, list(networks), source))
    )


@key.command("list")
@click.argument("username")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def key_list(username: str, as_json: bool) -> None:
    """List the keys of USERNAME, newest first."""
    import msgspec

    from pressroom.domains.keys import commands as key_commands

    found = with_database(lambda db: key_commands.list_keys(db, username))
    if as_json:
        click.echo(msgspec.json.encode(found))
        return
    wide().print(key_commands.table(found))


@key.command("find")
@click.argument("text", default="-", metavar="[KEY]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def key_find(text: str, as_json: bool) -> None:
    """Show whose key a leaked KEY is. Without it, or with -, standard input is searched for one.

    Other users of the machine can read arguments: give a key that still works on standard input.
    """
    import msgspec

    from pressroom.domains.keys import commands as key_commands

    searched = _read() if text == "-" else text
    found = with_database(lambda db: key_commands.find(db, searched))
    click.echo(msgspec.json.encode(found) if as_json else key_commands.found_lines(found))


@key.command("revoke")
@click.argument("key_id", required=False)
@click.option("--secret", type=click.Choice(["-"]), help="Read the key itself from standard input, instead of KEY_ID.")
@click.option("--reason", required=True, help="Shown to the owner and sent in the event.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@acting
def key_revoke(key_id: str | None, secret: str | None, reason: str, as_json: bool, source: "Source") -> None:
    """Revoke the key KEY_ID, at once and for good."""
    import msgspec

    from pressroom.domains.keys import commands as key_commands

    if (key_id is None) == (secret is None):
        raise click.UsageError("Give the KEY_ID, or --secret - and the key on standard input.")
    if key_id is not None:
        found = with_database(lambda db: key_commands.revoke(db, key_id, reason, source))
    else:
        searched = _read()
        found = with_database(lambda db: key_commands.revoke_by_secret(db, searched, reason, source))
    click.echo(msgspec.json.encode(found) if as_json else key_commands.revoked_line(found))


def _read() -> str:
    return sys.stdin.buffer.read(MOST_READ).decode("utf-8", "replace")
