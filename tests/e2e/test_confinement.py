"""What `serve` and `doctor` say of the confinement of children, with Landlock and without."""

import sys
from collections.abc import Callable

import httpx
import pytest

from pressroom.domains.media.confinement import find_confinement
from tests.e2e.processes import one_line
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.media.uploads import upload
from tests.services.process import wait_until

MakeProcess = Callable[..., ServerProcess]

pytestmark = pytest.mark.skipif(not find_confinement().is_full, reason="This kernel cannot confine a process fully.")

# A kernel without Landlock, for this program and all that it starts: its three calls do not exist.
WITHOUT_LANDLOCK = """
import ctypes, os, sys
from pressroom.domains.media import syscalls
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
syscalls.load(syscalls.assemble([
    (0x20, 0, 0, 0), (0x35, 0, 2, 444), (0x25, 1, 0, 446), (0x06, 0, 0, syscalls.ENOSYS), (0x06, 0, 0, syscalls.ALLOW),
]))
os.execv(sys.executable, [sys.executable, "-m", "pressroom", *sys.argv[1:]])
"""


def without_landlock(server: ServerProcess) -> ServerProcess:
    """The server on a kernel without Landlock."""
    server.program = [sys.executable, "-c", WITHOUT_LANDLOCK]
    return server


def test_full_confinement_is_said(process_server: MakeProcess) -> None:
    server = process_server(MEDIA_CONFINEMENT="full").start()
    assert wait_until(lambda: '"landlock": ' in server.output())
    assert "are fully confined" in server.output()
    assert "fully confined: Landlock" in server.command("doctor", check=False).stdout


def test_missing_landlock_is_logged_and_media_work(process_server: MakeProcess) -> None:
    server = without_landlock(process_server())
    server.create_account()
    key = server.create_key("alice", "posts:write", "media:write")
    server.start()
    assert wait_until(lambda: "NOT fully confined" in server.output())
    assert '"landlock": 0' in server.output()
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}) as client:
        assert upload(client).status_code == 201
    assert wait_until(lambda: rows(server, "SELECT status FROM media") == [("READY",)])
    done = server.command("doctor", check=False)
    assert "NOT fully confined: no Landlock, a list of allowed system calls" in done.stdout


def test_full_is_refused_without_landlock(process_server: MakeProcess) -> None:
    server = without_landlock(process_server(MEDIA_CONFINEMENT="full"))
    assert "PRESSROOM_MEDIA_CONFINEMENT" in one_line(server)
    done = server.command("doctor", check=False)
    assert done.returncode == 1
    assert "no Landlock" in done.stdout
