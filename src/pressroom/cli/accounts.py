"""The operator's commands on accounts."""

import sys
from datetime import datetime
from typing import TYPE_CHECKING

import click

from pressroom.cli.console import acting, errors, own_settings, plain, wide, with_database
from pressroom.domains.moderation.models import SUSPENDED
from pressroom.errors import PressroomError

if TYPE_CHECKING:
    from pressroom.domains.audit.models import Source
    from pressroom.domains.moderation.schemas import RecordOut

_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def account() -> None:
    """Manage accounts."""


@account.command("create")
@click.argument("username")
@click.option("--email", required=True)
@click.option("--password", required=True, help="10 to 200 characters; - reads it from standard input.")
@click.option("--admin", is_flag=True, help="Make it an admin.")
@acting
def account_create(
    username: str, email: str, password: str, admin: bool, source: "Source"
) -> None:  # click passes flags by name
    """Make the account USERNAME; prints its id."""
    from pressroom.domains.sign_up import commands as account_commands

    click.echo(
        with_database(
            lambda db: account_commands.create(db, username, email, _password(password), is_admin=admin, source=source)
        )
    )


@account.command("list")
@click.option("--limit", type=click.IntRange(1, 1_000), default=100, show_default=True, help="Accounts to show.")
@click.option("--cursor", help="Where to continue: the cursor that an earlier list printed.")
@_as_json
def account_list(limit: int, cursor: str | None, as_json: bool) -> None:
    """List the accounts, newest first."""
    import msgspec

    from pressroom.domains.moderation import commands as operator_commands

    found = with_database(lambda db: operator_commands.list_accounts(db, limit, cursor))
    if as_json:
        click.echo(msgspec.json.encode(found))
        return
    wide().print(operator_commands.table(found))
    if found.next_cursor:
        errors().print(f"There are more: --cursor {found.next_cursor}")


@account.command("show")
@click.argument("username")
@_as_json
def account_show(username: str, as_json: bool) -> None:
    """Show the account USERNAME."""
    from pressroom.domains.moderation import commands as operator_commands

    _show(with_database(lambda db: operator_commands.show(db, username)), as_json=as_json)


@account.command("password")
@click.argument("username")
@click.option("--password", default="-", help="10 to 200 characters; -, the default, asks or reads standard input.")
@_as_json
@acting
def account_password(username: str, password: str, as_json: bool, source: "Source") -> None:
    """Give the account USERNAME another password and end its sessions."""
    from pressroom.domains.moderation import commands as operator_commands

    done = with_database(lambda db: operator_commands.password(db, username, _password(password), source))
    _show(done, as_json=as_json)


@account.command("reset")
@click.argument("username")
@acting
def account_reset(username: str, source: "Source") -> None:
    """Print a link by which USERNAME sets a new password: good once, for an hour. Hand it over yourself."""
    from pressroom.domains.sign_up import commands as account_commands

    settings = own_settings()
    click.echo(with_database(lambda db: account_commands.reset_link(db, username, settings.base_url, source), settings))


@account.command("two-factor-off")
@click.argument("username")
@_as_json
@acting
def account_two_factor_off(username: str, as_json: bool, source: "Source") -> None:
    """Take two-factor sign-in off the account USERNAME, whose owner lost the authenticator and every recovery code.

    Be sure that it is the owner who asks. The password is still needed to sign in.
    """
    from pressroom.domains.moderation import commands as operator_commands

    _show(with_database(lambda db: operator_commands.remove_two_factor(db, username, source)), as_json=as_json)


@account.command("suspend")
@click.argument("username")
@click.option("--reason", default=SUSPENDED, show_default=True, help="Sent in the events of its keys.")
@_as_json
@acting
def account_suspend(username: str, reason: str, as_json: bool, source: "Source") -> None:
    """Suspend the account USERNAME: end its sessions, revoke its keys, and show nothing of it."""
    from pressroom.domains.moderation import commands as operator_commands

    _show(with_database(lambda db: operator_commands.suspend(db, username, reason, source)), as_json=as_json)


@account.command("limits")
@click.argument("username")
@click.option("--requests-per-minute", type=click.IntRange(1, 100_000), help="Of each key.")
@click.option("--requests-per-day", type=click.IntRange(1, 100_000_000), help="Of each key, in 24 hours.")
@click.option("--posts-per-minute", type=click.IntRange(1, 100_000), help="Of each key.")
@click.option("--content-per-day", type=click.IntRange(0, 10_000_000), help="Posts, clips and bounces by key.")
@click.option("--session-writes-per-minute", type=click.IntRange(1, 100_000), help="Signed in.")
@click.option("--session-content-per-day", type=click.IntRange(0, 10_000_000), help="The same, signed in.")
@click.option("--storage-bytes", type=click.IntRange(0, 10**12), help="Bytes of media.")
@click.option(
    "--until", type=click.DateTime(), help="The UTC time at which the settings hold again; never unless given."
)
@click.option("--reason", help="Kept in the log.")
@_as_json
@acting
def account_limits(
    username: str, until: datetime | None, reason: str | None, as_json: bool, source: "Source", **limits: int | None
) -> None:
    """Give the account USERNAME limits of its own. Each call replaces all of them; for the others the settings hold."""
    from pressroom.domains.moderation import commands as operator_commands

    record = with_database(lambda db: operator_commands.limit(db, username, limits, until, reason, source))
    _show(record, as_json=as_json)


@account.command("sign-out")
@click.argument("username", required=False)
@click.option("--all", "everybody", is_flag=True, help="End the sessions of all accounts.")
@acting
def account_sign_out(username: str | None, everybody: bool, source: "Source") -> None:
    """End all sessions of the account USERNAME, or of all accounts. Keys stay valid; people sign in again."""
    from pressroom.domains.moderation import commands as operator_commands

    if (username is None) != everybody:
        raise click.UsageError("Give a USERNAME, or --all.")
    click.echo(f"{with_database(lambda db: operator_commands.sign_out(db, username, source)):,} sessions ended.")


@account.command("restore")
@click.argument("username")
@_as_json
@acting
def account_restore(username: str, as_json: bool, source: "Source") -> None:
    """End the suspension of USERNAME. Its keys stay revoked."""
    from pressroom.domains.moderation import commands as operator_commands

    _show(with_database(lambda db: operator_commands.restore(db, username, source)), as_json=as_json)


@account.command("delete")
@click.argument("username")
@click.option("--reason", help="Kept in the log.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_as_json
@acting
def account_delete(username: str, reason: str | None, yes: bool, as_json: bool, source: "Source") -> None:
    """Delete the account USERNAME for good: erase its names, e-mail address and password, and show nothing of it."""
    from pressroom.domains.moderation import commands as operator_commands

    if not yes and click.prompt("This cannot be undone. Repeat the user name", err=True) != username:
        raise PressroomError("That is another name. Nothing was deleted.")
    _show(with_database(lambda db: operator_commands.delete(db, username, reason, source)), as_json=as_json)


@account.command("admin")
@click.argument("username")
@click.option("--revoke", is_flag=True, help="Take the right away instead.")
@_as_json
@acting
def account_admin(username: str, revoke: bool, as_json: bool, source: "Source") -> None:
    """Make the account USERNAME an admin."""
    from pressroom.domains.moderation import commands as operator_commands

    _show(
        with_database(lambda db: operator_commands.admin(db, username, revoke=revoke, source=source)), as_json=as_json
    )


@account.command("moderator")
@click.argument("username")
@click.option("--revoke", is_flag=True, help="Take the right away instead.")
@_as_json
@acting
def account_moderator(username: str, revoke: bool, as_json: bool, source: "Source") -> None:
    """Make the account USERNAME a moderator: it decides about reports, suspends and restores accounts."""
    from pressroom.domains.moderation import commands as operator_commands

    record = with_database(lambda db: operator_commands.moderator(db, username, revoke=revoke, source=source))
    _show(record, as_json=as_json)


def _password(given: str) -> str:
    """Returns the password given; for a dash, asks for it or reads a line of standard input."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        return click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return sys.stdin.readline().rstrip("\n")


def _show(record: "RecordOut", *, as_json: bool) -> None:
    import msgspec

    if as_json:
        click.echo(msgspec.json.encode(record))
        return
    for name, value in msgspec.to_builtins(record).items():
        if value is not None:
            click.echo(f"{name:<15} {plain(str(value))}")
