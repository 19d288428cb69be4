"""Sends many fuzzed requests: `make fuzz`, or `.venv/bin/python -m tests.fuzz --requests 5000 --seed 7`."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.fuzzer import fuzz

PER_ROUND = 5_000
"""Requests to one server; then comes a new one, with the next seed, so that any round can be repeated alone."""


def main() -> int:
    """Goes round after round, until all requests are sent or an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000, help="how many to send (100000)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**9), help="of the first round (any)")
    asked = parser.parse_args()
    sent, seed = 0, asked.seed
    while sent < asked.requests:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            report = fuzz(Path(folder), min(PER_ROUND, asked.requests), seed)
        print(f"{report}\n  {report.sent / (time.monotonic() - started):.0f} requests/s", flush=True)
        if report.unreached:
            print(f"Nothing succeeded here: {', '.join(report.unreached)}")
        if report.too_slow:
            print(f"These steps held the event loop: {report.too_slow}")
        if report.complaints or report.unreached or report.too_slow:
            return 1
        sent, seed = sent + report.sent, seed + 1
    print(f"{sent:,} requests, seeds {asked.seed} to {seed - 1}: all answered as documented.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
