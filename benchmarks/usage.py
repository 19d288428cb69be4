"""What counting a request with a key costs: `.venv/bin/python -m benchmarks.usage` (docs/performance.md)."""

import asyncio
import random
import tempfile
import time
from pathlib import Path
from typing import Final

from pressroom.clock import SystemClock
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.keys.models import Refusal
from pressroom.domains.keys.usage import KeyUsage

REQUESTS: Final = 200_000
KEYS: Final = 1_000


async def microseconds() -> tuple[float, float]:
    """Returns the microseconds to count a request that was accepted, and one that was refused."""
    with tempfile.TemporaryDirectory() as folder:
        clock = SystemClock()
        db = open_sqlite(Path(folder) / "usage.db", clock)
        usage, keys = KeyUsage(db), [random.choice(range(KEYS)) for _ in range(REQUESTS)]
        names = [f"{key:026}" for key in keys]
        started = time.perf_counter()
        for name in names:
            usage.note(name, clock.now(), 201)
        accepted = time.perf_counter() - started
        started = time.perf_counter()
        for name in names:
            now = clock.now()
            refusal = Refusal(
                now, "POST", "/api/posts", 403, "Missing required scope", "203.0.113.7", "5f0c2d8be0a94e71"
            )
            usage.note_refusal(name, refusal)
        refused = time.perf_counter() - started
        await db.close()
    return accepted / REQUESTS * 1e6, refused / REQUESTS * 1e6


if __name__ == "__main__":
    accepted, refused = asyncio.run(microseconds())
    print(f"accepted {accepted:.2f} µs, refused {refused:.2f} µs a request, over {KEYS:,} keys")
