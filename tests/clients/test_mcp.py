"""`pressroom-client mcp`, installed into an environment of its own, before the client of the protocol's own SDK."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import npm
from tests.harness.process import ServerProcess
from tests.services.ports import free_port

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "clients" / "python"
pytestmark = pytest.mark.xdist_group("clients")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the package with its extra, and nothing of the server."""
    folder = tmp_path_factory.mktemp("mcp") / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    package = f"pressroom-client[mcp] @ {SOURCE.as_uri()}"
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "-q"]
    subprocess.run([*pip, "--disable-pip-version-check", package], check=True)
    return folder / "bin"


def test_tools_act_for_the_key_over_each_transport(server: ServerProcess, programs: Path, tmp_path: Path) -> None:
    key = server.create_key("alice", "posts:write", "drafts:write")
    other = server.create_key("alice", "comments:write")
    arguments = (str(programs / "pressroom-client"), server.base_url, key, other, str(free_port()))

    said = npm.run(tmp_path, str(programs / "python"), str(HERE / "mcp_story.py"), *arguments)

    seen = json.loads(said)
    for transport in ("in process", "stdio", "http"):
        told = seen[transport]
        assert told["account"] == "alice", transport
        assert told["same"] is True
        assert told["draft"] == ["draft", True]
        assert told["reads"] == ["get_post", "list_comments", "whoami"]
        assert told["destroys"] == ["delete_post", "edit_post"]
        assert set(told["tools"]) > {"create_draft", "publish_draft", "publish_post", "bounce_post", "comment"}
        assert told["refused"][0] is True
        assert "posts:delete" in told["refused"][1]
        assert told["notice"] is True
    assert seen["foreign"] == 403
    assert "drafts:write" in seen["lacking"]
    assert seen["held"].startswith("HTTP/1.1 ")
    assert key not in said
