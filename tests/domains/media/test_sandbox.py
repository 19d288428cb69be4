"""Children: how they end, their restrictions, and that nothing of them stays."""

import asyncio
import base64
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

import psutil
import pytest
import uvloop

from pressroom.domains.media.decoding import LARGE, MP4, POSTER, THUMBNAIL, VIDEO, WEBP
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.sandbox import (
    ChildDied,
    ChildExit,
    DecodingLimits,
    Processed,
    Rendition,
    Sandbox,
    Undecodable,
    _understood,  # pyright: ignore[reportPrivateUsage]  # what a child says is judged here
    check_answer,
)
from tests.corpus.clips import Recipe, write
from tests.domains.media.conftest import Studio

DEADLINE = 60.0
PIXEL = "data:image/webp;base64," + base64.b64encode(b"RIFF").decode()


async def until(holds: Callable[[], bool]) -> None:
    """Waits for a condition, DEADLINE seconds at most."""
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end, "the condition never held"
        await asyncio.sleep(0.01)


def children(sandbox: Sandbox) -> list[psutil.Process]:
    """The fork server's children, those that ended and were not waited for among them."""
    return psutil.Process(sandbox.pid).children() if sandbox.pid else []


class Stuck:
    """A job whose source is a pipe into which nothing is ever written: its child waits."""

    def __init__(self, sandbox: Sandbox, folder: Path, limits: DecodingLimits | None = None) -> None:
        self.pipe = folder / f"pipe{time.monotonic_ns()}"
        os.mkfifo(self.pipe)
        self.sandbox = sandbox
        self.task = asyncio.create_task(sandbox.process(self.pipe, FileKind.JPEG, folder, limits))

    async def child(self) -> psutil.Process:
        """The child, once it is confined and waits for bytes."""
        await until(lambda: hold(self.pipe))
        (child,) = children(self.sandbox)
        return child


_held: list[int] = []


def hold(pipe: Path) -> bool:
    """Whether somebody reads from `pipe`; from then on it is held open, so that its reader waits."""
    try:
        _held.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    yield
    while _held:
        os.close(_held.pop())


@contextlib.asynccontextmanager
async def opened(ended: list[ChildExit] | None = None) -> AsyncGenerator[Sandbox]:
    """A sandbox of its own."""
    async with Sandbox(ended.append if ended is not None else None) as sandbox:
        yield sandbox


def test_a_child_that_takes_too_long_is_killed(tmp_path: Path, corpus: Callable[[str], Path]) -> None:
    async def story() -> None:
        ended: list[ChildExit] = []
        async with opened(ended) as sandbox:
            await sandbox.process(corpus("plain.jpg"), FileKind.JPEG, tmp_path)  # From now on a fork server runs.
            ended.clear()
            with pytest.raises(ChildDied, match="killed after 2 seconds"):
                await Stuck(sandbox, tmp_path, DecodingLimits(wall_seconds=2)).task
            assert [how.status for how in ended] == [-signal.SIGKILL]
            assert children(sandbox) == []

    asyncio.run(story())


def test_a_child_that_takes_too_much_of_the_processor_is_killed(tmp_path: Path) -> None:
    second = tmp_path / "second.mpg"
    write(second, Recipe("mpeg2video", "mpeg2video", audio=None, size=(1280, 720)))
    minute = tmp_path / "minute.mpg"
    minute.write_bytes(60 * second.read_bytes())

    async def story() -> None:
        async with opened() as sandbox:
            with pytest.raises(ChildDied, match=r"signal (9|24)"):
                await sandbox.process(minute, FileKind.MPEG, tmp_path, DecodingLimits(cpu_seconds=1))

    asyncio.run(story())


def test_a_killed_child_is_an_error_and_the_next_file_works(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    async def story() -> None:
        async with opened() as sandbox:
            stuck = Stuck(sandbox, tmp_path)
            (await stuck.child()).kill()
            with pytest.raises(ChildDied, match="signal 9"):
                await stuck.task
            assert children(sandbox) == []
            assert (await sandbox.process(corpus("plain.jpg"), FileKind.JPEG, tmp_path)).width == 120

    asyncio.run(story())


def test_a_cancelled_job_leaves_no_child(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened() as sandbox:
            stuck = Stuck(sandbox, tmp_path)
            child = await stuck.child()
            stuck.task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await stuck.task
            assert not child.is_running()
            assert children(sandbox) == []

    asyncio.run(story())


def test_when_the_fork_server_dies_its_children_do_and_another_is_started(
    corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    async def story() -> None:
        async with opened() as sandbox:
            stuck = Stuck(sandbox, tmp_path)
            child = await stuck.child()
            assert sandbox.pid is not None
            first = sandbox.pid
            os.kill(first, signal.SIGKILL)
            with pytest.raises(ChildDied, match="ended"):
                await stuck.task
            await until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
            assert (await sandbox.process(corpus("plain.jpg"), FileKind.JPEG, tmp_path)).width == 120
            assert sandbox.pid != first

    asyncio.run(story())


def test_closing_ends_everything(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened() as sandbox:
            stuck = Stuck(sandbox, tmp_path)
            child = await stuck.child()
            server = sandbox.pid
            assert server is not None
            await sandbox.close()
            with pytest.raises(ChildDied):
                await stuck.task
            assert not psutil.pid_exists(server)
            await until(lambda: not child.is_running())

    asyncio.run(story())


PARENT = """
import asyncio, sys
from pathlib import Path
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.sandbox import Sandbox

async def main():
    sandbox = Sandbox()
    job = asyncio.create_task(sandbox.process(Path(sys.argv[1]), FileKind.JPEG, Path(sys.argv[2])))
    while sandbox.pid is None:
        await asyncio.sleep(0.01)
    print(sandbox.pid, flush=True)
    await job

asyncio.run(main())
"""


def test_everything_ends_with_the_parent_however_it_dies(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-c", PARENT, str(tmp_path / "pipe"), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=_environment(), text=True) as parent:
        assert parent.stdout is not None
        server = psutil.Process(int(parent.stdout.readline()))

        async def story() -> None:
            await until(lambda: hold(tmp_path / "pipe"))
            below = server.children()
            parent.kill()
            await until(lambda: not any(one.is_running() for one in (server, *below)))

        try:
            asyncio.run(story())
        finally:
            parent.kill()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.skipif(os.geteuid() != 0, reason="The kernel shows to root alone what a process that hides itself holds.")
def test_children_know_no_secret_and_hold_no_socket_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSROOM_SECRET_KEY", "hush")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")

    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.set_inheritable(True)
            inode = f"socket:[{os.fstat(listening.fileno()).st_ino}]"
            async with opened() as sandbox:
                stuck = Stuck(sandbox, tmp_path)
                child = await stuck.child()
                for process in (child, psutil.Process(sandbox.pid)):
                    environment = process.environ()
                    assert not [name for name in environment if name.startswith(("PRESSROOM", "AWS"))]
                    assert "hush" not in environment.values()
                    assert inode not in _descriptors(process)
                # Those, the line and the source.
                await until(lambda: len(_descriptors(child)) == 5)
                assert _descriptors(child).count("/dev/null") == 3
                stuck.task.cancel()
                await asyncio.wait([stuck.task])

    asyncio.run(story())


def _descriptors(process: psutil.Process) -> list[str]:
    return [str(entry.readlink()) for entry in Path(f"/proc/{process.pid}/fd").iterdir()]


def test_it_works_below_uvloop_and_side_by_side(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    async def story() -> None:
        names = ["plain.jpg", "animated.gif", "plain.mp4", "vp8.webm", "plain.png", "cut.mp4"]
        kinds = [FileKind.JPEG, FileKind.GIF, FileKind.MP4, FileKind.WEBM, FileKind.PNG, FileKind.MP4]
        folders = [tmp_path / name for name in names]
        for folder in folders:
            folder.mkdir()
        async with opened() as sandbox:
            outcomes = await asyncio.gather(
                *(sandbox.process(corpus(n), k, f) for n, k, f in zip(names, kinds, folders, strict=True)),
                return_exceptions=True,
            )
            assert children(sandbox) == []
        assert all(isinstance(outcome, Processed) for outcome in outcomes[:-1])
        assert isinstance(outcomes[-1], Undecodable)

    uvloop.run(story())


def test_the_parent_stays_as_small_as_it_was(studio: Studio, corpus: Callable[[str], Path], tmp_path: Path) -> None:
    files = [corpus(name) for name in ("plain.jpg", "within-limits.png", "large.gif", "bomb.gif", "4k.mp4")]
    loaded = set(sys.modules)
    studio.open(files[0], tmp_path)
    before = psutil.Process().memory_info().rss
    for file in files[1:]:
        studio.open(file, tmp_path)
    assert psutil.Process().memory_info().rss - before < 20_000_000
    assert not {name.partition(".")[0] for name in set(sys.modules) - loaded} & {"pyvips", "av"}


def test_a_source_that_is_not_there_is_nobodys_fault(studio: Studio, tmp_path: Path) -> None:
    with pytest.raises(ChildDied):
        asyncio.run(studio.sandbox.process(tmp_path / "none.jpg", FileKind.JPEG, tmp_path))


def answer(folder: Path, *, video: bool = False) -> Processed:
    """A good answer, with its files."""
    names = {VIDEO: MP4, POSTER: WEBP, THUMBNAIL: WEBP} if video else {LARGE: WEBP, THUMBNAIL: WEBP}
    for name in names:
        (folder / name).write_bytes(b"abc")
    files = [Rendition(name, mime, 10, 10, 99) for name, mime in names.items()]
    return Processed(10, 10, 1.0 if video else None, 99, files, PIXEL)


def checked(said: Processed, folder: Path, *, video: bool = False) -> Processed:
    """The accepted part of an answer."""
    return check_answer(said, FileKind.MP4 if video else FileKind.PNG, folder, DecodingLimits())


@pytest.mark.parametrize("video", [False, True])
def test_a_good_answer_is_believed_but_for_sizes(tmp_path: Path, video: bool) -> None:
    found = checked(answer(tmp_path, video=video), tmp_path, video=video)
    assert [file.size for file in found.files] == [3] * len(found.files)
    assert found.size_bytes == 3


def _changed(said: Processed, **changes: object) -> Processed:
    fields = {name: getattr(said, name) for name in said.__struct_fields__}
    return Processed(**{**fields, **changes})  # type: ignore[arg-type]  # changed by name


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 0},
        {"height": 1_000_000},
        {"duration": 4.0},
        {"files": []},
        {"files": [Rendition("../../etc/passwd", WEBP, 1, 1, 1), Rendition(THUMBNAIL, WEBP, 1, 1, 1)]},
        {"files": [Rendition(LARGE, WEBP, 1, 1, 1), Rendition(LARGE, WEBP, 1, 1, 1)]},
        {"files": [Rendition(LARGE, WEBP, -1, 1, 1), Rendition(THUMBNAIL, WEBP, 1, 1, 1)]},
        {"placeholder": "javascript:alert(1)"},
        {"placeholder": PIXEL + '"><script>'},
        {"placeholder": PIXEL + "\n"},
        {"placeholder": "data:image/webp;base64," + "A" * 400},
    ],
)
def test_a_hostile_answer_is_not_believed(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(ChildDied):
        checked(_changed(answer(tmp_path), **changes), tmp_path)


@pytest.mark.parametrize("duration", [None, -1.0, 1e9, float("nan")])
def test_a_video_has_a_duration_that_can_be(tmp_path: Path, duration: float | None) -> None:
    with pytest.raises(ChildDied):
        checked(_changed(answer(tmp_path, video=True), duration=duration), tmp_path, video=True)


def test_links_and_missing_files_are_not_taken(tmp_path: Path) -> None:
    said = answer(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("hush")
    for put in (lambda path: path.symlink_to(secret), lambda path: os.link(secret, path), Path.mkdir, Path.touch):
        with contextlib.suppress(FileNotFoundError):
            (tmp_path / LARGE).unlink()
        put(tmp_path / LARGE)
        with pytest.raises(ChildDied):
            checked(said, tmp_path)
        if (tmp_path / LARGE).is_dir():
            (tmp_path / LARGE).rmdir()
    (tmp_path / LARGE).unlink()
    with pytest.raises(ChildDied, match=LARGE):
        checked(said, tmp_path)


@pytest.mark.parametrize(
    "said",
    [b"", b"{}", b"\xff", b"[" * 5000, b'{"type":"processed"}', b'{"type":"other","reason":"x"}', b'{"reason":"x"}'],
)
def test_nonsense_is_a_death(said: bytes) -> None:
    with pytest.raises(ChildDied):
        _understood(said, ChildExit(0, 0, 0.0))


def test_an_answer_of_a_child_that_failed_is_not_heard() -> None:
    with pytest.raises(ChildDied, match="signal 11"):
        _understood(b'{"type":"refusal","reason":"x"}', ChildExit(-11, 0, 0.0))
    with pytest.raises(ChildDied, match="status 3"):
        _understood(b'{"type":"refusal","reason":"x"}', ChildExit(3, 0, 0.0))
    with pytest.raises(ChildDied):
        _understood(b'{"type":"refusal","reason":"x"}', None)
