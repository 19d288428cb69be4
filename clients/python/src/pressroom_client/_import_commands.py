"""`pressroom-client import`: publishes what was published elsewhere."""

from __future__ import annotations

import functools
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

import click
import httpx

from pressroom_client import importing
from pressroom_client._console import EVERY_AUDIENCE, SERVICE, show, with_client
from pressroom_client._files import File
from pressroom_client._sync_client import Pressroom
from pressroom_client.errors import PressroomError, Unprocessable, ValidationFailed
from pressroom_client.types import Visibility

LARGEST_FILE = 8 * 1024**2
MOST_FILES = 4
"""What the server takes with a key."""


class _Done:
    """The items that earlier runs published: a line for each, written before the next item begins."""

    def __init__(self, path: Path) -> None:
        self._seen = set(path.read_text("ascii").split()) if path.exists() else set[str]()
        self._file = path.open("a", encoding="ascii")

    def __contains__(self, item: importing.Item) -> bool:
        return item.idempotency_key in self._seen

    def add(self, item: importing.Item) -> None:
        """Remembers an item, through a power cut too."""
        self._seen.add(item.idempotency_key)
        self._file.write(f"{item.idempotency_key}\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


@click.group("import")
def import_group() -> None:
    """Publish what was published elsewhere, oldest first, each item once however often this runs.

    Each text ends in the day of its first publication. A run that was stopped, also by the daily quota, goes on
    where it stopped when it is run again.
    """


def _importing(command: Callable[..., Iterable[importing.Item]]) -> Callable[..., None]:
    """Makes a command of a function that reads a source."""

    @click.option("--visibility", type=click.Choice(EVERY_AUDIENCE, case_sensitive=False), help="Instead of its own.")
    @click.option("--state", type=click.Path(dir_okay=False, path_type=Path), help="Default: SOURCE.imported, here.")
    @click.option("--dry-run", is_flag=True, help="Show what would be published.")
    @with_client
    @functools.wraps(command)
    def run(client: Pressroom, source: str, visibility: str | None, state: Path | None, dry_run: bool) -> None:
        place = state or Path(re.sub(r"[^\w.-]+", "_", Path(source).name or "feed") + ".imported")
        try:
            _import(client, command(source), place, visibility and visibility.upper(), dry_run=dry_run)
        except importing.BadSource as error:
            raise PressroomError(str(error)) from None

    return run


@import_group.command("mastodon")
@click.argument("source", metavar="ARCHIVE", type=click.Path(exists=True, dir_okay=False))
@_importing
def import_mastodon(source: str) -> Iterable[importing.Item]:
    """Publish the posts of an archive of Mastodon, with their pictures; replies, boosts and messages are left out."""
    return importing.read_mastodon(Path(source))


@import_group.command("feed")
@click.argument("source", metavar="FILE|URL")
@_importing
def import_feed(source: str) -> Iterable[importing.Item]:
    """Publish the entries of an RSS or Atom feed."""
    if not re.match("https?://", source):
        with Path(source).open("rb") as file:
            return importing.read_feed(_at_most(iter(lambda: file.read(importing.PIECE), b"")))
    try:
        with httpx.stream("GET", source, timeout=30, follow_redirects=True) as response:
            response.raise_for_status()
            return importing.read_feed(_at_most(response.iter_bytes()))
    except httpx.HTTPError as error:
        raise importing.BadSource(f"The feed cannot be fetched: {error}") from None


@import_group.command("export")
@click.argument("source", metavar="ARCHIVE", type=click.Path(exists=True, dir_okay=False))
@_importing
def import_export(source: str) -> Iterable[importing.Item]:
    """Publish the posts of the copy that an owner took of an account, with their files; bounces are left out."""
    return importing.read_export(Path(source))


@import_group.command("jsonl")
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@_importing
def import_jsonl(source: str) -> Iterable[importing.Item]:
    """Publish lines of JSON: id and content, and createdAt and visibility if there are any."""
    return importing.read_jsonl(Path(source))


def _at_most(pieces: Iterable[bytes]) -> bytes:
    content = b""
    for piece in pieces:
        content += piece
        if len(content) > importing.LARGEST_FEED:
            raise importing.BadSource(f"The feed is larger than {importing.LARGEST_FEED:,} bytes.")
    return content


def _import(
    client: Pressroom, items: Iterable[importing.Item], place: Path, visibility: str | None, *, dry_run: bool
) -> None:
    counts = Counter[str]()
    done = _Done(place)
    try:
        for item in items:
            outcome = _import_item(client, item, done, visibility, dry_run=dry_run)
            counts[outcome] += 1
    finally:
        done.close()
        if dry_run and not place.stat().st_size:
            place.unlink()
        click.echo(
            ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items())) or "nothing", err=True
        )


def _import_item(client: Pressroom, item: importing.Item, done: _Done, visibility: str | None, *, dry_run: bool) -> str:
    """Publishes an item unless that was done. Returns the outcome."""
    if item.skip or not (item.text or item.files):
        return "left out"
    if item in done:
        return "published before"
    audience = cast("Visibility | None", visibility or item.visibility)
    if dry_run:
        number = min(len(item.files), MOST_FILES)
        shown = {"visibility": audience or "PUBLIC", "files": number, "content": item.content}
        show(shown, f"{shown['visibility']}, {number} files: {item.content[:100]!r}")
        return "to be published"
    try:
        if files := _files_of(item):
            made = client.upload_post(files, item.content, visibility=audience, idempotency_key=item.idempotency_key)
        else:
            made = client.create_post(item.content, visibility=audience, idempotency_key=item.idempotency_key)
    except (ValidationFailed, Unprocessable) as error:
        click.echo(f"{SERVICE}: {item.id}: {error}", err=True)
        return "refused"
    done.add(item)
    show(made, made["permalink"])
    return "published"


def _files_of(item: importing.Item) -> list[File]:
    """Reads the files of an item that the server can take."""
    files: list[File] = []
    for each in item.files:
        content = io.BytesIO()
        if len(files) == MOST_FILES or not 0 < each.copy_to(content, LARGEST_FILE) <= LARGEST_FILE:
            reason = f"{each.name} is left out: a post takes {MOST_FILES} files of up to 8 MB"
            click.echo(f"{SERVICE}: {item.id}: {reason}", err=True)
            continue
        files.append(File(content.getvalue(), each.alt_text, each.name))
    return files
