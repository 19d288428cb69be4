"""Whether the process that counted before has certainly ended."""

import subprocess
import sys

from pressroom.server.sole_counter import has_ended, own_identity
from tests.services.process import wait_until

TELLS = "from pressroom.server.sole_counter import own_identity; print(own_identity(), flush=True); input()"


def test_process_that_runs_has_not_ended() -> None:
    assert not has_ended(own_identity())


def test_zombie_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", TELLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        identity = process.stdout.readline().decode().strip()
        assert not has_ended(identity)
        process.stdin.write(b"\n")
        process.stdin.close()
        # Nobody has waited for it yet.
        assert wait_until(lambda: has_ended(identity))
