"""The servers and people of the API's tests, for the pages."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.api.actors import Actor
from tests.api.conftest import actor, alice, server, twins
from tests.harness.browser import Chromium, OpenTab, Tab
from tests.harness.local import LocalServer

__all__ = ["actor", "alice", "server", "still", "twins"]


@pytest.fixture
def still(server: LocalServer) -> LocalServer:
    """The server, which from now on writes nothing behind by itself: no page changes unless the test changes it.

    But what its limits count, which are held back when that cannot be saved.
    """
    server.keep_still()
    return server


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
