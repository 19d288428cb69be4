"""The reader of the log may go away or stall: serving goes on, and so does a stop."""

import os
import subprocess
import sys
from collections.abc import Callable

import httpx

from tests.harness.process import ServerProcess
from tests.services.process import wait_until


def test_a_log_that_nobody_reads_stops_nothing(process_server: Callable[..., ServerProcess]) -> None:
    server = process_server()
    server.folder.mkdir()
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "pressroom", "serve"]
    server.process = subprocess.Popen(command, cwd=server.folder, env=server.environment, stdout=writer, stderr=writer)
    os.close(writer)
    assert wait_until(server._is_ready)

    # More lines than a pipe holds, and nobody reads them.
    with httpx.Client(base_url=server.base_url) as client:
        assert {client.get(f"/api/{'x' * 400}").status_code for _ in range(400)} == {404}
        os.close(reader)
        assert {client.get("/robots.txt").status_code for _ in range(50)} == {200}
    assert server.stop() == 0
