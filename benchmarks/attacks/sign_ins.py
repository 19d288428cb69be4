"""One client signs in with the right password on 8 connections, as fast as it is answered."""

import asyncio
from typing import ClassVar, Final

from aiohttp import ClientSession

from benchmarks.attacks import PASSWORD, Attack, Stage, sign_up

CONNECTIONS: Final = 8

PERSON: Final = "regular"
ATTACKER: Final = {"X-Forwarded-For": "203.0.113.1"}


class SignIns(Attack):
    """Each sign-in costs tens of milliseconds of a processor, right or wrong."""

    name = "right sign-ins in a loop"
    settings: ClassVar[dict[str, object]] = {"TRUSTED_PROXIES": "127.0.0.0/8"}

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        await sign_up(http, stage, PERSON)

    async def run(self, stage: Stage, http: ClientSession) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(_sign_in(stage, http))


async def _sign_in(stage: Stage, http: ClientSession) -> None:
    body = {"login": PERSON, "password": PASSWORD}
    while True:
        async with http.post(stage.url("/api/auth/login"), json=body, headers=ATTACKER) as answer:
            await answer.read()


ATTACK = SignIns
