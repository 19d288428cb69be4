"""Chromium without a window: what it makes of a page."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

CHROMIUM: Final = shutil.which("chromium")
SECONDS: Final = 60

QUIET: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
)


def browse(url: str, profile: Path) -> tuple[str, list[str]]:
    """Opens a page: its elements once it has loaded, as HTML, and what was reported on the browser's console."""
    command = [str(CHROMIUM), *QUIET, f"--user-data-dir={profile}", "--dump-dom", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE:" in line]
