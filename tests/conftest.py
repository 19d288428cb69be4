"""Fixtures for the whole suite: engines, servers, clients."""

import contextlib
import importlib
import inspect
import itertools
import os
import random
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest
from xdist.remote import Producer

from tests.harness.databases import migrated_database, migrated_schema
from tests.harness.local import LocalServer
from tests.harness.process import ServerProcess
from tests.harness.quick import choose_quick, is_left_out
from tests.harness.shares import ByModule, in_turn
from tests.harness.trust import TRUST
from tests.harness.unsynced import forgo_fsync
from tests.services import postgres, redis
from tests.services.postgres_cluster import PostgresCluster
from tests.services.session import run_folder, session_server

_numbers = itertools.count()
_POSTGRES = pytest.StashKey[postgres.PostgresServer]()

FIXED_ORDER = 71348150
"""The order of every run that names none: mixed, so that tests that wait run beside tests that compute."""

WHOLE_PROCESSES = {"e2e", "races", "clients"}
"""Folders of tests that start, kill and install much, and have more time for it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Lets an order of the tests be repeated."""
    parser.addoption(
        "--order",
        default="fixed",
        help="Shuffle by this number, which the header of a run shows; 'random' draws one.",
    )
    parser.addoption(
        "--schemas",
        action="store_true",
        help="Put all installations on PostgreSQL into one database, each in a schema of its own.",
    )
    parser.addoption("--suite", choices=("quick", "rest", "all"), default="all", help="Which tests to run.")


def pytest_configure(config: pytest.Config) -> None:
    """Chooses the order of the tests and the draw of examples; a worker of pytest-xdist is given those of its run."""
    given: str = getattr(config, "workerinput", {}).get("order", config.option.order)
    if given == "fixed":
        given = str(FIXED_ORDER)
    config.option.order = str(random.SystemRandom().randrange(10_000)) if given == "random" else given
    # How long an example takes says how busy the machine is, and nothing of the code.
    hypothesis.settings.register_profile(
        "suite",
        deadline=None,
        derandomize=config.option.order == str(FIXED_ORDER),
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    hypothesis.settings.load_profile("suite")
    forgo_fsync()
    _give_answers_time()


def _give_answers_time() -> None:
    """Lets httpx wait for an answer as long as a busy machine may need, unless a test names its own time-out."""
    usual: httpx.Timeout = inspect.signature(httpx.get).parameters["timeout"].default
    usual.connect = usual.read = usual.write = usual.pool = 60


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Gives a worker the order of its run."""
    node.workerinput["order"] = node.config.option.order


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByModule:
    """Shares a run out among its workers, in the order of its collection."""
    config.option.loadscopereorder = False
    return ByModule(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Imports a worker's share of the modules before pytest lists all of them.

    In a fresh clone pytest rewrites the assertions of each module, which takes longer than to import it rewritten. So
    each worker rewrites some, and finds the others rewritten.
    """
    given: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if given is None or session.config.option.suite == "all":
        return
    files = sorted(path.relative_to(session.config.rootpath) for path in Path(__file__).parent.rglob("test_*.py"))
    share = slice(int(given["workerid"].removeprefix("gw")), None, given["workercount"])
    for file in files[share]:
        if session.config.option.suite == "rest" or not is_left_out(file):
            # An exception of a module, also a skip, is reported when pytest lists the module.
            with contextlib.suppress(Exception, pytest.skip.Exception):
                importlib.import_module(".".join(file.with_suffix("").parts))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves modules without a test of the quick suite unread: each worker would import and list them."""
    below = collection_path.relative_to(config.rootpath) if collection_path.is_relative_to(config.rootpath) else None
    return True if config.option.suite == "quick" and below and is_left_out(below) else None


def pytest_report_header(config: pytest.Config) -> str:
    """Returns the line that says how to repeat the order of this run."""
    return f"order: --order {config.option.order}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Gives tests of whole processes more time, and shuffles the modules and the tests of each, long ones early.

    Tests of a module stay together, and pytest sees to it afterwards that those of one server do.
    """
    _choose(config, items)
    for item in items:
        if item.path.relative_to(config.rootpath).parts[1] in WHOLE_PROCESSES:
            item.add_marker(pytest.mark.timeout(900))
    chance = random.Random(int(config.option.order))
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    order = sorted(modules)
    chance.shuffle(order)
    for tests in modules.values():
        chance.shuffle(tests)
    items[:] = [item for name in in_turn(order) for item in modules[name]]
    return (yield)


def _choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the tests of the suite that the run names."""
    suite: str = config.option.suite
    if suite == "all":
        return
    quick = choose_quick(items)
    config.hook.pytest_deselected(items=[item for item in items if (item in quick) is (suite == "rest")])
    items[:] = [item for item in items if (item in quick) is (suite == "quick")]


@pytest.fixture(scope="session")
def postgres_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[postgres.PostgresServer]:
    """A real PostgreSQL, shared by the whole run."""
    if reason := postgres.available():
        pytest.skip(reason)
    with session_server(run_folder(tmp_path_factory.getbasetemp()), "postgres") as server:
        request.config.stash[_POSTGRES] = server
        yield server


@pytest.fixture(scope="module", autouse=True)
def _databases_dropped(request: pytest.FixtureRequest) -> Iterator[None]:
    """Removes the databases of a module's tests after them, so that a run needs little disk."""
    yield
    if server := request.config.stash.get(_POSTGRES, None):
        server.drop_databases()


@pytest.fixture
def cluster(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresCluster]:
    """A primary of the test's own, whose COMMIT waits for its only standby."""
    if reason := postgres.available():
        pytest.skip(reason)
    cache = run_folder(tmp_path_factory.getbasetemp())
    with PostgresCluster.start(tmp_path / "cluster", standbys=1, cache=cache) as started:
        yield started


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redis.RedisServer]:
    """A real Redis, shared by the whole run."""
    if reason := redis.available():
        pytest.skip(reason)
    with session_server(run_folder(tmp_path_factory.getbasetemp()), "redis") as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def engine_settings(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, object]:
    """Settings for a database of its own, up to date and without rows: once on SQLite, once on PostgreSQL."""
    return database_settings(request, str(request.param))


def database_settings(request: pytest.FixtureRequest, engine: str) -> dict[str, object]:
    """Settings that point at a new database of `engine`, up to date and without rows."""
    if engine == "sqlite":
        return {}
    server: postgres.PostgresServer = request.getfixturevalue("postgres_server")
    tmp_path_factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    name = f"test_{os.getpid()}_{next(_numbers)}"
    folder = run_folder(tmp_path_factory.getbasetemp())
    if request.config.option.schemas:
        return migrated_schema(server, folder, name)
    return {"DATABASE_URL": migrated_database(server, folder, name)}


@pytest.fixture
def local_server(tmp_path: Path) -> Iterator[Callable[..., LocalServer]]:
    """Makes servers on a settable clock: `local_server(REQUESTS_PER_MINUTE=5)`."""
    made: list[LocalServer] = []

    def make(**settings: object) -> LocalServer:
        server = LocalServer(tmp_path / f"server{len(made)}", **settings).start()
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop()


@pytest.fixture
def process_server(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Makes server processes, not started: `process_server(PORT=…)`."""
    made: list[ServerProcess] = []

    def make(**settings: object) -> ServerProcess:
        server = ServerProcess(tmp_path / f"server{len(made)}", **settings)
        made.append(server)
        return server

    yield make
    for server in made:
        server.kill()


@pytest.fixture
def client() -> Iterator[Callable[..., httpx.Client]]:
    """Makes HTTP clients: `client(server, key)`."""
    made: list[httpx.Client] = []

    def make(server: LocalServer | ServerProcess, key: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        made.append(httpx.Client(base_url=server.base_url, headers=headers, timeout=60, verify=TRUST))
        return made[-1]

    yield make
    for each in made:
        each.close()
