"""`pressroom import`: brings posts of other places into an account, with their dates (docs/importing.md)."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from pressroom.cli.console import acting, errors, own_settings, plain, with_database
from pressroom.domains.posts.visibility import Visibility

if TYPE_CHECKING:
    from pressroom.domains.audit.models import Source
    from pressroom.operations.importing.sources import Item

Reader = Callable[[Path], "Iterable[Item]"]

_AUDIENCES: Final = tuple(each.value for each in Visibility if each is not Visibility.CUSTOM)


@click.group("import")
def import_group() -> None:
    """Import posts that were published elsewhere, as of their own dates, each once however often this runs.

    They are history: nobody is notified, no webhook is sent and no quota of the day is spent. A run that was stopped
    goes on when it is run again.
    """


def _importing(read: Reader) -> Callable[..., None]:
    """Makes a command of the function that reads a source."""

    @click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--account", "username", metavar="USERNAME", required=True, help="Whose posts they become.")
    @click.option(
        "--visibility", type=click.Choice(_AUDIENCES, case_sensitive=False), help="Of all posts, instead of their own."
    )
    @click.option("--dry-run", is_flag=True, help="Show what would be imported, and change nothing.")
    @acting
    def run(file: Path, username: str, visibility: str | None, dry_run: bool, source: "Source") -> None:
        from pressroom.clock import SystemClock
        from pressroom.operations.importing.running import Import, import_items

        def say(line: str) -> None:
            errors().print(plain(line))

        settings = own_settings()
        wanted = Import(username, file.name, Visibility(visibility.upper()) if visibility else None, dry_run, source)
        counts = with_database(lambda db: import_items(settings, db, SystemClock(), wanted, read(file), say), settings)
        shown = [f"{number:,} {outcome}" for outcome, number in sorted(counts.items()) if number]
        click.echo(", ".join(shown) or "nothing to import")

    run.__doc__ = read.__doc__
    return run


@import_group.command("mastodon")
@_importing
def import_mastodon(file: Path) -> "Iterable[Item]":
    """Import the archive of an account of Mastodon; replies, boosts and direct messages are left out."""
    from pressroom.operations.importing.sources import read_mastodon

    return read_mastodon(file)


@import_group.command("feed")
@_importing
def import_feed(file: Path) -> "Iterable[Item]":
    """Import the entries of an RSS or Atom feed that was saved to FILE."""
    from pressroom.errors import PressroomError
    from pressroom.operations.importing.sources import LARGEST_FEED, read_feed

    if file.stat().st_size > LARGEST_FEED:
        raise PressroomError(f"The feed is larger than {LARGEST_FEED:,} bytes.")
    return read_feed(file.read_bytes())


@import_group.command("export")
@_importing
def import_export(file: Path) -> "Iterable[Item]":
    """Import the copy that an owner took of an account; bounces, polls and places are left out."""
    from pressroom.operations.importing.sources import read_export

    return read_export(file)


@import_group.command("jsonl")
@_importing
def import_jsonl(file: Path) -> "Iterable[Item]":
    """Import lines of JSON: id and content, and createdAt and visibility if there are any."""
    from pressroom.operations.importing.sources import read_jsonl

    return read_jsonl(file)
