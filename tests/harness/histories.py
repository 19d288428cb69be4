"""Records clients' calls and answers, and has a foreign checker look for an order that explains them.

The checker is porcupine, in `tests/linearizability`, where the models are too; `make tools` builds it.
"""

import itertools
import json
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from tests.services.programs import found

Kind = Literal["create", "post", "likes", "revocation", "limit"]

PATIENCE = 300.0
"""Seconds that all histories of a file may take to check."""


def available() -> str | None:
    """Returns why histories cannot be checked here, or None if they can."""
    missing = "there is no checker of histories: run `make tools`, which needs go"
    return None if found("linearizability") is not None else missing


class Told:
    """The answer to the client of one call; nothing, until it is noted."""

    def __init__(self) -> None:
        self.output: dict[str, object] | None = None

    def __call__(self, *, done: bool = True, replayed: bool = False, value: str = "", number: int = 0) -> None:
        """Notes the answer: see `Output` in tests/linearizability/main.go."""
        self.output = {"done": done, "replayed": replayed, "value": value, "number": number}


class History:
    """The calls of a test, in one file. Calls may be made side by side in one event loop or in threads."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.length = 0
        self._processes = itertools.count()
        file.touch()

    @contextmanager
    def call(self, kind: Kind, key: str, op: str, given: str = "") -> Generator[Told]:
        """Records a call from here to the end of the block, whose outcome is unknown unless the block says it.

        Args:
            kind: the model that it belongs to.
            key: its subject; calls about different keys have nothing to do with each other.
            op: the call, in the model's words.
            given: its arguments.
        """
        told = Told()
        start = time.monotonic_ns()
        try:
            yield told
        finally:
            line = {
                "kind": kind,
                "key": key,
                "process": next(self._processes),
                "op": op,
                "input": given,
                "output": told.output,
                "start": start,
                "end": time.monotonic_ns(),
            }
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            self.length += 1

    def longest_silence(self) -> float:
        """The longest time, in seconds, in which no call was answered."""
        calls = map(json.loads, self.file.read_text("utf-8").splitlines())
        answered = sorted(call["end"] for call in calls if call["output"])
        return max(later - earlier for earlier, later in itertools.pairwise(answered)) / 1e9

    def faults(self) -> list[dict[str, Any]]:
        """Returns the histories, each of one key, that no order of their calls explains.

        Raises RuntimeError when the checker could not tell.
        """
        checked = subprocess.run(
            [str(found("linearizability")), str(self.file)], capture_output=True, text=True, timeout=PATIENCE
        )
        if checked.returncode not in {0, 1}:
            raise RuntimeError(f"the checker ended with {checked.returncode}: {checked.stderr.strip()}")
        return [json.loads(line) for line in checked.stdout.splitlines()]
