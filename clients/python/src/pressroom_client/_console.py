"""What all commands share: the client, the way failures are told, and output."""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from pressroom_client._sync_client import Pressroom
from pressroom_client.errors import ApiError, NoAnswer, PressroomError

SERVICE = "pressroom-client"
REFUSED, LATER = 3, 4
EVERY_AUDIENCE = ("PUBLIC", "FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM")

F = TypeVar("F", bound=Callable[..., None])


def with_client(command: F) -> F:
    """Gives a command its client, and turns failures into a sentence and an exit status."""

    @functools.wraps(command)
    @click.pass_context
    def run(context: click.Context, *args: Any, **named: Any) -> None:
        try:
            deadline: float = context.find_root().obj["deadline"]
            with Pressroom(address_of(context), key_for(address_of(context)), deadline=deadline) as client:
                command(client, *args, **named)
        except PressroomError as error:
            click.echo(f"{SERVICE}: {error}", err=True)
            if isinstance(error, NoAnswer) and error.idempotency_key:
                click.echo(f"The write may have happened. Repeat it with --once {error.idempotency_key}", err=True)
            sys.exit(exit_status(error))
        except OSError as error:
            raise click.UsageError(str(error)) from None

    return cast("F", run)


def exit_status(error: PressroomError) -> int:
    """Returns the exit status after a failure."""
    if isinstance(error, ApiError) and error.status != 429 and error.status < 500:
        return REFUSED
    return REFUSED if not isinstance(error, (ApiError, NoAnswer)) else LATER


def address_of(context: click.Context) -> str:
    """Returns the server's address. Raises UsageError."""
    url: str | None = context.find_root().obj["url"]
    if not url:
        raise click.UsageError("Set PRESSROOM_URL to the server's address, such as https://press.example.org.")
    return url


def key_for(url: str) -> str:
    """Returns the key for a server. Raises UsageError."""
    if key := os.environ.get("PRESSROOM_API_KEY"):
        return key.strip()
    keyring = system_keyring()
    stored: str | None = keyring.get_password(SERVICE, url) if keyring else None
    if not stored:
        raise click.UsageError(f"There is no key for {url}. Set PRESSROOM_API_KEY, or run: {SERVICE} login")
    return stored


def system_keyring() -> Any:  # it has no types
    """Returns the module of the system's keyring; None without the extra that installs it."""
    try:
        return importlib.import_module("keyring")
    except ImportError:
        return None


def show(answer: object, sentence: str) -> None:
    """Prints an answer as JSON, or as a sentence."""
    as_json = click.get_current_context().find_root().obj["json"]
    click.echo(json.dumps(answer, ensure_ascii=False) if as_json else sentence)


def text_of(given: str | None) -> str | None:
    """Returns a text; `-` stands for standard input."""
    return sys.stdin.read() if given == "-" else given
