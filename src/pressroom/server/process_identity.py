"""The identity of a process, by which a later process can tell whether it has ended.

Only on Linux. Elsewhere an identity is random, and `has_ended` never returns True.
"""

import os
import secrets
from functools import lru_cache
from pathlib import Path

_STATE, _STARTED = 0, 19
"""Fields of /proc/PID/stat, counted after the command's name."""


@lru_cache(1)
def own_identity() -> str:
    """Returns this process's identity: the machine's boot, the PID namespace, the PID and the start time."""
    try:
        fields = _stat(os.getpid())
        return f"{_machine()}:{os.getpid()}:{fields[_STARTED]}"
    except OSError:
        return f"unknown:{secrets.token_hex(16)}"


def has_ended(identity: str) -> bool:
    """Returns whether the process has certainly ended; False when it lives or this machine cannot tell."""
    try:
        machine, number, started = identity.rsplit(":", 2)
        if machine != _machine():
            return False
        process = Path(f"/proc/{int(number)}")
        fields = _stat(int(number)) if process.exists() else None
    except (OSError, ValueError):
        return False
    return fields is None or fields[_STARTED] != started or fields[_STATE] == "Z"


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"{boot}:{Path('/proc/self/ns/pid').readlink()}"


def _stat(number: int) -> list[str]:
    # The command's name is in parentheses and may contain spaces and parentheses.
    return Path(f"/proc/{number}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
