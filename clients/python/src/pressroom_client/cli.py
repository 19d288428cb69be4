"""The command `pressroom-client`: publishes and watches events from a shell.

The server's address is PRESSROOM_URL; the key is PRESSROOM_API_KEY or, after `pressroom-client login`, in the system's
keyring. No secret is an argument, which every user of a machine could read. Exit status: 0 done, 2 misuse, 3 refused, 4
not now (no answer, a limit or an error of the server).
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib
import json
import os
import re
import secrets
import sys
import time
import uuid
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar, cast

import click
import httpx

from pressroom_client import __version__
from pressroom_client._files import File
from pressroom_client._sync_client import DEADLINE, Pressroom
from pressroom_client.errors import ApiError, NoAnswer, PressroomError
from pressroom_client.types import Draft, EditDraft, Event, Post, Visibility

SERVICE = "pressroom-client"
SECRET = "PRESSROOM_WEBHOOK_SECRET"  # noqa: S105  # the name of a variable
REFUSED, LATER = 3, 4
EVERY_AUDIENCE = ("PUBLIC", "FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM")

F = TypeVar("F", bound=Callable[..., None])


@click.group(help=__doc__)
@click.version_option(__version__, prog_name=SERVICE)
@click.option("--url", envvar="PRESSROOM_URL", metavar="URL", help="The server's address; PRESSROOM_URL.")
@click.option("--json", "as_json", is_flag=True, help="Print each answer as a line of JSON.")
@click.option("--deadline", default=DEADLINE, show_default=True, help="Seconds for a call with all its tries.")
@click.pass_context
def main(context: click.Context, url: str | None, as_json: bool, deadline: float) -> None:
    context.obj = {"url": url, "json": as_json, "deadline": deadline}


def _with_client(command: F) -> F:
    """Gives a command its client, and turns failures into a sentence and an exit status."""

    @functools.wraps(command)
    @click.pass_context
    def run(context: click.Context, *args: Any, **named: Any) -> None:
        try:
            deadline: float = context.find_root().obj["deadline"]
            with Pressroom(_url(context), _key(_url(context)), deadline=deadline) as client:
                command(client, *args, **named)
        except PressroomError as error:
            click.echo(f"{SERVICE}: {error}", err=True)
            if isinstance(error, NoAnswer) and error.idempotency_key:
                click.echo(f"The write may have happened. Repeat it with --once {error.idempotency_key}", err=True)
            sys.exit(_status(error))
        except OSError as error:
            raise click.UsageError(str(error)) from None

    return cast("F", run)


def _status(error: PressroomError) -> int:
    if isinstance(error, ApiError) and error.status != 429 and error.status < 500:
        return REFUSED
    return REFUSED if not isinstance(error, (ApiError, NoAnswer)) else LATER


def _url(context: click.Context) -> str:
    url: str | None = context.find_root().obj["url"]
    if not url:
        raise click.UsageError("Set PRESSROOM_URL to the server's address, such as https://press.example.org.")
    return url


def _key(url: str) -> str:
    if key := os.environ.get("PRESSROOM_API_KEY"):
        return key.strip()
    keyring = _keyring()
    stored: str | None = keyring.get_password(SERVICE, url) if keyring else None
    if not stored:
        raise click.UsageError(f"There is no key for {url}. Set PRESSROOM_API_KEY, or run: {SERVICE} login")
    return stored


def _keyring() -> Any:  # it has no types
    """Returns the module of the system's keyring; None without the extra that installs it."""
    try:
        return importlib.import_module("keyring")
    except ImportError:
        return None


def _show(answer: object, sentence: str) -> None:
    as_json = click.get_current_context().find_root().obj["json"]
    click.echo(json.dumps(answer, ensure_ascii=False) if as_json else sentence)


def _text(given: str | None) -> str | None:
    """Returns a text; `-` stands for standard input."""
    return sys.stdin.read() if given == "-" else given


def _time(_context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    """Returns a time in UTC; one without an offset is the machine's own time."""
    if given is None:
        return None
    try:
        # Python 3.10 reads no Z.
        at = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", given)).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise click.BadParameter("Write a time like 2026-12-24T18:00 or 2026-12-24T18:00:00+01:00.") from None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


once = click.option("--once", metavar="KEY", help="The Idempotency-Key: the same key publishes once, however often.")
visibility_option = click.option("--visibility", type=click.Choice(EVERY_AUDIENCE, case_sensitive=False))
hub_option = click.option("--hub", metavar="ID", help="A hub that the account is a member of.")


@main.command()
@click.pass_context
def login(context: click.Context) -> None:
    """Store a key in the system's keyring. It is asked for, or read from standard input."""
    keyring = _keyring()
    if keyring is None:
        raise click.UsageError("The keyring needs an extra: pip install 'pressroom-client[cli]'")
    url = _url(context)
    key = click.prompt("API key", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().strip()
    with Pressroom(url, key) as client:
        try:
            account = client.me()
        except PressroomError as error:
            click.echo(f"{SERVICE}: {error}", err=True)
            sys.exit(_status(error))
    keyring.set_password(SERVICE, url, key)
    click.echo(f"Signed in to {url} as {account['username']}.")


@main.command()
@_with_client
def whoami(client: Pressroom) -> None:
    """Show the account of the key."""
    account = client.me()
    _show(account, f"{account['username']} ({account['displayName']}), {account['totalPosts']} posts")


@main.command()
@click.argument("text", required=False)
@click.option("--media", multiple=True, type=click.Path(exists=True, dir_okay=False), help="A file; up to four.")
@click.option("--alt", multiple=True, metavar="TEXT", help="The description of the file at the same place.")
@click.option("--wait", is_flag=True, help="Wait until the files are ready.")
@click.option("--draft", is_flag=True, help="Store a draft instead; the key needs drafts:write.")
@click.option(
    "--at", "at", metavar="TIME", callback=_time, help="Publish it then: 2026-12-24T18:00, or with Z or +01:00."
)
@visibility_option
@hub_option
@once
@_with_client
def post(
    client: Pressroom,
    text: str | None,
    media: tuple[str, ...],
    alt: tuple[str, ...],
    wait: bool,
    draft: bool,
    at: str | None,
    visibility: str | None,
    hub: str | None,
    once: str | None,
) -> None:
    """Publish a post. TEXT - reads standard input."""
    if not text and not media:
        raise click.UsageError("Give a TEXT, a --media FILE or both.")
    if wait and (draft or at):
        raise click.UsageError("--wait is for posts that are published now.")
    audience = cast("Visibility | None", visibility and visibility.upper())
    alts = [*alt, *[""] * len(media)]
    files = [File(path, alt_text=alts[place]) for place, path in enumerate(media)]
    if draft or at:
        _show_draft(_store_draft(client, _text(text), files, at, audience, hub, once))
        return
    if media:
        made = client.upload_post(files, _text(text), visibility=audience, hub_id=hub, idempotency_key=once)
        made = client.wait_until_ready(made["id"]) if wait else made
    else:
        made = client.create_post(_text(text) or "", visibility=audience, hub_id=hub, idempotency_key=once)
    _show_post(made)


def _store_draft(
    client: Pressroom,
    text: str | None,
    files: list[File],
    at: str | None,
    audience: Visibility | None,
    hub: str | None,
    once: str | None,
) -> Draft:
    once = once or str(uuid.uuid4())
    # Scheduled last: a draft whose files are still on their way must not be published.
    stored = client.create_draft(
        text, visibility=audience, hub_id=hub, publish_at=None if files else at, idempotency_key=once
    )
    if files:
        stored = client.add_draft_media(stored["id"], files, idempotency_key=once)
        if at:
            changes: EditDraft = {"version": stored["version"], "publishAt": at}
            stored = client.edit_draft(stored["id"], changes, idempotency_key=once)
    return stored


def _show_draft(stored: Draft) -> None:
    at = stored["publishAt"]
    _show(stored, f"Draft {stored['id']} is {f'scheduled for {at}' if at else 'stored'}.")


def _show_post(made: Post) -> None:
    _show(made, made["permalink"])


@main.command()
@click.argument("post_id")
@click.argument("text", required=False)
@visibility_option
@once
@_with_client
def edit(client: Pressroom, post_id: str, text: str | None, visibility: str | None, once: str | None) -> None:
    """Change the text or the audience of a post."""
    audience = cast("Visibility | None", visibility and visibility.upper())
    _show_post(client.edit_post(post_id, content=_text(text), visibility=audience, idempotency_key=once))


@main.command()
@click.argument("post_id")
@once
@_with_client
def delete(client: Pressroom, post_id: str, once: str | None) -> None:
    """Delete a post."""
    deleted = client.delete_post(post_id, idempotency_key=once)
    _show(deleted, deleted["message"])


@main.command()
@click.argument("post_id")
@click.argument("text")
@click.option("--reply-to", metavar="COMMENT", help="The id of the comment replied to.")
@once
@_with_client
def comment(client: Pressroom, post_id: str, text: str, reply_to: str | None, once: str | None) -> None:
    """Comment on a post."""
    made = client.comment(post_id, _text(text), parent_id=reply_to, idempotency_key=once)
    _show(made, made["permalink"])


@main.command()
@click.argument("post_id")
@click.argument("text", required=False)
@once
@_with_client
def bounce(client: Pressroom, post_id: str, text: str | None, once: str | None) -> None:
    """Share a post, with TEXT as a quote."""
    _show_post(client.bounce(post_id, _text(text), idempotency_key=once))


@main.command()
@click.argument("video", type=click.Path(exists=True, dir_okay=False))
@click.option("--caption")
@visibility_option
@hub_option
@once
@_with_client
def clip(
    client: Pressroom, video: str, caption: str | None, visibility: str | None, hub: str | None, once: str | None
) -> None:
    """Publish a clip."""
    audience = cast("Visibility | None", visibility and visibility.upper())
    made = client.publish_clip(Path(video), caption, visibility=audience, hub_id=hub, idempotency_key=once)
    _show(made, made["permalink"])


@main.command()
@click.option("--after", metavar="CURSOR", help="Begin after this cursor; now unless given.")
@click.option("--events", metavar="NAMES", help="Only these events, separated by commas.")
@_with_client
def watch(client: Pressroom, after: str | None, events: str | None) -> None:
    """Print the account's events as lines of JSON, each with its cursor, until Ctrl+C."""
    for cursor, event in _chosen(client.events(after), events):
        click.echo(json.dumps({"cursor": cursor, **event}, ensure_ascii=False))


@main.command()
@click.option("--forward", "target", required=True, metavar="URL", help="The receiver, such as http://localhost:3000.")
@click.option("--events", metavar="NAMES", help="Only these events, separated by commas.")
@_with_client
def listen(client: Pressroom, target: str, events: str | None) -> None:
    """Forward the account's events to a local receiver until Ctrl+C; it needs no tunnel.

    Deliveries are signed with PRESSROOM_WEBHOOK_SECRET, or with a new secret that is printed.
    """
    secret = os.environ.get(SECRET) or "whsec_" + secrets.token_hex(16)
    click.echo(f"Deliveries are signed with {secret}", err=True)
    for _, event in _chosen(client.events(), events):
        click.echo(f"{event['event']} {event['id']}: {_deliver(target, secret, event)}")


def _chosen(found: Iterable[tuple[str, Event]], names: str | None) -> Iterable[tuple[str, Event]]:
    wanted = None if names is None else {name.strip() for name in names.split(",")}
    return (each for each in found if wanted is None or each[1]["event"] in wanted)


@main.command()
@click.argument("event")
@click.option("--forward", "target", required=True, metavar="URL", help="The receiver, such as http://localhost:3000.")
@click.pass_context
def trigger(context: click.Context, event: str, target: str) -> None:
    """Send a sample delivery of EVENT, signed with PRESSROOM_WEBHOOK_SECRET, to a local receiver.

    Nothing is published.
    """
    secret = os.environ.get(SECRET)
    if not secret:
        raise click.UsageError(f"Set {SECRET} to the secret that the receiver verifies with.")
    known = httpx.get(f"{_url(context).rstrip('/')}/openapi-keys.json", timeout=30).json()["webhooks"]
    if event not in known:
        raise click.UsageError(f"There is no event {event}; there are {', '.join(known)}.")
    sample = known[event]["post"]["requestBody"]["content"]["application/json"]["example"]
    click.echo(f"{event} {sample['id']}: {_deliver(target, secret, sample)}")


def _deliver(target: str, secret: str, envelope: Any) -> str:
    """Sends an envelope as the service does, once. Returns the outcome."""
    body = json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode()
    at = int(time.time())
    digest = hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-Service-Signature": f"t={at},v1={digest}",
        "X-Service-Event": envelope["event"],
        "X-Service-Delivery-Id": envelope["id"],
    }
    try:
        return str(httpx.post(target, content=body, headers=headers, timeout=10).status_code)
    except httpx.TransportError as error:
        return f"no answer ({error})"


@main.command("mcp")
@click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP; each request brings its own key.")
@click.option("--origin", "origins", multiple=True, metavar="URL", help="A web page's origin that may call it.")
@click.pass_context
def mcp_command(context: click.Context, address: str | None, origins: tuple[str, ...]) -> None:
    """Serve the account to a language model, by the Model Context Protocol: over stdio, or over HTTP at /mcp."""
    try:
        from pressroom_client import mcp_server
    except ImportError:
        raise click.UsageError("This needs an extra: pip install 'pressroom-client[mcp]'") from None
    url = _url(context)
    if address is None:
        mcp_server.serve_stdio(url, _key(url))
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit():
        raise click.UsageError("--http takes HOST:PORT, such as 127.0.0.1:8765.")
    mcp_server.serve_http(url, host, int(port), origins)


if __name__ == "__main__":
    main(prog_name=SERVICE)
