"""Chromium under the hand of a test, by its DevTools protocol over a pair of pipes: no port, no package."""

import base64
import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any, Final, Self

from tests.pages.chromium import CHROMIUM, QUIET

SECONDS: Final = 60

Json = dict[str, Any]


class Browser:
    """A browser with one page, from `with` to the end of its block."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._number = 0
        self._session = ""
        self._unread = b""
        self.reports: list[str] = []
        """What the browser complained of: on its console, and to the developer."""

    def __enter__(self) -> Self:
        theirs, self._to = os.pipe()
        self._from, back = os.pipe()
        # Chromium reads from 3 and writes to 4.
        line = f'exec "$@" 3<&{theirs} 4>&{back}'
        options = (*QUIET, "--remote-debugging-pipe", "--autoplay-policy=no-user-gesture-required", "--hide-scrollbars")
        command = ["bash", "-c", line, "bash", str(CHROMIUM), *options, f"--user-data-dir={self._profile}"]
        self._process = subprocess.Popen(
            command, pass_fds=(theirs, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(theirs)
        os.close(back)
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._to)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)

    def show(self, width: int, height: int = 800, *, dark: bool = False) -> None:
        """How large the window is, in pixels, and which colours its reader prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def sign_in(self, url: str, session: str) -> None:
        """Opens pages at `url` with the cookie of a session."""
        self._ask("Network.setCookie", name="session", value=session, url=url)

    def open(self, url: str, *, wholly: bool = True) -> None:
        """Opens a page and waits until it has loaded; unless `wholly`, until it is read and laid out."""
        self._ask("Page.navigate", url=url)
        states = ["complete"] if wholly else ["interactive", "complete"]
        styled = "[...document.querySelectorAll('link[rel=stylesheet]')].every(each => each.sheet)"
        self.wait(f"{states}.includes(document.readyState) && location.href === {url!r} && {styled}")

    def hold(self, pattern: str) -> None:
        """Keeps requests back that match a pattern, until `release`; what was fetched before is fetched again."""
        self._ask("Network.setCacheDisabled", cacheDisabled=True)
        self._ask("Fetch.enable", patterns=[{"urlPattern": pattern}])

    def release(self) -> None:
        """Sends what was kept back, and keeps nothing back from now on."""
        self._ask("Fetch.disable")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page; of a promise what it comes to."""
        answer = self._ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Waits until an expression is true. Raises AssertionError."""
        deadline = time.monotonic() + SECONDS
        while not self.evaluate(expression):
            assert time.monotonic() < deadline, f"not within {SECONDS} s: {expression}"
            time.sleep(0.02)

    def picture(self, path: Path) -> None:
        """Keeps a picture of the whole page."""
        shot = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _ask(self, method: str, **parameters: Any) -> Json:
        self._number += 1
        message: Json = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, (method, answer)
        result: Json = answer["result"]
        return result

    def _note(self, event: Json) -> None:
        match event.get("method"):
            case "Log.entryAdded":
                self.reports.append(event["params"]["entry"]["text"])
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.reports.append(json.dumps(event["params"])[:500])
            case _:
                """The browser tells of much else."""

    def _read(self) -> Json:
        while b"\0" not in self._unread:
            assert select.select([self._from], [], [], SECONDS)[0], "the browser does not answer"
            more = os.read(self._from, 1 << 20)
            assert more, "the browser has gone"
            self._unread += more
        message, _, self._unread = self._unread.partition(b"\0")
        read: Json = json.loads(message)
        return read
