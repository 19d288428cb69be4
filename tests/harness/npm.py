"""Locked npm packages that tests run, installed once for each state of their lock, beside the environment's own."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.services.process import alone

CACHE = Path(sys.prefix) / "npm"
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
"""No tool is to ask the world for anything."""


def missing() -> str | None:
    """Why the packages cannot be used here; None when they can."""
    absent = [program for program in ("node", "npm") if shutil.which(program) is None]
    return f"{' and '.join(absent)} missing: install Node.js 20 or newer with npm" if absent else None


def installed(locked: Path) -> Path:
    """The folder whose `node_modules` holds what `locked` locks; installs it if need be, without its scripts."""
    lock = locked / "package-lock.json"
    folder = CACHE / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    CACHE.mkdir(exist_ok=True)
    with alone(CACHE / "gate"):
        if not folder.exists():
            work = Path(tempfile.mkdtemp(dir=CACHE))
            for name in ("package.json", "package-lock.json"):
                shutil.copy(locked / name, work)
            run(work, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
            work.rename(folder)
    return folder


def run(folder: Path, *command: str, given: str = "") -> str:
    """The output of a command in `folder` given an input. Raises AssertionError with all of it when it fails."""
    environment = {**os.environ, **QUIET}
    done = subprocess.run(
        command, cwd=folder, env=environment, input=given, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
