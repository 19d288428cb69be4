"""A decoder that fails as often as a test says."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pressroom.domains.media.sandbox import Processed
from tests.harness.local import LocalServer


class Decoder:
    """Stands before the real sandbox: fails as often as a test says, and counts."""

    def __init__(self, server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.failures: list[Exception] = []
        self.now: Counter[Path] = Counter()
        self.most = self.most_of_all = 0
        self._real = server.runtime.sandbox.process
        monkeypatch.setattr(server.runtime.sandbox, "process", self.process)

    async def process(self, source: Path, *given: Any) -> Processed:
        """Fails, or works as the real one does."""
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        content = source.read_bytes()
        key = Path(str(hash(content)))
        self.now[key] += 1
        self.most, self.most_of_all = max(self.most, *self.now.values()), max(self.most_of_all, self.now.total())
        try:
            await asyncio.sleep(0.01)
            return await self._real(source, *given)
        finally:
            self.now[key] -= 1
