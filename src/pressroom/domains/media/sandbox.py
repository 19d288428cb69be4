"""Decodes files in child processes (docs/media.md#confinement). This is the server process's side.

    async with Sandbox() as sandbox:
        processed = await sandbox.process(source, FileKind.JPEG, folder)

Nothing is decoded in this process, and everything that a child answers is checked before it is used.
"""

import asyncio
import contextlib
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

import pressroom
from pressroom.domains.media.decoding import (
    LARGE,
    MEDIUM,
    MP4,
    POSTER,
    THUMBNAIL,
    VIDEO,
    WEBP,
    ChildDied,
    Crash,
    DecodingLimits,
    DecodingTask,
    LongVideo,
    Processed,
    Refusal,
    Rendition,
    SandboxAway,
    Starved,
    TakesLong,
    Undecodable,
)
from pressroom.domains.media.forkserver import ChildExit
from pressroom.domains.media.kinds import FileKind

__all__ = [
    "ChildDied",
    "ChildExit",
    "DecodingLimits",
    "Processed",
    "Rendition",
    "Sandbox",
    "SandboxAway",
    "Starved",
    "TakesLong",
    "Undecodable",
]

ANSWER_BYTES: Final = 16 * 1024
PLACEHOLDER_BYTES: Final = 400
REASON_CHARACTERS: Final = 300
STOP_SECONDS: Final = 1.0

_ALLOWED_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")
_PLACEHOLDER: Final = re.compile(r"data:image/webp;base64,[A-Za-z0-9+/]+={0,2}")
_LONGEST_SIDE: Final = 16_384
_IMAGE_FILES: Final = {LARGE: WEBP, MEDIUM: WEBP, THUMBNAIL: WEBP}
_VIDEO_FILES: Final = {VIDEO: MP4, POSTER: WEBP, THUMBNAIL: WEBP}


class Sandbox:
    """Processes files in children of one fork server, which starts at the first file and again after it died.

    The caller limits how many files are processed at once. `on_ended` is called with the end of each child.
    """

    def __init__(self, on_ended: Callable[[ChildExit], None] | None = None) -> None:
        self._on_ended = on_ended
        self._server: _ForkServer | None = None
        self._starting = threading.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def pid(self) -> int | None:
        """Returns the process id of the fork server, or None if none runs."""
        return self._server.process.pid if self._server is not None else None

    async def process(
        self,
        source: Path,
        kind: FileKind,
        folder: Path,
        limits: DecodingLimits | None = None,
        box: tuple[int, int] | None = None,
    ) -> Processed:
        """Decodes `source`, a file of this kind, and writes the files to serve into `folder`.

        An image is cut to the form of `box`, at most so many pixels wide and high; None: it keeps its form.

        The child has ended when this returns or raises. Raises Undecodable with a reason for the owner, TakesLong, or
        ChildDied; after an error `folder` may hold anything.
        """
        limits = limits or DecodingLimits()
        job = _job(source, kind, folder, limits, box)
        server = await self._running()
        answer = await self._run(server, job)
        match answer:
            case Refusal(reason):
                raise Undecodable(_printable(reason))
            case LongVideo():
                raise TakesLong
            case Crash(what):
                # The machine was short of memory, disk or descriptors, for which the file is not to blame.
                if what.startswith("OSError"):
                    raise Starved(f"The child lacked something: {_printable(what)}")
                raise ChildDied(f"The child failed: {_printable(what)}")
            case Processed():
                return await asyncio.to_thread(check_answer, answer, kind, folder, limits)

    async def close(self) -> None:
        """Ends the fork server and every child."""
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        with self._starting:
            server, self._server = self._server, None
            if server is not None:
                server.stop()

    async def _running(self) -> "_ForkServer":
        server = self._server
        if server is not None and server.process.poll() is None:
            return server
        return await asyncio.to_thread(self._start)

    def _start(self) -> "_ForkServer":
        with self._starting:
            if self._server is not None and self._server.process.poll() is not None:
                self._server.stop()
                self._server = None
            # Another thread may have started it while this one waited for the lock.
            if self._server is None:
                self._server = _ForkServer()
            return self._server

    async def _run(self, server: "_ForkServer", job: DecodingTask) -> Processed | Refusal | LongVideo | Crash:
        line, watch = server.begin()
        ended: ChildExit | None = None
        try:
            async with asyncio.timeout(job.limits.wall_seconds):
                said = await _converse(line, msgspec.json.encode(job))
                # A decoder that a file has taken over could answer without end.
                if len(said) > ANSWER_BYTES:
                    raise ChildDied(f"The child answered more than {ANSWER_BYTES} bytes.")
                ended = _ended(await _read(watch))
        except TimeoutError:
            said = None
        finally:
            line.close()
            # Also when the caller was cancelled: no child outlives its task.
            if ended is None:
                ended = await self._kill(server, watch)
            watch.close()
            if ended is not None and self._on_ended is not None:
                self._on_ended(ended)
        if said is None:
            raise _overdue(ended, job.limits)
        return _understood(said, ended)

    async def _kill(self, server: "_ForkServer", watch: socket.socket) -> ChildExit | None:
        """Has the fork server kill the child and waits for its end; kills the fork server if it does not answer."""
        with contextlib.suppress(OSError):
            watch.shutdown(socket.SHUT_WR)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                return _ended(await _read(watch))
        except TimeoutError:
            # The kernel kills its children with it.
            server.process.kill()
            return None


class _ForkServer:
    """The fork server's process and the stream to it. Making one blocks for some milliseconds."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        with theirs:
            try:
                self.process = subprocess.Popen(  # noqa: S603  # our own program
                    [sys.executable, "-P", "-m", "pressroom.domains.media.forkserver", str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    env=clean_environment(),
                    start_new_session=True,
                )
            except OSError:
                self.control.close()
                raise
        self.control.setblocking(False)

    def begin(self) -> tuple[socket.socket, socket.socket]:
        """Asks for a child; returns the sockets `line` and `watch`. Raises SandboxAway when the server has gone."""
        line, childs_line = socket.socketpair()
        watch, servers_watch = socket.socketpair()
        with childs_line, servers_watch:
            try:
                socket.send_fds(self.control, [b"c"], [childs_line.fileno(), servers_watch.fileno()])
            except OSError as error:
                line.close()
                watch.close()
                raise SandboxAway("The fork server does not accept another file.") from error
        line.setblocking(False)
        watch.setblocking(False)
        return line, watch

    def stop(self) -> None:
        """Ends the process. Blocks until it has ended, STOP_SECONDS before it is killed."""
        self.control.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def clean_environment() -> dict[str, str]:
    """Returns the environment of the fork server and its children: without settings and secrets."""
    allowed = {name: os.environ[name] for name in _ALLOWED_VARIABLES if name in os.environ}
    package = str(Path(pressroom.__file__).resolve().parents[1])
    return allowed | {
        "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", "")))),
        "PYTHONDONTWRITEBYTECODE": "1",
        # Address space is limited: without these, each thread reserves 64 MB, and large images go to disk.
        "MALLOC_ARENA_MAX": "2",
        "VIPS_CONCURRENCY": "2",
        "VIPS_DISC_THRESHOLD": "2g",
    }


def check_answer(answer: Processed, kind: FileKind, folder: Path, limits: DecodingLimits) -> Processed:
    """Returns a child's answer, checked, with the actual sizes of the files. Raises ChildDied if it is invalid."""
    expected = _VIDEO_FILES if kind.is_video else _IMAGE_FILES
    names = [file.name for file in answer.files]
    # A picture that fits into the medium size has none.
    if names not in (list(expected), [name for name in expected if name != MEDIUM]):
        raise ChildDied("The child listed other files than were expected.")
    for width, height in [(file.width, file.height) for file in answer.files] + [(answer.width, answer.height)]:
        if not (1 <= width <= _LONGEST_SIDE and 1 <= height <= _LONGEST_SIDE):
            raise ChildDied("The child answered impossible dimensions.")
    timed = answer.duration is not None and 0 <= answer.duration <= limits.video_seconds + 1
    if timed is not kind.is_video and (kind.is_video or answer.duration is not None):
        raise ChildDied("The child answered an impossible duration.")
    if len(answer.placeholder) > PLACEHOLDER_BYTES or _PLACEHOLDER.fullmatch(answer.placeholder) is None:
        raise ChildDied("The child answered an invalid placeholder.")
    files = [
        Rendition(file.name, expected[file.name], file.width, file.height, _size(folder / file.name))
        for file in answer.files
    ]
    return msgspec.structs.replace(answer, files=files, size_bytes=files[0].size)


def _job(
    source: Path, kind: FileKind, folder: Path, limits: DecodingLimits, box: tuple[int, int] | None
) -> DecodingTask:
    return DecodingTask(str(source.absolute()), kind.name, str(folder.absolute()), limits, box)


def _size(path: Path) -> int:
    try:
        found = path.lstat()
    except OSError as error:
        raise ChildDied(f"The child did not write {path.name}.") from error
    # A link could lead out of the folder.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_size == 0:
        raise ChildDied(f"What the child wrote as {path.name} is not a regular file of its own.")
    return found.st_size


def _understood(said: bytes, ended: ChildExit | None) -> Processed | Refusal | LongVideo | Crash:
    if ended is None:
        raise SandboxAway("No child was made: the system refused a process, or the fork server ended.")
    if ended.status < 0:
        raise ChildDied(f"The child was killed by signal {-ended.status}.")
    if ended.status > 0:
        raise ChildDied(f"The child ended with status {ended.status}.")
    try:
        return msgspec.json.decode(said, type=Processed | Refusal | LongVideo | Crash)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ChildDied("The child ended without a valid answer.") from error


def _overdue(ended: ChildExit | None, limits: DecodingLimits) -> ChildDied:
    """Returns the error for a child that took too long: Starved if it had little CPU time, else ChildDied."""
    what = f"The child was killed after {limits.wall_seconds:g} seconds."
    starved = ended is None or ended.cpu_seconds < limits.wall_seconds / 4
    return Starved(what) if starved else ChildDied(what)


def _ended(said: bytes) -> ChildExit | None:
    return msgspec.json.decode(said, type=ChildExit) if said else None


async def _converse(line: socket.socket, job: bytes) -> bytes:
    """Sends the task and returns the answer, empty if the child died meanwhile."""
    try:
        await asyncio.get_running_loop().sock_sendall(line, job)
        line.shutdown(socket.SHUT_WR)
        return await _read(line)
    except OSError:
        return b""


async def _read(end: socket.socket) -> bytes:
    """Reads until the end of the stream, and stops after more than ANSWER_BYTES."""
    loop = asyncio.get_running_loop()
    read = bytearray()
    with contextlib.suppress(ConnectionError):
        while len(read) <= ANSWER_BYTES and (some := await loop.sock_recv(end, ANSWER_BYTES)):
            read += some
    return bytes(read)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:REASON_CHARACTERS]
