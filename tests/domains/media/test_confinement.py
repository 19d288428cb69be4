"""What a confined process can still do, tried by one."""

import json
import os
import subprocess
import sys

import pytest

from pressroom.domains.media.confinement import landlock_version

ATTEMPTS = r"""
import json, os, resource, signal, socket, sys, threading
from pathlib import Path
from pressroom.domains.media.confinement import confine
from pressroom.domains.media.decoding import Limits

folder = Path(sys.argv[1])
confine(folder / "source", folder / "work", Limits(written_bytes=10_000))
found = {}

def attempt(name, what):
    try:
        what()
        found[name] = "done"
    except MemoryError:
        found[name] = "MemoryError"
    except OSError as error:
        found[name] = type(error).__name__

def thread():
    one = threading.Thread(target=lambda: found.setdefault("in a thread", "done"))
    one.start()
    one.join()

attempt("read source", (folder / "source").read_bytes)
attempt("write source", lambda: (folder / "source").write_bytes(b"x"))
attempt("write work", lambda: (folder / "work" / "made").write_bytes(b"x"))
attempt("remove work", (folder / "work" / "made").unlink)
attempt("write much", lambda: (folder / "work" / "much").write_bytes(bytes(20_000)))
attempt("link", lambda: (folder / "work" / "link").symlink_to("/etc/passwd"))
attempt("folder", (folder / "work" / "folder").mkdir)
attempt("read beside", (folder / "beside").read_bytes)
attempt("write beside", lambda: (folder / "new").write_bytes(b"x"))
attempt("read system", Path("/etc/passwd").read_bytes)
attempt("list", lambda: os.listdir("/"))
attempt("connect", lambda: socket.create_connection(("127.0.0.1", 9), 1))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("fork", os.fork)
attempt("spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
attempt("run", lambda: os.execv("/bin/true", ["true"]))
attempt("kill", lambda: os.kill(os.getppid(), 0))
attempt("memory", lambda: bytearray(2_000_000_000))
attempt("thread", thread)
found["core"] = resource.getrlimit(resource.RLIMIT_CORE)
found["processor"] = resource.getrlimit(resource.RLIMIT_CPU)[0]
found["open files"] = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
print(json.dumps(found))
"""

ALWAYS = {
    "read source": "done",
    "write work": "done",
    "remove work": "done",
    "write much": "OSError",
    "memory": "MemoryError",
    "thread": "done",
    "in a thread": "done",
    "core": [0, 0],
    "processor": 600,
    "open files": 64,
}
ON_LINUX = {
    "write source": "PermissionError",
    "link": "PermissionError",
    "folder": "PermissionError",
    "read beside": "PermissionError",
    "write beside": "PermissionError",
    "read system": "PermissionError",
    "list": "PermissionError",
    "connect": "PermissionError",
    "udp": "PermissionError",
    "unix": "PermissionError",
    "fork": "PermissionError",
    "spawn": "PermissionError",
    "run": "PermissionError",
    "kill": "PermissionError",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What became of every attempt."""
    folder = tmp_path_factory.mktemp("confined")
    (folder / "work").mkdir()
    for name in ("source", "beside"):
        (folder / name).write_bytes(b"abc")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MALLOC_ARENA_MAX": "2"}
    run = subprocess.run(
        [sys.executable, "-c", ATTEMPTS, str(folder)], capture_output=True, env=environment, timeout=60
    )
    assert run.returncode == 0, run.stderr.decode()
    return json.loads(run.stdout)


@pytest.mark.parametrize("attempt", ALWAYS)
def test_limits_hold_everywhere(found: dict[str, object], attempt: str) -> None:
    assert found[attempt] == ALWAYS[attempt]


@pytest.mark.skipif(not landlock_version(), reason="This kernel has no Landlock.")
@pytest.mark.parametrize("attempt", ON_LINUX)
def test_nothing_else_is_within_reach(found: dict[str, object], attempt: str) -> None:
    assert found[attempt] == ON_LINUX[attempt]
