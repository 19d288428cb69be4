"""`events()` of the clients, each in a process of its own: lost connections resume, and a revocation is the end."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness import npm
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.proxy import Proxy
from tests.harness.wire import ask
from tests.services.process import wait_until

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "clients" / "python" / "src"
READERS = (
    "sync",
    "async",
    pytest.param("typescript", marks=pytest.mark.skipif(npm.missing() is not None, reason="npm")),
)
PATIENCE = 60
pytestmark = pytest.mark.xdist_group("clients")


class Reader:
    """A process that prints the events that it reads."""

    def __init__(self, command: list[str]) -> None:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        self.found: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def contents(self) -> list[str]:
        """The contents of the posts of all events so far."""
        events = [each["event"] for each in self.found]
        return [event["data"]["post"]["content"] for event in events if event["event"] == "post.created"]

    def end(self) -> None:
        """Ends it, however far it came."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self._thread.join(PATIENCE)

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            self.found.extend(json.loads(line) for line in lines)


@contextmanager
def reading(kind: str, typescript: Path, base_url: str, key: str) -> Generator[Reader]:
    """A client that reads from now on, and is ended at last."""
    headers = {"Authorization": f"Bearer {key}"}
    after = httpx.get(f"{base_url}/api/events", headers=headers, timeout=30).json()["cursor"]
    program = ["node", str(HERE / "read_events.mjs"), str(typescript)]
    if kind != "typescript":
        program = [sys.executable, str(HERE / "read_events.py"), kind]
    reader = Reader([*program, base_url, key, after])
    try:
        yield reader
    finally:
        reader.end()


@pytest.mark.parametrize("kind", READERS)
def test_lost_connections_resume_and_revocation_ends(
    server: ServerProcess, request: pytest.FixtureRequest, kind: str
) -> None:
    typescript = request.getfixturevalue("typescript") if kind == "typescript" else Path()
    owner = Owner(server, f"reader_{kind}")
    writing, read = owner.key(), owner.new_key("reader", ["events:read"]).json()
    proxy, published = Proxy(server.port), list[str]()

    def publish_some(number: int) -> None:
        for _ in range(number):
            published.append(f"{kind} {len(published)}")
            assert ask(publish(server, writing, published[-1])).status == 201

    with reading(kind, typescript, f"http://127.0.0.1:{proxy.port}", read["key"]) as reader:
        for _ in range(3):
            publish_some(5)
            assert wait_until(lambda: len(reader.contents) == len(published), PATIENCE), reader.found
            proxy.cut()
            publish_some(5)  # While the client is away.
        assert wait_until(lambda: len(reader.contents) == len(published), PATIENCE), reader.found
        assert ask(owner.revoke(read["id"])).status == 200
        assert reader.process.wait(PATIENCE) == 0
        assert wait_until(lambda: reader.found[-1]["event"]["event"] == "apikey.revoked")
    proxy.close()

    assert reader.contents == published
    assert len({each["cursor"] for each in reader.found}) == len(published) + 1
