"""The GitHub Action of `clients/action`: its steps as they are written, run as a runner does."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.wire import Request, ask
from tests.media.uploads import image

ACTION = Path(__file__).parents[2] / "clients" / "action"
pytestmark = pytest.mark.xdist_group("clients")


@pytest.fixture
def run_step(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Runs a step of the action with inputs, in a run of this number; its outputs."""
    action: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text())

    def run_step(name: str, number: int, **inputs: str) -> dict[str, str]:
        given = {key.replace("-", "_"): each.get("default", "") for key, each in action["inputs"].items()} | inputs
        (step,) = [each for each in action["runs"]["steps"] if each["id"] == name]
        output = tmp_path / "output"
        output.write_text("")
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PRESSROOM_")},
            **{key: filled(value, given) for key, value in step.get("env", {}).items()},
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_REPOSITORY": "ann/press",
            "GITHUB_RUN_ID": str(number),
            "GITHUB_OUTPUT": str(output),
        }
        # As the runner starts `shell: bash`.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, done.stderr
        return dict(line.split("=", 1) for line in output.read_text().splitlines())

    return run_step


def filled(value: str, inputs: dict[str, str]) -> str:
    """The value of an expression such as `${{ inputs.text }}`."""
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1].replace("-", "_")], value)


def test_run_that_is_repeated_publishes_once(
    server: ServerProcess, run_step: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    owner = Owner(server, "workflow")
    key = owner.key("workflow", ["posts:write", "media:write", "drafts:write"])
    (tmp_path / "proof.png").write_bytes(image("PNG"))
    given = {"url": server.base_url, "api_key": key, "text": "Released $(date) `id` 1.4", "media": "proof.png\n"}
    run_step("install", 7)

    first, again = (run_step("publish", 7, **given) for _ in range(2))
    other = run_step("publish", 8, url=server.base_url, api_key=key, text="Next", visibility="FOLLOWERS")
    draft = run_step("publish", 8, url=server.base_url, api_key=key, text="Later", draft="true", id="later")

    assert first == again
    posts = ask(Request(server.port, "GET", "/api/posts", {"Cookie": owner.cookie})).json()["posts"]
    assert [post["id"] for post in posts] == [other["id"], first["id"]]
    assert posts[1]["content"] == given["text"]
    assert posts[1]["permalink"] == first["permalink"]
    assert len(posts[1]["media"]) == 1
    assert posts[0]["visibility"] == "FOLLOWERS"
    assert (draft["permalink"], len(draft["id"])) == ("", 26)
