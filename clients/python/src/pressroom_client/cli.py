"""The command `pressroom-client`: publishes and watches events from a shell.

The server's address is PRESSROOM_URL; the key is PRESSROOM_API_KEY or, after `pressroom-client login`, in the system's
keyring. No secret is an argument, which every user of a machine could read. Exit status: 0 done, 2 misuse, 3 refused, 4
not now (no answer, a limit or an error of the server).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import secrets
import sys
import time
import uuid
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

import click
import httpx

from pressroom_client import __version__
from pressroom_client._console import (
    EVERY_AUDIENCE,
    SERVICE,
    address_of,
    exit_status,
    key_for,
    show,
    system_keyring,
    text_of,
    with_client,
)
from pressroom_client._files import File
from pressroom_client._import_commands import import_group
from pressroom_client._sync_client import DEADLINE, Pressroom
from pressroom_client.errors import PressroomError
from pressroom_client.types import Draft, EditDraft, Event, Post, Visibility

SECRET = "PRESSROOM_WEBHOOK_SECRET"  # noqa: S105  # the name of a variable


@click.group(help=__doc__)
@click.version_option(__version__, prog_name=SERVICE)
@click.option("--url", envvar="PRESSROOM_URL", metavar="URL", help="The server's address; PRESSROOM_URL.")
@click.option("--json", "as_json", is_flag=True, help="Print each answer as a line of JSON.")
@click.option("--deadline", default=DEADLINE, show_default=True, help="Seconds for a call with all its tries.")
@click.pass_context
def main(context: click.Context, url: str | None, as_json: bool, deadline: float) -> None:
    context.obj = {"url": url, "json": as_json, "deadline": deadline}


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
    keyring = system_keyring()
    if keyring is None:
        raise click.UsageError("The keyring needs an extra: pip install 'pressroom-client[cli]'")
    url = address_of(context)
    key = click.prompt("API key", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().strip()
    with Pressroom(url, key) as client:
        try:
            account = client.me()
        except PressroomError as error:
            click.echo(f"{SERVICE}: {error}", err=True)
            sys.exit(exit_status(error))
    keyring.set_password(SERVICE, url, key)
    click.echo(f"Signed in to {url} as {account['username']}.")


@main.command()
@with_client
def whoami(client: Pressroom) -> None:
    """Show the account of the key."""
    account = client.me()
    show(account, f"{account['username']} ({account['displayName']}), {account['totalPosts']} posts")


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
@with_client
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
        _show_draft(_store_draft(client, text_of(text), files, at, audience, hub, once))
        return
    if media:
        made = client.upload_post(files, text_of(text), visibility=audience, hub_id=hub, idempotency_key=once)
        made = client.wait_until_ready(made["id"]) if wait else made
    else:
        made = client.create_post(text_of(text) or "", visibility=audience, hub_id=hub, idempotency_key=once)
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
    show(stored, f"Draft {stored['id']} is {f'scheduled for {at}' if at else 'stored'}.")


def _show_post(made: Post) -> None:
    show(made, made["permalink"])


@main.command()
@click.argument("post_id")
@click.argument("text", required=False)
@visibility_option
@once
@with_client
def edit(client: Pressroom, post_id: str, text: str | None, visibility: str | None, once: str | None) -> None:
    """Change the text or the audience of a post."""
    audience = cast("Visibility | None", visibility and visibility.upper())
    _show_post(client.edit_post(post_id, content=text_of(text), visibility=audience, idempotency_key=once))


@main.command()
@click.argument("post_id")
@once
@with_client
def delete(client: Pressroom, post_id: str, once: str | None) -> None:
    """Delete a post."""
    deleted = client.delete_post(post_id, idempotency_key=once)
    show(deleted, deleted["message"])


@main.command()
@click.argument("post_id")
@click.argument("text")
@click.option("--reply-to", metavar="COMMENT", help="The id of the comment replied to.")
@once
@with_client
def comment(client: Pressroom, post_id: str, text: str, reply_to: str | None, once: str | None) -> None:
    """Comment on a post."""
    made = client.comment(post_id, text_of(text), parent_id=reply_to, idempotency_key=once)
    show(made, made["permalink"])


@main.command()
@click.argument("post_id")
@click.argument("text", required=False)
@once
@with_client
def bounce(client: Pressroom, post_id: str, text: str | None, once: str | None) -> None:
    """Share a post, with TEXT as a quote."""
    _show_post(client.bounce(post_id, text_of(text), idempotency_key=once))


@main.command()
@click.argument("video", type=click.Path(exists=True, dir_okay=False))
@click.option("--caption")
@visibility_option
@hub_option
@once
@with_client
def clip(
    client: Pressroom, video: str, caption: str | None, visibility: str | None, hub: str | None, once: str | None
) -> None:
    """Publish a clip."""
    audience = cast("Visibility | None", visibility and visibility.upper())
    made = client.publish_clip(Path(video), caption, visibility=audience, hub_id=hub, idempotency_key=once)
    show(made, made["permalink"])


@main.command()
@click.option("--after", metavar="CURSOR", help="Begin after this cursor; now unless given.")
@click.option("--events", metavar="NAMES", help="Only these events, separated by commas.")
@with_client
def watch(client: Pressroom, after: str | None, events: str | None) -> None:
    """Print the account's events as lines of JSON, each with its cursor, until Ctrl+C."""
    for cursor, event in _chosen(client.events(after), events):
        click.echo(json.dumps({"cursor": cursor, **event}, ensure_ascii=False))


@main.command()
@click.option("--forward", "target", required=True, metavar="URL", help="The receiver, such as http://localhost:3000.")
@click.option("--events", metavar="NAMES", help="Only these events, separated by commas.")
@with_client
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
    known = httpx.get(f"{address_of(context).rstrip('/')}/openapi-keys.json", timeout=30).json()["webhooks"]
    if event not in known:
        raise click.UsageError(f"There is no event {event}; there are {', '.join(known)}.")
    sample = known[event]["post"]["requestBody"]["content"]["application/json"]["example"]
    click.echo(f"{event} {sample['id']}: {_deliver(target, secret, sample)}")


def _deliver(target: str, secret: str, envelope: Any) -> str:
    """Sends an envelope as the service does, once. Returns the outcome."""
    body = json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode()
    at = int(time.time())
    digest = hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise click.UsageError(f"{SECRET} is no secret of an endpoint: whsec_ and 32 letters or digits.") from None
    signed = f"{envelope['id']}.{at}.".encode() + body
    standard = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    headers = {
        "Content-Type": "application/json",
        "X-Service-Signature": f"t={at},v1={digest}",
        "X-Service-Event": envelope["event"],
        "X-Service-Delivery-Id": envelope["id"],
        "webhook-id": envelope["id"],
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{standard}",
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
    url = address_of(context)
    if address is None:
        mcp_server.serve_stdio(url, key_for(url))
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit():
        raise click.UsageError("--http takes HOST:PORT, such as 127.0.0.1:8765.")
    mcp_server.serve_http(url, host, int(port), origins)


main.add_command(import_group)

if __name__ == "__main__":
    main(prog_name=SERVICE)
