"""One client signs up, and signs in with wrong passwords, as fast as it is answered."""

import asyncio
import itertools
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import ClassVar, Final

from aiohttp import ClientSession

from benchmarks.attacks import PASSWORD, Attack, Measure, Stage, usual

CONNECTIONS: Final = 40
"""Of each kind."""

REGULARS: Final = 40
"""Accounts whose owners sign in: of one account, ten sign-ins under way at once are refused."""

ATTACKER: Final = {"X-Forwarded-For": "203.0.113.1"}


class SignUp(Attack):
    """A password's hash takes tens of milliseconds of a processor: many sign-ups make others wait."""

    name = "sign-ups in a loop"
    settings: ClassVar[dict[str, object]] = {"TRUSTED_PROXIES": "127.0.0.0/8", "SIGNUPS_PER_HOUR": 5}
    every: ClassVar[dict[str, int]] = {"a sign-in": 5}

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        for number in range(REGULARS):
            async with http.post(stage.url("/api/auth/signup"), json=_person(number), headers=_elsewhere()) as answer:
                if answer.status != 201:
                    raise RuntimeError(f"sign-up: {answer.status} {(await answer.text())[:200]}")

    async def run(self, stage: Stage, http: ClientSession) -> None:
        numbers = itertools.count(random.randrange(10**6, 10**12))
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(_sign_up(stage, http, numbers))
                group.create_task(_sign_in(stage, http, numbers))

    @asynccontextmanager
    async def strangers(self, stage: Stage, http: ClientSession) -> AsyncGenerator[dict[str, Measure]]:
        regulars = itertools.cycle(range(REGULARS))
        yield usual(stage, http) | {"a sign-in": lambda: _sign_in_elsewhere(stage, http, next(regulars))}


def _person(number: int) -> dict[str, str]:
    """What somebody signs up with."""
    return {"username": f"person_{number}", "email": f"person_{number}@example.org", "password": PASSWORD}


def _elsewhere() -> dict[str, str]:
    """An address that nobody else has."""
    return {"X-Forwarded-For": f"198.{random.randrange(18, 20)}.{random.randrange(256)}.{random.randrange(256)}"}


async def _sign_up(stage: Stage, http: ClientSession, numbers: "itertools.count[int]") -> None:
    while True:
        async with http.post(stage.url("/api/auth/signup"), json=_person(next(numbers)), headers=ATTACKER) as answer:
            await answer.read()


async def _sign_in(stage: Stage, http: ClientSession, numbers: "itertools.count[int]") -> None:
    while True:
        body = {"login": f"person_{next(numbers)}", "password": "wrong"}
        async with http.post(stage.url("/api/auth/login"), json=body, headers=ATTACKER) as answer:
            await answer.read()


async def _sign_in_elsewhere(stage: Stage, http: ClientSession, number: int) -> None:
    body = {"login": f"person_{number}", "password": PASSWORD}
    async with http.post(stage.url("/api/auth/login"), json=body, headers=_elsewhere()) as answer:
        if answer.status != 200:
            raise RuntimeError(f"sign-in: {answer.status} {(await answer.text())[:200]}")


ATTACK = SignUp
