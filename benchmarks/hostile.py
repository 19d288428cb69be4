"""Response times of other clients during an attack: `.venv/bin/python -m benchmarks.hostile [--only NAME]`.

For each attack of `benchmarks/attacks/` a server of its own on a fresh database: strangers are measured while nothing
else happens, then while the attack runs. `--source DIR` serves another checkout; `--before DIR` measures that checkout
as well, such as a worktree of the revision before a change. The attacks are those of this checkout. `--page` renews
the table in docs/reliability.md. `benchmarks/attacks/__init__.py` shows how to write an attack.
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
from benchmarks.attacks._roles import LATE, NICENESS, Waited, client, load
from benchmarks.processes import ROOT, Server, load_average, real_server

OUT: Final = ROOT / "benchmarks" / "out"
BEGINNING: Final = 2.0
"""Seconds for an attack to unfold before strangers are measured."""

WARMING: Final = 2.0
"""Seconds of the same requests before strangers are measured alone: a cold start is no part of that."""

PREPARING: Final = 300.0

PAGE: Final = ROOT / "docs" / "reliability.md"
HEADING: Final = "## Attacks\n"
INTRODUCTION: Final = """
Response times of strangers while somebody attacks, in milliseconds, by
`.venv/bin/python -m benchmarks.hostile --before DIR --page`: for each attack of `benchmarks/attacks/` a server of its
own on a fresh database, measured by a process of its own while nothing else happens, then while the attack runs. A
stranger sends each request every 50 ms, a sign-in every 250 ms, whether or not those before were answered. *Times* is
the factor from alone to now, of p50 and of p99. {before}
Server, attacker and stranger share the machine. {priority}

"""
SAME_PRIORITY: Final = "All three have the same priority."
LOW_PRIORITY: Final = (
    "It has few cores, so the attacker runs at the lowest priority (nice 19): it gets the processor time that the other"
    " two leave. That hides attacks that need much time of their client: from a machine of its own, an attacker would"
    " send more."
)
TABLE: Final = (
    "| attack | request of a stranger | alone, p50 and p99 | before | now | longest | times | server, MB |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)


class Held(msgspec.Struct):
    """The result of one attack. Memory is in MB: of the server before the attack, and the most of it until the end."""

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
        _ask(module, file, WARMING)
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


def rows(held: Held, before: Held | None) -> list[str]:
    """Returns the lines of the table for one attack; `before` is the same attack on the earlier revision."""
    memory = f"{held.memory_before:.0f} → {held.memory_most:.0f}"
    return [
        f"| {held.name} | {name} | {_shown(held.idle[name])} | {_shown(before.attacked[name]) if before else ''}"
        f" | {_shown(waited)} | {max(waited.milliseconds):,.1f} | {_slower(held.idle[name], waited)} | {memory} |"
        for name, waited in held.attacked.items()
    ]


def renew_page(lines: list[str], before: Path | None) -> None:
    """Puts the table in place of the one in docs/reliability.md; `before` is the earlier checkout."""
    kept = PAGE.read_text("utf-8").partition(HEADING)[0].rstrip()
    introduction = INTRODUCTION.format(
        before=f"*Before* is revision {_revision(before)}." if before else "",
        priority=SAME_PRIORITY if NICENESS == 0 else LOW_PRIORITY,
    )
    PAGE.write_text(f"{kept}\n\n" + HEADING + introduction + "\n".join(lines) + "\n", "utf-8")


def _revision(checkout: Path) -> str:
    """Returns the short name of a checkout's commit, with its day and subject."""
    command = ["git", "-C", str(checkout), "log", "-1", "--format=`%h` of %cs (%s)"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def _shown(waited: Waited) -> str:
    if len(waited.milliseconds) < 2:
        return "none"
    p50, p99 = _percentiles(waited)
    failed = f"; {waited.failed} of {len(waited.milliseconds)} failed" if waited.failed else ""
    return f"{p50:,.1f} and {p99:,.1f}{failed}"


def _slower(idle: Waited, attacked: Waited) -> str:
    """Returns how many times longer strangers wait, of p50 and of p99."""
    if min(len(idle.milliseconds), len(attacked.milliseconds)) < 2:
        return ""
    p50, p99 = (now / alone for now, alone in zip(_percentiles(attacked), _percentiles(idle), strict=True))
    return f"{p50:.1f} and {p99:.1f}"


def _percentiles(waited: Waited) -> tuple[float, float]:
    of_100 = statistics.quantiles(waited.milliseconds, n=100, method="inclusive")
    return of_100[49], of_100[98]


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
    parser.add_argument("--before", type=Path, help="a checkout to measure as well, first")
    parser.add_argument("--page", action="store_true", help="renew the table in docs/reliability.md")
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
    lines = [*TABLE]
    print("\n".join(lines), flush=True)
    every: list[Held] = []
    for module in chosen:
        with tempfile.TemporaryDirectory(dir=OUT) as old, tempfile.TemporaryDirectory(dir=OUT) as new:
            before = measure(module, given.seconds, given.before.resolve(), Path(old)) if given.before else None
            every.append(measure(module, given.seconds, given.source.resolve(), Path(new)))
        lines += rows(every[-1], before)
        print("\n".join(rows(every[-1], before)), flush=True)
    if given.page:
        renew_page(lines, given.before)
    (OUT / "hostile.json").write_bytes(msgspec.json.format(msgspec.json.encode(every)))
    for held in every:
        for name, waited in held.attacked.items():
            if waited.failure:
                print(f"\n! {held.name}, {name}: {waited.failure}")


if __name__ == "__main__":
    main()
