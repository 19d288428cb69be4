"""What a child gives up before it looks at hostile bytes: resources, files, the network, other processes.

Resource limits hold on every Unix. Landlock (files) and seccomp (system calls) hold on Linux where the kernel has
them and are skipped where it does not: they are a second wall behind the first.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from pathlib import Path
from typing import Final

from pressroom.domains.media.decoding import Limits

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2

_LANDLOCK_CREATE: Final = 444
_LANDLOCK_ADD: Final = 445
_LANDLOCK_RESTRICT: Final = 446
_LANDLOCK_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_REMOVE_FILE: Final = 1 << 5
_MAKE_FILE: Final = 1 << 8
_TRUNCATE: Final = 1 << 14
# How many of the rights to files, to TCP and to other processes each version of Landlock knows.
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_SINCE: Final = 4
_SCOPES_SINCE: Final = 6

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent `parent` ends, and ends it now when that happened already."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def confine(source: Path, folder: Path, limits: Limits) -> None:
    """Leaves this process, for good, no more than `source` to read, `folder` to write into and `limits` to spend."""
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_AS", limits.address_bytes)
    _limit("RLIMIT_CPU", limits.cpu_seconds)
    _limit("RLIMIT_FSIZE", limits.written_bytes)
    _limit("RLIMIT_NOFILE", limits.open_files)
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _close_file_system(source, folder)
        _close_system_calls()


def landlock_version() -> int:
    """The version of Landlock that this system offers; 0 for none."""
    return max(0, _libc.syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)) if sys.platform == "linux" else 0


def _limit(name: str, most: int) -> None:
    number: int | None = getattr(resource, name, None)
    if number is not None:
        _, hard = resource.getrlimit(number)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (most, most))


def _close_file_system(source: Path, folder: Path) -> None:
    version = landlock_version()
    if version == 0:
        return
    handled = (1 << _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))]) - 1
    fields = [handled]
    if version >= _NET_SINCE:
        fields.append(0b11)
    if version >= _SCOPES_SINCE:
        fields.append(0b11)
    rules = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _libc.syscall(_LANDLOCK_CREATE, rules, len(rules), 0)
    if ruleset < 0:
        return
    _allow(ruleset, source, _READ_FILE)
    _allow(ruleset, folder, (_READ_FILE | _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE | _TRUNCATE) & handled)
    if _libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), "Landlock refused to restrict the child.")
    os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    handle = os.open(path, getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)
    rule = struct.pack("=Qi", rights, handle)
    if _libc.syscall(_LANDLOCK_ADD, ruleset, _PATH_BENEATH, rule, 0) != 0:
        raise OSError(ctypes.get_errno(), f"Landlock refused the rule for {path.name}.")
    os.close(handle)


# Numbers of the calls that reach the network, other programs, other processes or odd corners of the kernel.
_DENIED: Final[dict[str, tuple[int, tuple[int, ...]]]] = {
    # socket connect socketpair fork vfork execve kill ptrace mount process_vm_readv/writev unshare setns
    # keyctl execveat bpf perf_event_open userfaultfd io_uring_setup add_key pidfd_open pidfd_getfd
    "x86_64": (
        0xC000003E,
        (41, 42, 53, 57, 58, 59, 62, 101, 165, 310, 311, 272, 308, 250, 322, 321, 298, 323, 425, 248, 434, 438),
    ),
    "aarch64": (
        0xC00000B7,
        (198, 203, 199, 221, 129, 117, 40, 270, 271, 97, 268, 219, 281, 280, 241, 282, 425, 217, 434, 438),
    ),
}
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_CLONE3: Final = 435
_CLONE_THREAD: Final = 0x10000
_X32: Final = 0x40000000

_LOAD: Final = 0x20
_EQUAL: Final = 0x15
_AT_LEAST: Final = 0x35
_BITS: Final = 0x45
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_EPERM: Final = 0x00050000 | 1
_ENOSYS: Final = 0x00050000 | 38


def _close_system_calls() -> None:
    machine = platform.machine()
    if machine not in _DENIED:
        return
    program = _filter(machine)
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions))
    if _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0) != 0:
        return


def _filter(machine: str) -> bytes:
    """The seccomp program: threads may be made, processes may not; what is denied fails with EPERM."""
    architecture, denied = _DENIED[machine]
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        # The flags of clone3 stand in memory, out of a filter's sight. Without it, the C library uses clone.
        (_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _ENOSYS),
        (_EQUAL, 0, 4, _CLONE[machine]),
        (_LOAD, 0, 0, 16),
        (_BITS, 0, 1, _CLONE_THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _EPERM),
    ]
    for number in denied:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _EPERM)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)
