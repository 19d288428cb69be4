"""The servers and people of the API's tests, for the pages."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pressroom.jobs.schedule import Every, Schedule
from tests.api.actors import Actor
from tests.api.conftest import actor, alice, server
from tests.harness.browser import Chromium, OpenTab, Tab
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

__all__ = ["actor", "alice", "server", "still", "twins"]


@pytest.fixture
def still(server: LocalServer) -> LocalServer:
    """The server, which from now on writes nothing behind by itself: no page changes unless the test changes it.

    But what its limits count, which are held back when that cannot be saved.
    """
    server.run(_keep_still(server))
    return server


async def _keep_still(server: LocalServer) -> None:
    runtime = server.runtime
    await runtime.schedule.stop()
    runtime.schedule = Schedule([Every(0.25, "limits", runtime.limiter.flush)], runtime.log)


@pytest.fixture
def twins(tmp_path: Path, engine_settings: dict[str, object]) -> Iterator[tuple[LocalServer, LocalServer]]:
    """Two servers over one database, which write nothing behind by themselves but what their limits count."""
    settings = {**ROOMY, "DATA_DIR": tmp_path / "data", **engine_settings}
    first, second = (LocalServer(tmp_path / name, **settings).start() for name in ("first", "second"))
    for each in (first, second):
        each.run(_keep_still(each))
    yield first, second
    for each in (first, second):
        each.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """The one browser of this worker."""
    browser = Chromium()
    yield browser
    browser.stop()


@pytest.fixture
def open_tab(chromium: Chromium) -> Iterator[OpenTab]:
    """Opens tabs, each for a reader of its own: `open_tab(server, alice)` is signed in.

    None may have had anything to complain of when the test ends; who expects a complaint clears `tab.reports`.
    """
    tabs: list[Tab] = []
    with ExitStack() as stack:

        def make(
            server: LocalServer | None = None, reader: Actor | None = None, /, *, width: int = 1280, **options: Any
        ) -> Tab:
            base_url = server.base_url if server else ""
            size = {"width": width, "height": 800}
            tab = stack.enter_context(chromium.tab(base_url, viewport=size, **options))
            tabs.append(tab.sign_in(reader.token) if reader else tab)
            return tab

        yield make
        reports = [report for tab in tabs for report in tab.reports]
    assert reports == []
