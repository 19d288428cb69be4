"""The Caddyfile is one."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.deploy.examples import DEPLOY
from tests.services.programs import found


def test_caddy_finds_nothing_wrong(tmp_path: Path) -> None:
    if (caddy := found("caddy")) is None:
        pytest.skip("caddy is not installed")
    done = subprocess.run(
        [caddy, "adapt", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"],
        env={**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "127.0.0.1:8000" in done.stdout
