"""A server lives from its first user to its last, however they end."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .kinds import ServerClass, ask, both_kinds, needs_redis
from .postgres import PostgresServer
from .process import answers, runs, wait_until
from .redis import RedisServer
from .session import session_server

SOON = 60.0
# A process that starts or joins a server, tells its port, and lives until its input closes.
USER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from services.postgres import PostgresServer
from services.redis import RedisServer
from services.session import session_server
folder = Path(sys.argv[2])
server = eval(sys.argv[3])
print(server.port, getattr(server, "_process") and server.pid, getattr(server, "_home", ""), flush=True)
sys.stdin.read()
"""


class User:
    """A process that uses a server, as a pytest-xdist worker does."""

    def __init__(self, folder: Path, expression: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", USER, str(Path(__file__).parents[1]), str(folder), expression],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def told(self) -> list[str]:
        """Wait until it has its server: port, process number (None if shared) and PostgreSQL's folder."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().split()

    def leave(self) -> None:
        self._process.communicate()

    def die(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def users(tmp_path: Path) -> Iterator[Callable[[str], User]]:
    started: list[User] = []

    def start(expression: str) -> User:
        started.append(User(tmp_path, expression))
        return started[-1]

    yield start
    for user in started:
        user.die()


def shared_pid(folder: Path, kind: str) -> int:
    return int(json.loads((folder / f"{kind}.lease").read_text())["pid"])


@both_kinds
def test_own_server_ends_when_its_user_is_killed(server_class: ServerClass, users: Callable[[str], User]) -> None:
    user = users(f"{server_class.__name__}.start(folder)")
    _, pid, *home = user.told()
    user.die()
    assert wait_until(lambda: not runs(int(pid)), SOON)
    assert wait_until(lambda: not any(Path(name).exists() for name in home), SOON)


@both_kinds
def test_shared_server_ends_when_its_last_user_is_killed(
    server_class: ServerClass, users: Callable[[str], User], tmp_path: Path
) -> None:
    kind = "postgres" if server_class is PostgresServer else "redis"
    everyone = [users(f"session_server(folder, {kind!r})") for _ in range(3)]
    assert len({user.told()[0] for user in everyone}) == 1
    pid = shared_pid(tmp_path, kind)
    assert runs(pid)
    for user in everyone:
        user.die()
    assert wait_until(lambda: not runs(pid), SOON)


@needs_redis
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_a_killed_guard_takes_its_server_along(tmp_path: Path) -> None:
    with RedisServer.start(tmp_path) as server:
        server._own_process()._guard.kill()
        assert wait_until(lambda: not answers(server.port), SOON)


@needs_redis
def test_lives_from_the_first_user_to_the_last(users: Callable[[str], User], tmp_path: Path) -> None:
    joining = "session_server(folder, 'redis')"
    first = users(joining)
    port, *_ = first.told()
    second = users(joining)
    assert second.told()[0] == port
    pid = shared_pid(tmp_path, "redis")
    first.die()
    third = users(joining)
    assert third.told()[0] == port
    second.leave()
    assert runs(pid)
    third.leave()
    # Not before: the guard and a new user wait for the same lock, and either may get it.
    assert wait_until(lambda: not runs(pid), SOON)
    users(joining).told()
    assert shared_pid(tmp_path, "redis") != pid


@needs_redis
def test_a_dead_shared_server_is_replaced(tmp_path: Path) -> None:
    with session_server(tmp_path, "redis"):
        dead = shared_pid(tmp_path, "redis")
        os.kill(dead, 9)
        assert wait_until(lambda: not runs(dead), SOON)
        with session_server(tmp_path, "redis") as server:
            assert ask(server)
            with pytest.raises(RuntimeError, match="shared"):
                server.kill()
