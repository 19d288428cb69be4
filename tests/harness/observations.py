"""What tests of faults measured, kept when asked for: docs/reliability.md is made of it (`make reliability`)."""

import json
import os
from pathlib import Path

FOLDER = "PRESSROOM_OBSERVATIONS"
"""The environment variable that names the folder where observations go; unset, none is kept."""


def observe(fault: str, effect: str, recovery_seconds: float | None = None) -> None:
    """Record what a fault did.

    Args:
        fault: what was broken and how, a row's name in docs/reliability.md: words, or an f-string that varies in words.
        effect: what clients and the operator saw, with the figures that the test measured.
        recovery_seconds: from the fault, or from its end if the effect says so, until all was as before; None if
            nothing had to recover.
    """
    if folder := os.environ.get(FOLDER):
        Path(folder).mkdir(parents=True, exist_ok=True)
        entry = {"fault": fault, "effect": effect, "recovery_seconds": recovery_seconds}
        # A file for each process: workers of pytest-xdist write at once.
        with (Path(folder) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
