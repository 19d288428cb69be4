"""Makes docs/reliability.md from what tests of faults measured. Run by `make reliability`, after them."""

import json
import sys
from pathlib import Path
from typing import TypedDict

PAGE = Path(__file__).parent / "reliability.md"
NOTE = "<!-- Made by `make reliability` from a run of the tests, and by `benchmarks.hostile`; do not edit. -->\n"
ATTACKS = "## Attacks\n"
"""Where the part begins that `benchmarks.hostile` makes."""

HEAD = """\
# What faults do

Each row is measured: a test breaks the part named, on real servers, holds the outcome to what is promised, and notes
what it saw. Recovery is the time until the first success of what had failed, on the machine of the run, counted from
what stands beside it; where a row was measured several times, the longest. Where nothing failed in between, none was
needed. How to set up what is broken here: [operations.md](operations.md).

| fault | observed effect | recovery |
| --- | --- | --- |
"""


class Observation(TypedDict):
    """A line of the files in PRESSROOM_OBSERVATIONS: see tests/harness/observations.py."""

    fault: str
    effect: str
    recovery: float | str
    since: str


def page(observations: list[Observation]) -> str:
    """The whole page; of a fault observed several times, the slowest recovery counts."""
    rows: dict[str, Observation] = {}
    for each in observations:
        known = rows.get(each["fault"])
        if known is None or _seconds(each) >= _seconds(known):
            rows[each["fault"]] = each
    return NOTE + HEAD + "".join(map(_row, sorted(rows.values(), key=lambda each: each["fault"].lower())))


def read(folder: Path) -> list[Observation]:
    """What a run left in a folder."""
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def _seconds(observation: Observation) -> float:
    recovery = observation["recovery"]
    return 0.0 if isinstance(recovery, str) else recovery


def _row(observation: Observation) -> str:
    recovery = observation["recovery"]
    if not isinstance(recovery, str):
        recovery = f"{recovery:.1f} s from {observation['since']}"
    cells = (observation["fault"], observation["effect"], recovery)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    found = read(Path(sys.argv[1]))
    if not found:
        raise SystemExit(f"{sys.argv[1]}: no test left an observation there")
    _, heading, attacks = PAGE.read_text("utf-8").partition(ATTACKS)
    PAGE.write_text(f"{page(found)}\n{heading}{attacks}", "utf-8")
