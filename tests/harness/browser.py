"""A real Chromium under the hand of a test, by Playwright: one browser for a run, a tab of its own for each reader."""

import asyncio
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final, Self
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, Request, Route, expect
from playwright.sync_api import sync_playwright as playwright

CHROMIUM: Final = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The same browser without its windows, where there is one: a tab costs a quarter of the work there."""
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here; CI has one")

OPTIONS: Final = ("--no-sandbox", "--disable-quic", "--hide-scrollbars", "--autoplay-policy=no-user-gesture-required")
BLOCKED: Final = "Service Worker registration blocked by Playwright"

MOST_WAIT: Final = 60_000
"""Milliseconds after which an awaited element is not coming."""

expect.set_options(timeout=MOST_WAIT)

OWN: Final = ("about", "blob", "data", "file")
"""Addresses that are nobody's."""


class Chromium:
    """The browser of a run. It is started for the first tab, for it takes longer to start than to show a page."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def tab(self, base_url: str = "", **options: Any) -> Generator["Tab"]:
        """A tab of a reader of its own, who shares neither cookies nor cache with others, for as long as its block.

        Playwright's event loop is the thread's own for as long as well: tests without a browser run loops of theirs.
        """
        with self._awake():
            # What a service worker asks for, no test could hold back.
            options = {"reduced_motion": "reduce", "service_workers": "block", **options}
            context = self._browser.new_context(base_url=base_url or None, **options)
            context.set_default_timeout(MOST_WAIT)
            try:
                yield Tab(context, base_url)
            finally:
                context.close()

    def stop(self) -> None:
        """Ends the browser."""
        if self._playwright is not None:
            with self._awake():
                self._browser.close()
                self._playwright.stop()

    @cached_property
    def _browser(self) -> Browser:
        self._playwright = playwright().start()
        self._loop = asyncio.get_running_loop()
        return self._playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)

    @contextmanager
    def _awake(self) -> Generator[None]:
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(self._loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(outer)


class Tab:
    """One page of a browser and what there was to complain of.

    Attributes:
        reports: Messages of the console, failed requests, and requests to any other host.
    """

    def __init__(self, context: BrowserContext, base_url: str) -> None:
        self.context = context
        self.reports: list[str] = []
        self.requests: list[Request] = []
        self.page: Page = context.new_page()
        self._host = urlsplit(base_url).netloc
        context.on("console", self._note)
        context.on("weberror", lambda error: self.reports.append(str(error.error)))
        context.on("request", self._look_at)

    def sign_in(self, token: str) -> Self:
        """Opens pages with the cookie of a session."""
        self.context.add_cookies([{"name": "session", "value": token, "url": f"http://{self._host}"}])
        return self

    @property
    def session(self) -> str:
        """The session that the tab is signed in with, or nothing."""
        cookies = {cookie.get("name"): cookie.get("value", "") for cookie in self.context.cookies()}
        return cookies.get("session", "")

    def show(self, width: int, height: int = 800, *, dark: bool = False) -> None:
        """How large the window is, in pixels, and which colours its reader prefers."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")

    def open(self, path: str) -> None:
        """Opens a page and waits until all of it has loaded."""
        self.page.goto(path, wait_until="load")

    def forgive_status(self, status: int) -> None:
        """Takes back the browser's complaint that a page was answered with a status from 400 on, which it should be."""
        self.reports = [report for report in self.reports if f"with a status of {status} " not in report]

    def wait(self, expression: str) -> None:
        """Waits until an expression in the page is true.

        Playwright's own `wait_for_function` compiles text in the page, which our policy forbids. The page cannot wait
        by itself: its timers and its frames stand still while a test moves its clock.
        """
        deadline = time.monotonic() + MOST_WAIT / 1_000
        while not self.page.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, expression
            self.page.wait_for_timeout(10)

    @contextmanager
    def holding(self, pattern: str) -> Generator[None]:
        """Keeps requests back that match a pattern until the block ends."""
        held: list[Route] | None = []

        def hold(route: Route) -> None:
            if held is None:
                route.continue_()
            else:
                held.append(route)

        self.context.route(pattern, hold)
        try:
            yield
        finally:
            waiting, held = held, None
            for route in waiting:
                # A request that the page has called off could still be sent: its end is known here before the network.
                route.abort() if route.request.failure else route.continue_()
            self.context.unroute(pattern)

    def _note(self, message: ConsoleMessage) -> None:
        is_hint = str(message.type) == "verbose"  # A console shows hints only when asked for them.
        if not is_hint and message.text != BLOCKED:
            self.reports.append(f"{message.type}: {message.text}")

    def _look_at(self, request: Request) -> None:
        self.requests.append(request)
        address = urlsplit(request.url)
        if address.scheme not in OWN and address.netloc != self._host:
            self.reports.append(f"asks another host: {request.url}")


OpenTab = Callable[..., Tab]
"""`open_tab(server)`: a tab whose paths are those of a server; `open_tab(server, reader, dark=True, width=360)`."""
