"""Hostile loads, one module each, with the definition of an attack, for `benchmarks/hostile.py`.

A module of this folder whose name begins with no underscore holds one class, `ATTACK`, a subclass of `Attack`:

    class SlowReaders(Attack):
        name = "readers that stall"            # its name in the table and for --only
        settings = {"MAX_FILES": 100}          # of the server, on top of USUAL_SETTINGS; without PRESSROOM_

        async def prepare(self, stage: Stage, http: ClientSession) -> None:
            ...                                # data, by HTTP alone, so that it runs against older sources too
            stage.notes["video"] = url         # JSON values for the two processes below

        async def run(self, stage: Stage, http: ClientSession) -> None:
            ...                                # attacks until it is cancelled

        @asynccontextmanager
        async def strangers(self, stage: Stage, http: ClientSession) -> AsyncGenerator[dict[str, Measure]]:
            yield usual(stage, http) | {"GET /@mira": lambda: get(http, stage.url("/@mira"))}

    ATTACK = SlowReaders

Three processes take part beside the server: the runner, which awaits `prepare` on a fresh database; the attacker, which
awaits `run`; the stranger, which enters `strangers` and awaits each of its measures every `INTERVAL` seconds, whether
or not those before have ended, and notes how long each took. A measure that raises or takes longer than `PATIENCE` has
failed. `strangers` is entered once while nothing else happens, and once during the attack: what it needs to listen on
(a receiver of webhooks) it opens itself, on a port that `prepare` chose by `free_port()` and left in the notes.

Everything stays on loopback. The server runs in development mode, so webhooks and link cards may lead there.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Final

import msgspec
from aiohttp import ClientSession

INTERVAL: Final = 0.05
PATIENCE: Final = 30.0
PASSWORD: Final = "correct horse battery"

USUAL_SETTINGS: Final[dict[str, object]] = {
    "DEV": 1,
    "SIGNUP": "open",
    "SIGNUPS_PER_HOUR": 10_000,
    "SESSION_WRITES_PER_MINUTE": 100_000,
    "SESSION_CONTENT_PER_DAY": 100_000,
}
"""Beside the limits of `processes.RAISED`. A revision that does not know one of them says so and goes on."""

Measure = Callable[[], Awaitable[None]]
"""Makes a stranger's request once. Raises when it was not served."""


class Stage(msgspec.Struct):
    """Where an attack takes place. `bystander` are the headers of a key, `permalink` is the path of its post."""

    port: int
    bystander: dict[str, str]
    permalink: str
    notes: dict[str, Any] = {}

    def url(self, path: str) -> str:
        """The address of a path of the server."""
        return f"http://127.0.0.1:{self.port}{path}"


class Attack:
    """One hostile load; the module's docstring says how to write one."""

    name: ClassVar[str]
    settings: ClassVar[dict[str, object]] = {}
    every: ClassVar[dict[str, int]] = {}
    """Measures that are taken only once in so many intervals: 20 a second would occupy the server by themselves."""

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        """Makes the data and fills `stage.notes`."""

    async def run(self, stage: Stage, http: ClientSession) -> None:
        """Attacks until it is cancelled. `http` opens as many connections as it is asked for."""
        raise NotImplementedError

    @asynccontextmanager
    async def strangers(self, stage: Stage, http: ClientSession) -> AsyncGenerator[dict[str, Measure]]:
        """What strangers wait for, by the names in the table."""
        yield usual(stage, http)


def usual(stage: Stage, http: ClientSession) -> dict[str, Measure]:
    """The requests that every attack is measured by."""
    return {
        "GET /healthz": lambda: get(http, stage.url("/healthz")),
        "GET a plain permalink": lambda: get(http, stage.url(stage.permalink)),
        "POST /api/posts by key": lambda: _create(stage, http),
    }


async def get(http: ClientSession, url: str) -> None:
    """Reads one address to its end. Raises unless it is a 200."""
    async with http.get(url) as answer:
        await answer.read()
        answer.raise_for_status()


async def call(
    http: ClientSession, stage: Stage, path: str, body: object, headers: dict[str, str], method: str = "POST"
) -> Any:
    """Sends a JSON body and returns the JSON answer. Raises RuntimeError with the answer unless it is a 2xx."""
    async with http.request(method, stage.url(path), json=body, headers=headers) as answer:
        text = await answer.text()
        if not answer.ok:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:500]}")
        return json.loads(text) if text else None


async def sign_up(http: ClientSession, stage: Stage, name: str) -> dict[str, str]:
    """Makes an account; the headers of its session."""
    body = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
    async with http.post(stage.url("/api/auth/signup"), json=body) as answer:
        if answer.status != 201:
            raise RuntimeError(f"sign-up of {name}: {answer.status} {(await answer.text())[:500]}")
        return {"Cookie": f"session={answer.cookies['session'].value}"}


async def make_key(http: ClientSession, stage: Stage, session: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Makes a key with all scopes; its id and its headers."""
    scopes = ["posts:write", "posts:delete", "media:write", "bounces:write", "comments:write", "clips:write"]
    made = await call(http, stage, "/api/auth/api-keys", {"label": "hostile", "scopes": scopes}, session)
    return made["id"], {"Authorization": f"Bearer {made['key']}"}


async def publish(http: ClientSession, stage: Stage, headers: dict[str, str], content: str, **more: object) -> str:
    """Publishes a post; its id."""
    return (await call(http, stage, "/api/posts", {"content": content, **more}, headers))["id"]


async def _create(stage: Stage, http: ClientSession) -> None:
    await publish(http, stage, stage.bystander, "The harbour bridge opens again on Monday.")
