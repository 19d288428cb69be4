"""Every system call there is, tried by a confined process: what is not on the list does not pass, by the kernel's word.

Nothing that is tried is ever carried out. Below the filter under test lies another, which answers a number that no
call answers (UNTOUCHED) to each call whose sixth argument is MAGIC. The kernel gives the answer of the newer filter
where that refuses, so UNTOUCHED means: the call would have passed.
"""

import errno
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pressroom.domains.media import syscalls

pytestmark = pytest.mark.skipif(not syscalls.is_supported(), reason="This kernel cannot hold a process to a list.")

Answers = dict[str, Any]
UNTOUCHED = 3_999
NEWEST = 512
"""Numbers that are tried: Linux 6.18 has calls up to 469."""

# No filter is asked about these two (x86_64): they belong to probes that an administrator sets, and kill whoever calls
# them from elsewhere.
UNFILTERED = [335, 336] if platform.machine() == "x86_64" else []

PROBE = r"""
import ctypes, json, os, sys
from pathlib import Path
from pressroom.domains.media import syscalls
from pressroom.domains.media.confinement import confine
from pressroom.domains.media.decoding import DecodingLimits

MAGIC, UNTOUCHED, numbers, tried = 0x5EED5EED, int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
if os.geteuid() == 0 and sys.argv[5] == "nobody":
    os.setgroups([]), os.setresgid(65534, 65534, 65534), os.setresuid(65534, 65534, 65534)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = [ctypes.c_long] + [ctypes.c_ulong] * 6
libc.prctl(38, 1, 0, 0, 0)
syscalls.load(syscalls.assemble([
    (0x20, 0, 0, 16 + 8 * 5), (0x15, 0, 1, MAGIC), (0x06, 0, 0, 0x00050000 | UNTOUCHED), (0x06, 0, 0, 0x7FFF0000),
]))
folder, known = Path(sys.argv[1]), {"getpid": os.getpid(), "getppid": os.getppid()}
confine(folder / "source", folder, DecodingLimits(address_bytes=4_000_000_000))

def answer(number, *arguments):
    values = [known.get(value, value) for value in arguments]
    ctypes.set_errno(0)
    assert libc.syscall(number, *(values + [0] * 5)[:5], MAGIC) == -1
    return ctypes.get_errno()

shapes = [[fill] * 5 for fill in (0, 1, 2, 3, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFFFFF)]
print(json.dumps({
    "all": {number: sorted({answer(number, *shape) for shape in shapes}) for number in numbers},
    "tried": [answer(*arguments) for arguments in tried],
}))
"""

NUMBERS = syscalls.allowed(platform.machine()) if syscalls.is_supported() else {}
ALWAYS = {
    "futex", "rt_sigprocmask", "read", "write", "readv", "writev", "pread64", "lseek", "close", "brk", "munmap",
    "mremap", "madvise", "fstat", "stat", "lstat", "newfstatat", "statx", "unlink", "set_robust_list", "rseq",
    "rt_sigaction", "rt_sigreturn", "sigaltstack", "getpid", "gettid", "sched_yield", "nanosleep", "clock_nanosleep",
    "clock_getres", "gettimeofday", "time", "getrandom", "restart_syscall", "exit", "exit_group",
}  # fmt: skip
THREAD = 0x3D0F00
# Arguments with which a call passes, and such with which it does not.
GOOD: dict[str, list[list[int | str]]] = {
    "mprotect": [[4096, 4096, 3]],
    "mmap": [[0, 4096, 3, 0x22, 0xFFFFFFFF]],
    "openat": [[0, 0, os.O_RDONLY | os.O_CLOEXEC], [0, 0, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC]],
    "open": [[0, os.O_RDONLY], [0, os.O_WRONLY | os.O_CREAT]],
    "clone": [[THREAD], [THREAD | 0x400000]],
    "prctl": [[15]],
    "fcntl": [[3, 1], [3, 2, 1], [3, 3]],
    "clock_gettime": [[0], [11]],
    "sendto": [[3, 4096, 10, 0, 0]],
    "unlinkat": [[0, 4096, 0]],
    "prlimit64": [[0, 7, 0, 4096]],
    "sched_getaffinity": [[0], ["getpid"]],
    "tgkill": [["getpid", 1, 6]],
}
BAD: dict[str, list[list[int | str]]] = {
    "mprotect": [[4096, 4096, 4], [4096, 4096, 7]],
    "mmap": [[0, 4096, 5, 0x22, 0xFFFFFFFF], [0, 4096, 7, 0x22, 0xFFFFFFFF]],
    "openat": [[0, 0, flag] for flag in (os.O_PATH, os.O_DIRECTORY, os.O_TMPFILE, os.O_ASYNC, os.O_DIRECT)],
    "open": [[0, flag] for flag in (os.O_PATH, os.O_DIRECTORY, os.O_TMPFILE, os.O_ASYNC, os.O_DIRECT)],
    # Processes, other processes' children, new namespaces: each alone and beside what makes a thread.
    "clone": [[17], [0x4111], [THREAD & ~0x10000], *[[THREAD | 1 << bit] for bit in (13, 15, 17, 25, 26, 28, 29, 30)]],
    "prctl": [[option] for option in (1, 4, 8, 22, 23, 24, 35, 38, 47, 59, 0x53564D41)],
    "fcntl": [[3, command] for command in (0, 4, 6, 7, 8, 10, 15, 1024, 1030, 1031, 1033)],
    "clock_gettime": [[12], [0xFFFFFFF2], [0xFFFFFFFFFFFFFFF2]],
    "sendto": [[3, 4096, 10, 0, 4096], [3, 4096, 10, 0, 1 << 32]],
    "unlinkat": [[0, 4096, 0x200]],
    "prlimit64": [[0, 7, 4096, 0], [0, 7, 1 << 32, 0], ["getpid", 7, 4096, 0], ["getppid", 7, 0, 0], [1, 7, 4096, 0]],
    "sched_getaffinity": [["getppid"], [1]],
    "tgkill": [["getppid", 1, 9], [1, 1, 9], [0, 1, 9], [0xFFFFFFFF, 1, 9]],
}


@pytest.fixture(scope="module", params=["root", "nobody"] if os.geteuid() == 0 else ["nobody"])
def answers(request: pytest.FixtureRequest) -> Iterator[Answers]:
    """The error numbers that each call gave, as the user that the test runs as or as nobody."""
    with tempfile.TemporaryDirectory() as name:  # not pytest's folder, which is closed to other users
        yield _answers(Path(name), request.param)


def _answers(folder: Path, user: str) -> Answers:
    (folder / "source").write_bytes(b"abc")
    folder.chmod(0o755)
    tried = [[NUMBERS[name], *one] for name, one in _tried()]
    numbers = [number for number in range(NEWEST) if number not in UNFILTERED]
    arguments = [str(folder), str(UNTOUCHED), json.dumps(numbers), json.dumps(tried), user]
    run = _run(PROBE, *arguments)
    assert run.returncode == 0, run.stderr.decode()
    return json.loads(run.stdout)


def _run(program: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MALLOC_ARENA_MAX": "2"}
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, env=environment, timeout=60)


def _tried() -> list[tuple[str, list[int | str]]]:
    return [(name, one) for table in (GOOD, BAD) for name in table if name in NUMBERS for one in table[name]]


def test_list_equals_the_expected_calls() -> None:
    assert set(NUMBERS) <= ALWAYS | set(GOOD)
    assert set(GOOD) == set(BAD)


def test_no_call_passes_that_is_not_on_the_list(answers: Answers) -> None:
    passed = {int(number) for number, errors in answers["all"].items() if UNTOUCHED in errors}
    assert passed <= set(NUMBERS.values())
    always = {number for name, number in NUMBERS.items() if name in ALWAYS}
    assert {number for number in passed if answers["all"][str(number)] == [UNTOUCHED]} == always
    refused = {error for errors in answers["all"].values() for error in errors} - {UNTOUCHED}
    assert refused == {errno.EPERM, errno.ENOSYS}


def test_new_system_calls_fail_with_enosys(answers: Answers) -> None:
    assert {number for number, errors in answers["all"].items() if errors == [errno.ENOSYS]} == {
        str(number) for number in range(424, NEWEST)
    }


def test_arguments_decide_where_a_call_is_only_partly_fine(answers: Answers) -> None:
    good = sum(len(GOOD[name]) for name in GOOD if name in NUMBERS)
    wrong = [one for one, error in zip(_tried()[:good], answers["tried"][:good], strict=True) if error != UNTOUCHED]
    passed = [one for one, error in zip(_tried()[good:], answers["tried"][good:], strict=True) if error != errno.EPERM]
    assert (wrong, passed) == ([], [])


FOREIGN = r"""
import ctypes, mmap, sys
from pathlib import Path
from pressroom.domains.media.confinement import confine
from pressroom.domains.media.decoding import DecodingLimits

code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex(sys.argv[2]))
call = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
confine(Path(sys.argv[1]), Path(sys.argv[1]).parent, DecodingLimits())
print("confined", flush=True)
call()
print("still here", flush=True)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="Machine code of x86_64.")
@pytest.mark.parametrize(
    "code",
    [
        "b814000000cd80c3",  # mov eax, 20 (getpid of i386); int 0x80; ret
        "b8270000400f05c3",  # mov eax, 0x40000027 (getpid of x32); syscall; ret
    ],
)
def test_a_call_of_another_table_kills(code: str, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"abc")
    run = _run(FOREIGN, str(tmp_path / "source"), code)
    assert (run.stdout, run.returncode) == (b"confined\n", -signal.SIGSYS), run.stderr.decode()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_program_is_short_enough_and_its_jumps_stay_within(machine: str) -> None:
    program = syscalls.steps(machine, 1)
    assert len(program) <= 4_096
    for place, (code, true, false, _) in enumerate(program):
        if code & 7 == 5:  # a jump
            assert place + 1 + max(true, false) < len(program)
    assert program[-1] == (0x06, 0, 0, syscalls.EPERM)
