"""The system calls that a decoding child may make, as a seccomp program: docs/media.md#confinement.

Everything else fails inside the child: with EPERM, or with ENOSYS where a C library tries a newer call and falls back.
A call of another architecture's table kills the process.
"""

import ctypes
import os
import platform
import struct
import sys
from typing import Final

Step = tuple[int, int, int, int]
"""One instruction of a seccomp program: code, jump if true, jump if false, operand."""

_PR_GET_SECCOMP: Final = 21
_PR_SET_SECCOMP: Final = 22
_PR_SET_NAME: Final = 15
_SECCOMP_MODE_FILTER: Final = 2

_LOAD: Final = 0x20
_AND: Final = 0x54
_EQUAL: Final = 0x15
_GREATER: Final = 0x25
_AT_LEAST: Final = 0x35
_BITS: Final = 0x45
_RETURN: Final = 0x06
ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
EPERM: Final = 0x00050000 | 1
ENOSYS: Final = 0x00050000 | 38

_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32: Final = 0x40000000
_RECENT: Final = 424
"""Calls from this number on are of Linux 5 and later, and have the same number on every architecture."""

# Numbers on x86_64 and aarch64; None if the architecture lacks the call. Frequent ones first: each is compared.
_PLAIN: Final[dict[str, tuple[int | None, int | None]]] = {
    "futex": (202, 98),
    "rt_sigprocmask": (14, 135),
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "lseek": (8, 62),
    "close": (3, 57),
    "brk": (12, 214),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "unlink": (87, None),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "sched_yield": (24, 124),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "getrandom": (318, 278),
    "restart_syscall": (219, 128),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
# Calls that are allowed with some arguments only; see `_checks`.
_CHECKED: Final[dict[str, tuple[int | None, int | None]]] = {
    "mprotect": (10, 226),
    "mmap": (9, 222),
    "openat": (257, 56),
    "open": (2, None),
    "clone": (56, 220),
    "prctl": (157, 167),
    "fcntl": (72, 25),
    "clock_gettime": (228, 113),
    "sendto": (44, 206),
    "unlinkat": (263, 35),
    "prlimit64": (302, 261),
    "sched_getaffinity": (204, 123),
    "tgkill": (234, 131),
}

_PROT_EXEC: Final = 4
_OPEN_FLAGS: Final = (
    os.O_WRONLY
    | os.O_RDWR
    | os.O_CREAT
    | os.O_EXCL
    | os.O_TRUNC
    | os.O_APPEND
    | os.O_NOCTTY
    | os.O_NONBLOCK
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    # The kernel's own O_LARGEFILE, which the C library defines as 0 on 64-bit systems.
    | (0o400000 if platform.machine() == "aarch64" else 0o100000)
)
# A thread shares memory, files, signal handlers and thread group. Other flags of pthread_create are allowed.
_THREAD: Final = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000
_THREAD_MAY: Final = _THREAD | 0x80000 | 0x100000 | 0x200000 | 0x400000
_GET_FD: Final = 1
_SET_FD: Final = 2
_GET_FLAGS: Final = 3
_LAST_CLOCK: Final = 11
"""Clock ids from here on, as unsigned numbers, are clocks of other processes and of devices."""


def is_supported() -> bool:
    """Returns whether this kernel and machine can enforce the list."""
    if sys.platform != "linux" or platform.machine() not in _ARCHITECTURES:
        return False
    return ctypes.CDLL(None, use_errno=True).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


def allowed(machine: str) -> dict[str, int]:
    """Returns names and numbers of the allowed calls; some are allowed with certain arguments only."""
    place = list(_ARCHITECTURES).index(machine)
    return {name: number for name, both in (_PLAIN | _CHECKED).items() if (number := both[place]) is not None}


def install() -> None:
    """Restricts this process for good to the list. Needs no_new_privs. Raises OSError."""
    program = assemble(steps(platform.machine(), os.getpid()))
    load(program)


def load(program: bytes) -> None:
    """Installs a seccomp program in the kernel. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions))
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The kernel refused the list of system calls.")


def assemble(program: list[Step]) -> bytes:
    """Returns the instructions in the kernel's binary form."""
    return b"".join(struct.pack("HBBI", *step) for step in program)


def steps(machine: str, pid: int) -> list[Step]:
    """Returns the seccomp program for the process `pid`."""
    numbers = allowed(machine)
    program = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, KILL),
    ]
    for name in _PLAIN:
        if name in numbers:
            program += [(_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, ALLOW)]
    for name, checks in _checks(pid).items():
        if name in numbers:
            body = [*checks, (_RETURN, 0, 0, ALLOW)]
            program += [(_EQUAL, 0, len(body), numbers[name]), *body]
    # The flags of clone3 and openat2 are in memory, which a filter cannot read. ENOSYS makes libc use the older calls.
    return [*program, (_AT_LEAST, 0, 1, _RECENT), (_RETURN, 0, 0, ENOSYS), (_RETURN, 0, 0, EPERM)]


def _checks(pid: int) -> dict[str, list[Step]]:
    """Returns the checks of arguments for each call of _CHECKED. A call that fails its check gets EPERM."""
    return {
        "mprotect": _without(2, _PROT_EXEC),
        "mmap": _without(2, _PROT_EXEC),
        # Landlock decides on files. No directories, no O_PATH handles, no signals on input.
        "openat": _without(2, 0xFFFFFFFF & ~_OPEN_FLAGS),
        "open": _without(1, 0xFFFFFFFF & ~_OPEN_FLAGS),
        "clone": [*_without(0, 0xFFFFFFFF & ~_THREAD_MAY), *_with(0, _THREAD)],
        "prctl": _one_of(0, _PR_SET_NAME),
        # Not F_SETOWN, which sends signals to others.
        "fcntl": _one_of(1, _GET_FD, _SET_FD, _GET_FLAGS),
        "clock_gettime": [_argument(0), (_GREATER, 0, 1, _LAST_CLOCK), (_RETURN, 0, 0, EPERM)],
        "sendto": _null(4),
        "unlinkat": _one_of(2, 0),
        "prlimit64": [*_one_of(0, 0), *_null(2)],
        "sched_getaffinity": _one_of(0, 0, pid),
        "tgkill": _one_of(0, pid),
    }


def _argument(index: int, *, high: bool = False) -> Step:
    return (_LOAD, 0, 0, 16 + 8 * index + 4 * high)


def _one_of(index: int, *values: int) -> list[Step]:
    comparisons = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [_argument(index), *comparisons, (_RETURN, 0, 0, EPERM)]


def _null(index: int) -> list[Step]:
    halves = [_argument(index), _argument(index, high=True)]
    return [step for half in halves for step in (half, (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, EPERM))]


def _without(index: int, bits: int) -> list[Step]:
    return [_argument(index), (_BITS, 0, 1, bits), (_RETURN, 0, 0, EPERM)]


def _with(index: int, bits: int) -> list[Step]:
    return [_argument(index), (_AND, 0, 0, bits), (_EQUAL, 1, 0, bits), (_RETURN, 0, 0, EPERM)]
