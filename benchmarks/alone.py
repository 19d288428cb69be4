"""The application alone: requests that go into it without an HTTP server, on a database of `benchmarks.seed`.

    python -m benchmarks.alone FOLDER --kind me|create --count 1600

GET /api/auth/me one after the other, creates sixteen at once, each with an idempotency key. The count of the
eight keys is saved after every 32 requests, instead of twice a second. Prints the microseconds of CPU of one request,
in all threads. `benchmarks.instructions` counts its instructions.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path
from typing import Final

import uvloop

from benchmarks.processes import RAISED
from pressroom import turns
from pressroom.domains.limits import memory
from pressroom.logs import Log
from pressroom.server.app import create_app
from pressroom.server.runtime import Runtime, open_runtime
from pressroom.settings import Settings
from pressroom.web.asgi import Application, HttpScope, ReceiveMessage, SendMessage

AT_ONCE: Final = 16
KEYS: Final = 8
SAVED_AFTER: Final = 32
BODY: Final = b'{"content":"The harbour bridge opens again on Monday."}'
KINDS: Final = ("me", "create")

_numbers: Final = count()


async def ask(app: Application, kind: str, key: str) -> None:
    """Sends one request. Raises RuntimeError unless the answer is a 2xx."""
    headers = [(b"host", b"127.0.0.1:8000"), (b"authorization", f"Bearer {key}".encode())]
    if kind == "create":
        name = f"{os.getpid()}-{next(_numbers)}".encode()
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
        headers += [(b"idempotency-key", name)]
    method, path = ("POST", "/api/posts") if kind == "create" else ("GET", "/api/auth/me")
    scope = HttpScope(
        http_version="1.1", method=method, path=path, raw_path=path.encode(), query_string=b"", headers=headers,
        client=("127.0.0.1", 50_000),
    )  # fmt: skip

    async def receive() -> ReceiveMessage:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: SendMessage) -> None:
        if (status := message.get("status", 200)) >= 300:
            raise RuntimeError(f"{kind} was answered with {status}")

    await app(scope, receive, send)


async def _ask_each(app: Application, kind: str, keys: Iterator[str]) -> None:
    for key in keys:
        await ask(app, kind, key)


async def ask_all(runtime: Runtime, app: Application, kind: str, keys: list[str], requests: int) -> None:
    """Sends so many requests, a multiple of SAVED_AFTER, over all keys in turn."""
    for _ in range(requests // SAVED_AFTER):
        each = islice(cycle(keys), SAVED_AFTER)
        await asyncio.gather(*(_ask_each(app, kind, each) for _ in range(AT_ONCE if kind == "create" else 1)))
        for held in (runtime.limiter, runtime.last_used, runtime.usage):
            await held.flush()


async def run(folder: Path, kind: str, requests: int) -> float:
    """Returns the microseconds of CPU of one request."""
    raised = {f"PRESSROOM_{name}": str(limit) for name, limit in RAISED.items()}
    settings = Settings({"PRESSROOM_DATA_DIR": str(folder), **raised})
    keys = (folder / "keys.txt").read_text("utf-8").split()[:KEYS]
    with (folder / "access.log").open("w", encoding="utf-8") as stream:
        runtime = await open_runtime(settings, Log(requests=True, stream=stream))
        try:
            await runtime.schedule.stop()
            app = create_app(runtime)
            await ask_all(runtime, app, kind, keys, SAVED_AFTER)
            used = time.process_time()
            await ask_all(runtime, app, kind, keys, requests)
            return (time.process_time() - used) / requests * 1e6
        finally:
            await runtime.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.alone", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where benchmarks.seed has made a database, which is written to")
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--count", type=int, default=1_600)
    parser.add_argument("--slowed", type=float, default=1, help="how many times slower the program runs than usual")
    given = parser.parse_args()
    for module, name in ((turns, "SHARE"), (memory, "FORGIVEN_SECONDS")):
        setattr(module, name, getattr(module, name) * given.slowed)  # Final for all others
    print(f"{given.kind}: {uvloop.run(run(given.folder, given.kind, given.count)):.1f} µs")


if __name__ == "__main__":
    main()
