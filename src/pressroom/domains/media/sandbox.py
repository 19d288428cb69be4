"""Decodes files in child processes, as the server process sees it: one call, an answer or one of two errors.

    async with Sandbox() as sandbox:
        processed = await sandbox.process(source, FileKind.JPEG, folder)

Nothing is decoded in this process, and nothing that a child says is believed before it was checked.
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

_KEPT_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")
_PLACEHOLDER: Final = re.compile(r"data:image/webp;base64,[A-Za-z0-9+/]+={0,2}")
_LONGEST_SIDE: Final = 16_384
_IMAGE_FILES: Final = {LARGE: WEBP, THUMBNAIL: WEBP}
_VIDEO_FILES: Final = {VIDEO: MP4, POSTER: WEBP, THUMBNAIL: WEBP}


class Sandbox:
    """Processes files in children of one fork server, which is started at the first file and again when it died.

    How many files are processed at once is the caller's business. `on_ended` is told how each child ended.
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
        """The fork server's process; None when there is none."""
        return self._server.process.pid if self._server is not None else None

    async def process(
        self, source: Path, kind: FileKind, folder: Path, limits: DecodingLimits | None = None
    ) -> Processed:
        """Decodes `source`, which was sniffed as `kind`, and writes what is served for it into `folder`.

        Raises Undecodable with a reason for the owner, TakesLong, or ChildDied, after which `folder` may hold anything.
        When it returns or raises, the child has ended.
        """
        limits = limits or DecodingLimits()
        job = _job(source, kind, folder, limits)
        server = await self._running()
        answer = await self._run(server, job)
        match answer:
            case Refusal(reason):
                raise Undecodable(_printable(reason))
            case LongVideo():
                raise TakesLong
            case Crash(what):
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
            if self._server is None:
                self._server = _ForkServer()
            return self._server

    async def _run(self, server: "_ForkServer", job: DecodingTask) -> Processed | Refusal | LongVideo | Crash:
        line, watch = server.begin()
        ended: ChildExit | None = None
        try:
            async with asyncio.timeout(job.limits.wall_seconds):
                said = await _converse(line, msgspec.json.encode(job))
                if len(said) > ANSWER_BYTES:
                    raise ChildDied(f"The child said more than {ANSWER_BYTES} bytes.")
                ended = _ended(await _read(watch))
        except TimeoutError:
            said = None
        finally:
            line.close()
            if ended is None:
                ended = await self._kill(server, watch)
            watch.close()
            if ended is not None and self._on_ended is not None:
                self._on_ended(ended)
        if said is None:
            raise _overdue(ended, job.limits)
        return _understood(said, ended)

    async def _kill(self, server: "_ForkServer", watch: socket.socket) -> ChildExit | None:
        """Has the child killed and waits until it is; when the fork server does not answer, ends that with it."""
        with contextlib.suppress(OSError):
            watch.shutdown(socket.SHUT_WR)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                return _ended(await _read(watch))
        except TimeoutError:
            # Its children die with it, by the kernel's hand.
            server.process.kill()
            return None


class _ForkServer:
    """The fork server's process and the stream to it. To make one blocks for some milliseconds."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603  # our own program
                [sys.executable, "-P", "-m", "pressroom.domains.media.forkserver", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=clean_environment(),
                start_new_session=True,
            )
        self.control.setblocking(False)

    def begin(self) -> tuple[socket.socket, socket.socket]:
        """Asks for a child: the line to it and the watch over it. Raises ChildDied when there is no server."""
        line, childs_line = socket.socketpair()
        watch, servers_watch = socket.socketpair()
        with childs_line, servers_watch:
            try:
                socket.send_fds(self.control, [b"c"], [childs_line.fileno(), servers_watch.fileno()])
            except OSError as error:
                line.close()
                watch.close()
                raise SandboxAway("The process that makes children takes no more jobs.") from error
        line.setblocking(False)
        watch.setblocking(False)
        return line, watch

    def stop(self) -> None:
        """Ends the process. Blocks until it ended, a few seconds at most."""
        self.control.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def clean_environment() -> dict[str, str]:
    """The environment of the fork server and of its children: no setting, no secret, nothing unknown."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    package = str(Path(pressroom.__file__).resolve().parents[1])
    return kept | {
        "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", "")))),
        "PYTHONDONTWRITEBYTECODE": "1",
        # Address space is limited: without these, each thread reserves 64 MB, and large images go to disk.
        "MALLOC_ARENA_MAX": "2",
        "VIPS_CONCURRENCY": "2",
        "VIPS_DISC_THRESHOLD": "2g",
    }


def check_answer(answer: Processed, kind: FileKind, folder: Path, limits: DecodingLimits) -> Processed:
    """What a child said, with everything checked that can be; sizes are those of the files. Raises ChildDied."""
    expected = _VIDEO_FILES if kind.is_video else _IMAGE_FILES
    if [file.name for file in answer.files] != list(expected):
        raise ChildDied("The child named other files than it was asked for.")
    for width, height in [(file.width, file.height) for file in answer.files] + [(answer.width, answer.height)]:
        if not (1 <= width <= _LONGEST_SIDE and 1 <= height <= _LONGEST_SIDE):
            raise ChildDied("The child named impossible dimensions.")
    timed = answer.duration is not None and 0 <= answer.duration <= limits.video_seconds + 1
    if timed is not kind.is_video and (kind.is_video or answer.duration is not None):
        raise ChildDied("The child named an impossible duration.")
    if len(answer.placeholder) > PLACEHOLDER_BYTES or _PLACEHOLDER.fullmatch(answer.placeholder) is None:
        raise ChildDied("The child sent a placeholder that is none.")
    files = [
        Rendition(file.name, expected[file.name], file.width, file.height, _size(folder / file.name))
        for file in answer.files
    ]
    return msgspec.structs.replace(answer, files=files, size_bytes=files[0].size)


def _job(source: Path, kind: FileKind, folder: Path, limits: DecodingLimits) -> DecodingTask:
    return DecodingTask(str(source.absolute()), kind.name, str(folder.absolute()), limits)


def _size(path: Path) -> int:
    try:
        found = path.lstat()
    except OSError as error:
        raise ChildDied(f"The child did not write {path.name}.") from error
    # A link could lead out of the folder.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_size == 0:
        raise ChildDied(f"What the child wrote as {path.name} is no file of its own.")
    return found.st_size


def _understood(said: bytes, ended: ChildExit | None) -> Processed | Refusal | LongVideo | Crash:
    if ended is None:
        raise SandboxAway("There was no child: no process could be made, or what makes them ended.")
    if ended.status < 0:
        raise ChildDied(f"The child was killed by signal {-ended.status}.")
    if ended.status > 0:
        raise ChildDied(f"The child ended with status {ended.status}.")
    try:
        return msgspec.json.decode(said, type=Processed | Refusal | LongVideo | Crash)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ChildDied("The child ended without a sensible answer.") from error


def _overdue(ended: ChildExit | None, limits: DecodingLimits) -> ChildDied:
    """A child that hardly ran in all its time was starved by others, whatever its file is like."""
    what = f"The child was killed after {limits.wall_seconds:g} seconds."
    starved = ended is None or ended.cpu_seconds < limits.wall_seconds / 4
    return Starved(what) if starved else ChildDied(what)


def _ended(said: bytes) -> ChildExit | None:
    return msgspec.json.decode(said, type=ChildExit) if said else None


async def _converse(line: socket.socket, job: bytes) -> bytes:
    """Sends the job and reads the answer. A child that died meanwhile has answered nothing."""
    try:
        await asyncio.get_running_loop().sock_sendall(line, job)
        line.shutdown(socket.SHUT_WR)
        return await _read(line)
    except OSError:
        return b""


async def _read(end: socket.socket) -> bytes:
    """What arrives until the end, ANSWER_BYTES of it at most."""
    loop = asyncio.get_running_loop()
    read = bytearray()
    with contextlib.suppress(ConnectionError):
        while len(read) <= ANSWER_BYTES and (some := await loop.sock_recv(end, ANSWER_BYTES)):
            read += some
    return bytes(read)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:REASON_CHARACTERS]
