"""The attacker's and the stranger's process: `python -m benchmarks.attacks._roles stranger MODULE STAGE.json SECONDS`.

The attacker prints `ready` and attacks until its standard input ends; the stranger prints its figures as JSON.
"""

import asyncio
import contextlib
import importlib
import os
import sys
import time
from pathlib import Path
from typing import Final

import msgspec
import uvloop
from aiohttp import ClientSession, ClientTimeout, TCPConnector

from benchmarks.attacks import INTERVAL, PATIENCE, Attack, Measure, Stage

LATE: Final = 2 * PATIENCE


class Waited(msgspec.Struct):
    """The result of one measure: milliseconds of each time, in no order, and how many failed, one of them in words."""

    milliseconds: list[float] = []
    failed: int = 0
    failure: str = ""


def load(module: str) -> Attack:
    """The attack of a module."""
    return importlib.import_module(f"benchmarks.attacks.{module}").ATTACK()


NICENESS: Final = 0 if len(os.sched_getaffinity(0)) >= 4 else 19
"""The attacker's niceness. On fewer cores, its own work would be measured as the server's."""

STRANGER: Final = "127.0.0.2"
ATTACKER: Final = "127.0.0.3"
"""Addresses of their own: the limits of one client must not count for the other."""


def client(address: str = "127.0.0.1") -> ClientSession:
    """A client at an address of this machine, with as many connections as are asked for."""
    return ClientSession(connector=TCPConnector(limit=0, local_addr=(address, 0)), timeout=ClientTimeout(total=LATE))


async def be_stranger(attack: Attack, stage: Stage, seconds: float) -> dict[str, Waited]:
    """Takes each measure every INTERVAL seconds for `seconds`."""
    async with client(STRANGER) as http, attack.strangers(stage, http) as measures:
        found = {name: Waited() for name in measures}
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(max(1, round(seconds / INTERVAL))):
                due = began + number * INTERVAL
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                for name, measure in measures.items():
                    if number % attack.every.get(name, 1):
                        continue
                    group.create_task(_take(measure, found[name]))
        return found


async def _take(measure: Measure, found: Waited) -> None:
    began = time.perf_counter()
    try:
        async with asyncio.timeout(PATIENCE):
            await measure()
    except Exception as error:  # whatever it is, the stranger was not served
        found.failed += 1
        found.failure = found.failure or f"{type(error).__name__}: {error}"[:300]
    found.milliseconds.append((time.perf_counter() - began) * 1000)


async def be_attacker(attack: Attack, stage: Stage) -> None:
    """Attacks until standard input ends."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, ended.set)
    async with client(ATTACKER) as http:
        attacking = asyncio.create_task(attack.run(stage, http))
        print("ready", flush=True)
        stopped = asyncio.create_task(ended.wait())
        await asyncio.wait([attacking, stopped], return_when=asyncio.FIRST_COMPLETED)
        if attacking.done():
            attacking.result()  # Says why it ended too early.
            raise RuntimeError(f"{attack.name} ended by itself")
        attacking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await attacking


def main() -> None:
    """The command line."""
    role, module, file = sys.argv[1:4]
    stage = msgspec.json.decode(Path(file).read_bytes(), type=Stage)
    if role == "attacker":
        os.nice(NICENESS)
        uvloop.run(be_attacker(load(module), stage))
    else:
        print(msgspec.json.encode(uvloop.run(be_stranger(load(module), stage, float(sys.argv[4])))).decode())


if __name__ == "__main__":
    main()
