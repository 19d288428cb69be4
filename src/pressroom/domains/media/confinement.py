"""Confines a child before it reads hostile bytes (docs/media.md#confinement).

The child gives up resources, privileges, files, the network and other processes. Resource limits work on every Unix;
Landlock (files) and seccomp (`syscalls`) on Linux, if the kernel has them. `find_confinement` returns those of this
machine; PRESSROOM_MEDIA_CONFINEMENT decides whether that is enough.
"""

import ctypes
import os
import resource
import signal
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pressroom.domains.media import syscalls
from pressroom.domains.media.decoding import DecodingLimits
from pressroom.errors import SettingError

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_DROP_FROM_BOUND: Final = 24
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_AMBIENT: Final = 47
_PR_AMBIENT_CLEAR: Final = 4
_CAPABILITIES: Final = 64
"""Capability numbers to drop: more than any kernel has (41 are known)."""
_CAPABILITIES_VERSION: Final = 0x20080522

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


@dataclass(frozen=True, slots=True)
class Confinement:
    """The means of confinement that this machine has. landlock is a version, 0 for none."""

    landlock: int
    seccomp: bool

    @property
    def is_full(self) -> bool:
        """Returns whether a compromised child can reach only its own files, and no other process."""
        return self.landlock > 0 and self.seccomp

    def __str__(self) -> str:
        landlock = f"Landlock {self.landlock}" if self.landlock else "no Landlock"
        return f"{landlock}, {'a list of allowed' if self.seccomp else 'no filter for'} system calls"


def find_confinement() -> Confinement:
    """Returns the confinement that this machine offers."""
    return Confinement(landlock_version(), syscalls.is_supported())


def check_confinement(found: Confinement, *, full: bool) -> None:
    """Raises SettingError when `full` confinement is demanded and the machine does not offer it."""
    if full and not found.is_full:
        raise SettingError(
            f"PRESSROOM_MEDIA_CONFINEMENT is full, and this machine offers {found}. Use a kernel with both, let the"
            " container's profile allow them, or set it to available."
        )


def hide_memory() -> None:
    """Prevents other processes of the same user from reading this one's memory, and core dumps."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent (a process id) ends; exits if it has ended already."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # A parent that ended before the kernel was asked is never reported.
    if os.getppid() != parent:
        os._exit(1)


def confine(source: Path, folder: Path, limits: DecodingLimits) -> None:
    """Restricts this process for good to reading `source`, writing into `folder` and spending `limits`."""
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_AS", limits.address_bytes)
    _limit("RLIMIT_CPU", limits.cpu_seconds)
    _limit("RLIMIT_FSIZE", limits.written_bytes)
    _limit("RLIMIT_NOFILE", limits.open_files)
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        hide_memory()
        _close_file_system(source, folder)
        _drop_capabilities()
        if syscalls.is_supported():
            syscalls.install()


def landlock_version() -> int:
    """Returns the version of Landlock that this system offers, 0 for none."""
    return max(0, _libc.syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)) if sys.platform == "linux" else 0


def _limit(name: str, most: int) -> None:
    number: int | None = getattr(resource, name, None)
    if number is not None:
        _, hard = resource.getrlimit(number)
        # No process without privileges may raise its hard limit: to ask for more would fail.
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (most, most))


def _drop_capabilities() -> None:
    """Drops all capabilities. Root keeps its user id, because it needs it to reach its own folder."""
    _libc.prctl(_PR_AMBIENT, _PR_AMBIENT_CLEAR, 0, 0, 0)
    for capability in range(_CAPABILITIES):
        _libc.prctl(_PR_DROP_FROM_BOUND, capability, 0, 0, 0)
    header, none = struct.pack("=Ii", _CAPABILITIES_VERSION, 0), bytes(24)
    if _libc.capset(header, none) != 0:
        raise OSError(ctypes.get_errno(), "The kernel refused to take the child's capabilities.")


def _close_file_system(source: Path, folder: Path) -> None:
    version = landlock_version()
    if version == 0:
        return
    handled = (1 << _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))]) - 1
    fields = [handled]
    # Without a rule that allows them, these rights are denied: binding and connecting over TCP, the abstract
    # sockets of other processes, signals to them.
    if version >= _NET_SINCE:
        fields.append(0b11)
    if version >= _SCOPES_SINCE:
        fields.append(0b11)
    rules = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _libc.syscall(_LANDLOCK_CREATE, rules, len(rules), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "Landlock made no ruleset.")
    _allow(ruleset, source, _READ_FILE)
    # The kernel refuses a rule with a right that its version of Landlock does not know.
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
