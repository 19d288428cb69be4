"""The abilities of a confined process, tried by one: as root where the test runs as root, and as nobody."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pressroom.domains.media.confinement import Confinement, find_confinement, landlock_version

ATTEMPTS = r"""
import ctypes, encodings.idna, fcntl, json, mmap, os, resource, signal, socket, sys, threading
from pathlib import Path
from pressroom.domains.media.confinement import confine
from pressroom.domains.media.decoding import DecodingLimits

folder = Path(sys.argv[1])
if os.geteuid() == 0 and sys.argv[2] == "nobody":
    os.setgroups([]), os.setresgid(65534, 65534, 65534), os.setresuid(65534, 65534, 65534)
database, source, work = folder / "pressroom.db", folder / "source", folder / "work"
libc = ctypes.CDLL(None, use_errno=True)
found = {}

def attempt(name, what):
    try:
        what()
        found[name] = "done"
    except MemoryError:
        found[name] = "MemoryError"
    except OSError as error:
        found[name] = type(error).__name__

def call(name, *arguments):
    def what():
        ctypes.set_errno(0)
        if libc.syscall(NUMBERS[name], *arguments) == -1:
            raise OSError(ctypes.get_errno(), name)
    attempt(name, what)

NUMBERS = json.loads(sys.argv[3])

def thread():
    one = threading.Thread(target=lambda: found.setdefault("in a thread", "done"))
    one.start()
    one.join()

def state():
    here = database.stat()
    return [
        here.st_mode, here.st_uid, here.st_gid, here.st_mtime_ns, here.st_nlink, here.st_size, os.listxattr(database),
        resource.getrlimit(resource.RLIMIT_NOFILE), sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0),
        os.getpriority(os.PRIO_PROCESS, 0), sorted(str(path) for path in folder.rglob("*") if work not in path.parents),
    ]

def attack():
    attempt("read source", source.read_bytes)
    attempt("write source", lambda: source.write_bytes(b"x"))
    attempt("write work", lambda: (work / "made").write_bytes(b"x"))
    attempt("remove work", (work / "made").unlink)
    attempt("write much", lambda: (work / "much").write_bytes(bytes(20_000)))
    attempt("link", lambda: (work / "link").symlink_to("/etc/passwd"))
    attempt("folder", (work / "folder").mkdir)
    attempt("read beside", database.read_bytes)
    attempt("write beside", lambda: (folder / "new").write_bytes(b"x"))
    attempt("append beside", lambda: database.open("ab"))
    attempt("read system", Path("/etc/passwd").read_bytes)
    attempt("list", lambda: os.listdir("/"))
    attempt("handle", lambda: os.open(database, os.O_PATH))
    for place, path in (("database", database), ("source", source), ("system", Path("/etc/hosts"))):
        attempt(f"chmod {place}", lambda: path.chmod(0o777))
        attempt(f"chown {place}", lambda: os.chown(path, os.getuid(), os.getgid()))
        attempt(f"utime {place}", lambda: os.utime(path, (1, 1)))
        attempt(f"setxattr {place}", lambda: os.setxattr(path, "user.pressroom", b"x"))
        attempt(f"truncate {place}", lambda: os.truncate(path, 0))
        attempt(f"rename {place}", lambda: path.rename(work / "taken"))
        attempt(f"link {place}", lambda: os.link(path, work / "taken"))
        attempt(f"unlink {place}", path.unlink)
    attempt("limits of the parent", lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE, (9, 9)))
    attempt("see limits of the parent", lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE))
    attempt("limits", lambda: resource.prlimit(0, resource.RLIMIT_NOFILE, (9, 9)))
    attempt("affinity of the parent", lambda: os.sched_setaffinity(parent, [0]))
    attempt("affinity", lambda: os.sched_setaffinity(0, [0]))
    attempt("see affinity of the parent", lambda: os.sched_getaffinity(parent))
    attempt("schedule of the parent", lambda: os.sched_setscheduler(parent, os.SCHED_IDLE, os.sched_param(0)))
    attempt("priority of the parent", lambda: os.setpriority(os.PRIO_PROCESS, parent, 19))
    attempt("memory of the parent", lambda: open(f"/proc/{parent}/mem", "rb"))
    attempt("secrets of the parent", lambda: open(f"/proc/{parent}/environ", "rb"))
    attempt("oom score", lambda: open("/proc/self/oom_score_adj", "w"))
    attempt("kill", lambda: os.kill(parent, 0))
    attempt("kill group", lambda: os.killpg(os.getpgid(0), 0))
    attempt("kill by thread", lambda: signal.pthread_kill(threading.get_ident(), 0))
    attempt("handle of the parent", lambda: os.pidfd_open(parent))
    attempt("signals on input", lambda: fcntl.fcntl(1, fcntl.F_SETOWN, parent))
    attempt("lock", lambda: fcntl.flock(1, fcntl.LOCK_EX))
    attempt("connect", lambda: socket.socket().connect(("127.0.0.1", 9)))
    attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    attempt("unix", lambda: socket.socket(socket.AF_UNIX))
    attempt("packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
    attempt("pair", socket.socketpair)
    attempt("fork", os.fork)
    attempt("spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
    attempt("run", lambda: os.execv("/bin/true", ["true"]))
    attempt("code", lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC))
    attempt("nameless file", lambda: os.memfd_create("code"))
    attempt("nobody else", lambda: os.setuid(0))
    attempt("root folder", lambda: os.chroot(work))
    attempt("device", lambda: os.mknod(work / "pipe", 0o010600))
    attempt("pipe", os.pipe)
    buffer = ctypes.create_string_buffer(256)
    call("process_vm_readv", parent, buffer, 1, buffer, 1, 0)
    call("process_vm_writev", parent, buffer, 1, buffer, 1, 0)
    call("ptrace", 16, parent, 0, 0)
    call("io_uring_setup", 8, buffer)
    call("userfaultfd", 0)
    call("keyctl", 0, -3, 0)
    call("bpf", 0, buffer, 64)
    call("perf_event_open", buffer, 0, -1, -1, 0)
    call("unshare", 0x10000000)
    call("mount", b"none", str(work).encode(), b"tmpfs", 0, 0)
    call("tkill", parent, 0)
    attempt("memory", lambda: bytearray(2_000_000_000))
    attempt("thread", thread)
    found["core"] = resource.getrlimit(resource.RLIMIT_CORE)
    found["processor"] = resource.getrlimit(resource.RLIMIT_CPU)[0]
    found["open files"] = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    print(json.dumps(found), flush=True)

before, parent = state(), os.getpid()
ready, go = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    try:
        confine(source, work, DecodingLimits(written_bytes=10_000))
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        attack()
    except BaseException as error:
        print(repr(error), flush=True)
    finally:
        os._exit(0)
os.close(ready[1])
os.read(ready[0], 1)
lines = [line.split(":\t") for line in Path(f"/proc/{child}/status").read_text().splitlines()]
os.write(go[1], b"x")
os.waitpid(child, 0)
print(json.dumps({"untouched": state() == before, "status": {line[0]: line[1] for line in lines if len(line) == 2}}))
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
    "kill by thread": "done",
}
NOT_PERMITTED = "PermissionError"
# A C library that does not find these calls does without.
ABSENT = {"handle of the parent": "OSError", "io_uring_setup": "OSError"}

# x86_64 and aarch64.
NUMBERS = {
    name: numbers[platform.machine() == "aarch64"]
    for name, numbers in {
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "ptrace": (101, 117),
        "io_uring_setup": (425, 425),
        "userfaultfd": (323, 282),
        "keyctl": (250, 219),
        "bpf": (321, 280),
        "perf_event_open": (298, 241),
        "unshare": (272, 97),
        "mount": (165, 40),
        "tkill": (200, 130),
    }.items()
}

Found = dict[str, Any]


@pytest.fixture(scope="module", params=["root", "nobody"] if os.geteuid() == 0 else ["nobody"])
def found(request: pytest.FixtureRequest) -> Iterator[Found]:
    """The result of every attempt, and the parent's view."""
    with tempfile.TemporaryDirectory() as name:  # not pytest's folder, which is closed to other users
        yield _found(Path(name), request.param)


def _found(folder: Path, user: str) -> Found:
    (folder / "work").mkdir()
    for name in ("source", "pressroom.db"):
        (folder / name).write_bytes(b"abc")
    if os.geteuid() == 0:
        for place in (folder, *folder.iterdir()):
            os.chown(place, *((65534, 65534) if user == "nobody" else (0, 0)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MALLOC_ARENA_MAX": "2"}
    arguments = [str(folder), user, json.dumps(NUMBERS)]
    run = subprocess.run([sys.executable, "-c", ATTEMPTS, *arguments], capture_output=True, env=environment, timeout=60)
    assert run.returncode == 0, run.stderr.decode()
    attempts, seen = (json.loads(line) for line in run.stdout.splitlines())
    return {"attempts": attempts, **seen}


@pytest.mark.parametrize("attempt", ALWAYS)
def test_limits_hold_everywhere(found: Found, attempt: str) -> None:
    assert found["attempts"][attempt] == ALWAYS[attempt]


@pytest.mark.skipif(not find_confinement().is_full, reason="This kernel cannot confine a process fully.")
class TestFullConfinement:
    def test_nothing_else_is_within_reach(self, found: Found) -> None:
        others = {name: ABSENT.get(name, NOT_PERMITTED) for name in found["attempts"] if name not in ALWAYS}
        assert {name: found["attempts"][name] for name in others} == others
        assert len(others) > 60

    def test_the_database_and_the_parent_are_as_they_were(self, found: Found) -> None:
        assert found["untouched"]

    def test_no_privilege_is_left(self, found: Found) -> None:
        status = found["status"]
        assert {name: int(status[name], 16) for name in status if name.startswith("Cap")} == dict.fromkeys(
            ("CapInh", "CapPrm", "CapEff", "CapAmb"), 0
        ) | {"CapBnd": 0 if os.geteuid() == 0 and status["Uid"].startswith("0") else int(status["CapBnd"], 16)}
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def test_full_is_files_and_system_calls() -> None:
    assert Confinement(1, seccomp=True).is_full
    assert not Confinement(0, seccomp=True).is_full
    assert not Confinement(7, seccomp=False).is_full
    assert find_confinement().landlock == landlock_version()
