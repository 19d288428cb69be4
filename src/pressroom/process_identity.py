"""Which process this is, said so that a later one can tell whether it still lives.

Only Linux tells enough; elsewhere an identity is random, and nobody is ever certain that its process has ended.
"""

import os
import secrets
from functools import lru_cache
from pathlib import Path

_STATE, _STARTED = 0, 19
"""Fields of /proc/PID/stat, counted from behind the command's name."""


@lru_cache(1)
def own_identity() -> str:
    """This process: machine and its start, namespace of processes, number, and when it began."""
    try:
        fields = _stat(os.getpid())
        return f"{_machine()}:{os.getpid()}:{fields[_STARTED]}"
    except OSError:
        return f"unknown:{secrets.token_hex(16)}"


def has_ended(identity: str) -> bool:
    """Whether the process is certain to have ended. False when it lives, and when this machine cannot tell."""
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
    # The command's name stands in parentheses and may hold spaces and parentheses of its own.
    return Path(f"/proc/{number}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
