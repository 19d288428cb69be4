"""What tests of the clients share: a real server, and the TypeScript client as it is published."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import npm
from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A real server with its worker, and an account."""
    server = ServerProcess(tmp_path_factory.mktemp("clients"), **ROOMY).start()
    server.create_account()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The TypeScript client, compiled."""
    folder = tmp_path_factory.mktemp("typescript")
    tsc = npm.installed(HERE) / "node_modules" / ".bin" / "tsc"
    npm.run(HERE.parents[1] / "clients" / "typescript", str(tsc), "--outDir", str(folder))
    (folder / "package.json").write_text('{"type": "module"}')
    return folder / "index.js"
