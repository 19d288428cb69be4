"""What strangers wait while somebody attacks: `.venv/bin/python -m benchmarks.hostile [--only NAME] [--seconds 20]`.

For each attack of `benchmarks/attacks/` a server of its own on a fresh database: strangers are measured while nothing
else happens, then while the attack runs. `--source DIR` serves another checkout, such as a worktree of the revision
before a change; the attacks are those of this one. How to write an attack is said in `benchmarks/attacks/__init__.py`.
"""

import argparse
import asyncio
import pkgutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import msgspec

from benchmarks import attacks
from benchmarks.attacks import USUAL_SETTINGS, Stage, make_key, publish, sign_up
from benchmarks.attacks._roles import LATE, Waited, client, load
from benchmarks.processes import ROOT, Server, load_average, real_server

OUT: Final = ROOT / "benchmarks" / "out"
BEGINNING: Final = 2.0
"""Seconds for an attack to unfold before strangers are measured."""

PREPARING: Final = 300.0


class Held(msgspec.Struct):
    """What one attack came to. Memory is in MB: of the server before the attack, and the most of it until the end."""

    name: str
    idle: dict[str, Waited]
    attacked: dict[str, Waited]
    memory_before: float
    memory_most: float


def measure(module: str, seconds: float, source: Path, folder: Path) -> Held:
    """One attack, in `folder`, against the source in `source`."""
    attack = load(module)
    settings = {**USUAL_SETTINGS, **attack.settings}
    server = real_server(folder, "", source=source, **settings)
    try:
        stage = asyncio.run(asyncio.wait_for(_prepare(module, server), PREPARING))
        file = folder / "stage.json"
        file.write_bytes(msgspec.json.encode(stage))
        idle = _ask(module, file, seconds)
        before = server.megabytes
        attacker = subprocess.Popen(
            [*_role("attacker"), module, str(file)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            assert attacker.stdout is not None
            if attacker.stdout.readline() != b"ready\n":
                raise RuntimeError(f"the attacker of {attack.name} did not begin")
            time.sleep(BEGINNING)
            attacked = _ask(module, file, seconds)
            if attacker.poll() is not None:
                raise RuntimeError(f"the attacker of {attack.name} ended before its time")
        finally:
            attacker.communicate(timeout=LATE)
        return Held(attack.name, idle, attacked, before, server.peak_megabytes)
    finally:
        server.stop()


async def _prepare(module: str, server: Server) -> Stage:
    async with client() as http:
        stage = Stage(server.port, {}, "")
        session = await sign_up(http, stage, "bystander")
        _, stage.bystander = await make_key(http, stage, session)
        stage.permalink = f"/post/{await publish(http, stage, stage.bystander, 'A plain post.')}"
        await load(module).prepare(stage, http)
        return stage


def _ask(module: str, stage: Path, seconds: float) -> dict[str, Waited]:
    done = subprocess.run(
        [*_role("stranger"), module, str(stage), str(seconds)],
        cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=seconds + 2 * LATE,
    )  # fmt: skip
    return msgspec.json.decode(done.stdout, type=dict[str, Waited])


def _role(role: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.attacks._roles", role]


def rows(held: Held) -> list[str]:
    """The lines of the table for one attack."""
    memory = f"{held.memory_before:.0f} → {held.memory_most:.0f}"
    return [
        f"| {held.name} | {name} | {_shown(held.idle[name])} | {_shown(waited)} | {waited.failed} of"
        f" {len(waited.milliseconds)} | {memory} |"
        for name, waited in held.attacked.items()
    ]


def _shown(waited: Waited) -> str:
    times = waited.milliseconds
    if len(times) < 2:
        return "none"
    of_100 = statistics.quantiles(times, n=100, method="inclusive")
    return f"{of_100[49]:,.1f} and {of_100[98]:,.1f}"


def names() -> dict[str, str]:
    """The attacks' names, by their modules."""
    found = [each.name for each in pkgutil.iter_modules(attacks.__path__) if not each.name.startswith("_")]
    return {module: load(module).name for module in found}


def main() -> None:
    """The command line. Ends with status 0 whatever was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("--only", action="append", help="a module or a part of a name; may be repeated")
    parser.add_argument("--seconds", type=float, default=20, help="of each of the two measurements")
    parser.add_argument("--source", type=Path, default=ROOT, help="the checkout that is served")
    given = parser.parse_args()
    chosen = [
        module
        for module, name in names().items()
        if not given.only or any(part == module or part in name for part in given.only)
    ]
    if not chosen:
        parser.error(f"no such attack; there are {', '.join(f'{m} ({n})' for m, n in names().items())}")
    OUT.mkdir(exist_ok=True)
    print(f"{load_average():.1f} processes wanted a core before it began.\n")
    print("| attack | stranger | idle: p50 and p99, ms | attacked: p50 and p99, ms | failed | server, MB |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    every: list[Held] = []
    for module in chosen:
        with tempfile.TemporaryDirectory(dir=OUT) as folder:
            every.append(measure(module, given.seconds, given.source.resolve(), Path(folder)))
        print("\n".join(rows(every[-1])), flush=True)
    (OUT / "hostile.json").write_bytes(msgspec.json.format(msgspec.json.encode(every)))
    for held in every:
        for name, waited in held.attacked.items():
            if waited.failure:
                print(f"\n! {held.name}, {name}: {waited.failure}")


if __name__ == "__main__":
    main()
