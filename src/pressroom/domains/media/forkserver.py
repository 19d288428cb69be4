"""`python -m pressroom.domains.media.forkserver FD`: forks one child for each file.

The fork server has loaded the decoders and never used them. `sandbox` starts it with FD, one end of a stream. Each
byte that arrives brings two sockets: `line`, on which a child reads its DecodingTask and writes its answer, and
`watch`, which the child never holds. When the child has ended, the server writes its ChildExit to `watch`. When the
other side closes `watch` before that, the child is killed. At the end of the stream (the server process is gone,
however it died) every child is killed and the fork server ends.
"""

import contextlib
import errno
import gc
import os
import selectors
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from pressroom.domains.media.confinement import confine, die_with_parent, hide_memory
from pressroom.domains.media.decoding import Crash, DecodingTask, LongVideo, Processed, Refusal, TakesLong, Undecodable
from pressroom.domains.media.kinds import FileKind

NICENESS: Final = 10
_LINE: Final = 3
"""The only descriptor that a child holds, apart from standard input, output and error."""


class ChildExit(msgspec.Struct, frozen=True):
    """How a child ended. status is an exit code as in `subprocess`: negative for a signal."""

    status: int
    max_rss_bytes: int
    cpu_seconds: float


def main() -> None:
    """Serves until its stream ends."""
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    hide_memory()
    _yield_to_others()
    _load_decoders()
    gc.collect()
    gc.freeze()
    _Server(control).run()


def _yield_to_others() -> None:
    """Lowers the priority of decoding below everything else, so that requests stay fast."""
    os.nice(NICENESS)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _load_decoders() -> None:
    # Not at the top: only this process loads them, once, and its children inherit them.
    from pressroom.domains.media import images, videos  # see above

    images.prepare()
    videos.prepare()


class _Server:
    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.watches: dict[int, socket.socket] = {}
        self.selector = selectors.DefaultSelector()
        self.wake_in, self.wake_out = socket.socketpair()
        for end in (self.wake_in, self.wake_out):
            end.setblocking(False)
        signal.set_wakeup_fd(self.wake_out.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        self.selector.register(self.control, selectors.EVENT_READ)
        self.selector.register(self.wake_in, selectors.EVENT_READ)

    def run(self) -> None:
        open_ = True
        while open_:
            for key, _ in self.selector.select():
                if key.fileobj is self.control:
                    open_ = self._take()
                elif key.fileobj is self.wake_in:
                    with contextlib.suppress(BlockingIOError):
                        self.wake_in.recv(4096)
                elif isinstance(key.data, int):
                    self._kill(key.data)
            self._reap()
        for pid in self.watches:
            self._kill(pid)

    def _take(self) -> bool:
        """Starts a child for the next file; returns False at the end of the stream."""
        try:
            word, descriptors, _, _ = socket.recv_fds(self.control, 1, 2)
        except ConnectionError:
            return False
        if not word:
            return False
        if len(descriptors) != 2:
            for descriptor in descriptors:
                os.close(descriptor)
            return True
        line, watch = descriptors
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            # Both sockets close without a message: so the server process learns that no child was started.
            os.close(line)
            os.close(watch)
            return True
        if pid == 0:
            _be_child(line, server)
        os.close(line)
        self.watches[pid] = socket.socket(fileno=watch)
        self.selector.register(self.watches[pid], selectors.EVENT_READ, pid)
        return True

    def _kill(self, pid: int) -> None:
        # A child that has not been waited for keeps its process id, so no other process can be killed. It may not
        # have made its process group yet.
        if pid not in self.watches:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(KeyError):
            self.selector.unregister(self.watches[pid])

    def _reap(self) -> None:
        while self.watches:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            watch = self.watches.pop(pid, None)
            if watch is None:
                continue
            unit = 1 if sys.platform == "darwin" else 1024
            code = os.waitstatus_to_exitcode(status)
            ended = ChildExit(code, usage.ru_maxrss * unit, usage.ru_utime + usage.ru_stime)
            with contextlib.suppress(KeyError):
                self.selector.unregister(watch)
            with contextlib.suppress(OSError):
                watch.sendall(msgspec.json.encode(ended))
            watch.close()


def _be_child(line: int, server: int) -> None:
    """Runs as the child and ends the process. Never returns."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        die_with_parent(server)
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        os.dup2(line, _LINE)
        os.closerange(_LINE + 1, os.sysconf("SC_OPEN_MAX"))
        with socket.socket(fileno=_LINE) as end:
            _answer(end)
        status = 0
    finally:
        os._exit(status)


def _answer(line: socket.socket) -> None:
    with line.makefile("rb") as stream:
        job = msgspec.json.decode(stream.read(), type=DecodingTask)
    answer: Processed | Refusal | LongVideo | Crash
    try:
        answer = _process(job)
    except Undecodable as error:
        answer = Refusal(error.reason)
    except TakesLong:
        answer = LongVideo()
    except MemoryError:
        answer = Refusal("Decoding the file takes more memory than is allowed.")
    except OSError as error:
        if error.errno == errno.EFBIG:
            answer = Refusal(f"What is made of the file would be larger than {job.limits.written_bytes:,} bytes.")
        else:
            answer = Crash(f"{type(error).__name__}: {error}"[:500])
    except Exception as error:  # the server process logs it
        answer = Crash(f"{type(error).__name__}: {error}"[:500])
    line.sendall(msgspec.json.encode(answer))


def _process(job: DecodingTask) -> Processed:
    from pressroom.domains.media import images, videos  # loaded by now

    # The folder is the working directory: without root's privileges its path may no longer be accessible.
    os.chdir(job.folder)
    source, folder, kind = Path(job.source), Path(), FileKind[job.kind]
    if source.is_relative_to(job.folder):
        source = source.relative_to(job.folder)
    os.environ["TMPDIR"] = tempfile.tempdir = os.curdir
    confine(source, folder, job.limits)
    if kind.is_video:
        return videos.process(source, kind, folder, job.limits)
    return images.process(source, kind, folder, job.limits, job.box)


if __name__ == "__main__":
    main()
