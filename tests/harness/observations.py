"""What tests of faults measured, kept when asked for: docs/reliability.md is made of it (`make reliability`)."""

import json
import os
from pathlib import Path

FOLDER = "PRESSROOM_OBSERVATIONS"
"""The environment variable that names the folder where observations go; unset, none is kept."""


NONE_NEEDED = "none needed"
"""The recovery of a fault after which, or during which, all is as before."""


def observe(fault: str, effect: str, recovery: float | str, since: str = "") -> None:
    """Record the effect of a fault.

    Args:
        fault: what was broken and how, a row's name in docs/reliability.md: words, or an f-string that varies in words.
        effect: what clients and the operator saw, with the figures that the test measured.
        recovery: the seconds until all was as before; where there are none, why.
        since: the beginning of the seconds ("the kill", "Redis's start").
    """
    if folder := os.environ.get(FOLDER):
        Path(folder).mkdir(parents=True, exist_ok=True)
        entry = {"fault": fault, "effect": effect, "recovery": recovery, "since": since}
        # A file for each process: workers of pytest-xdist write at once.
        with (Path(folder) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
