"""The parent of one server process. Runs as a script: its only argument is an `Order` in JSON.

It prints the server's process number, then waits until the server ends or until nobody needs it any more.
Only the standard library is used here, as it starts without site-packages.
"""

import ctypes
import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import TypedDict

PR_SET_PDEATHSIG = 1
PATIENCE = 10.0


class Order(TypedDict):
    """What to run, as which account (None: the same), how to end it, and what to remove once unneeded."""

    command: list[str]
    uid: int | None
    gid: int | None
    lease: str
    end_signal: int
    remove: list[str]


def tie_to_parent(end_signal: int) -> Callable[[], None]:
    """Make a `preexec_fn` by which the kernel sends `end_signal` to the child if this process dies."""
    parent = os.getpid()
    library = ctypes.CDLL(None) if sys.platform == "linux" else None

    def tie() -> None:
        # subprocess changes the account before it calls this; the other way round would undo the request.
        if library is not None:
            library.prctl(PR_SET_PDEATHSIG, end_signal, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

    return tie


def main(order: Order) -> None:
    """Run the server of `order` to its end."""
    lease = os.open(order["lease"], os.O_RDWR)
    server = subprocess.Popen(
        order["command"],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        preexec_fn=tie_to_parent(order["end_signal"]),  # noqa: PLW1509 - No other thread runs yet.
        user=order["uid"],
        group=order["gid"],
        extra_groups=None if order["uid"] is None else [],
    )
    print(server.pid, flush=True)
    unneeded = threading.Event()

    def end_when_unneeded() -> None:
        # The kernel counts the users: each holds a shared lock on the lease and loses it however it dies,
        # SIGKILL included. The exclusive lock is granted when the last is gone. A guard that is itself
        # killed takes the server along by the parent-death signal.
        fcntl.flock(lease, fcntl.LOCK_EX)
        unneeded.set()
        os.ftruncate(lease, 0)
        server.send_signal(order["end_signal"])
        try:
            server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()

    threading.Thread(target=end_when_unneeded, daemon=True).start()
    server.wait()
    if unneeded.is_set():
        for name in order["remove"]:
            shutil.rmtree(name, ignore_errors=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
