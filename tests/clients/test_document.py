"""The OpenAPI document before the tools that others use: linters have nothing to say, generators take all of it.

Node.js with npm and Go are needed for all but the Python client; where they are missing those tests are skipped.
"""

import base64
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness import npm
from tests.harness.process import ServerProcess
from tests.media.uploads import image

HERE = Path(__file__).parent
pytestmark = pytest.mark.xdist_group("clients")
needs_node = pytest.mark.skipif(npm.missing() is not None, reason=npm.missing() or "")

needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="go missing: install Go 1.26 or newer")

PUBLISHED = {
    "status": 201,
    "content": "By a generated client",
    "same": True,
    "replayed": "true",
    "label": "Validation failed",
}
"""Results of publishing, publishing again under the same Idempotency-Key, and publishing an empty text."""

SCOPES = ("posts:write", "media:write", "comments:write")
PICTURE = base64.b64encode(image("PNG")).decode()


@pytest.fixture(scope="module")
def document(server: ServerProcess) -> Path:
    """The server's document, in a folder to work in."""
    path = server.folder / "openapi.json"
    path.write_text(server.command("openapi").stdout)
    return path


@pytest.fixture(scope="module")
def tool() -> Callable[[str], str]:
    """The path of a program of the locked npm packages."""
    folder = npm.installed(HERE)
    return lambda name: str(folder / "node_modules" / ".bin" / name)


@needs_node
def test_redocly_has_nothing_to_say(document: Path, tool: Callable[[str], str]) -> None:
    said = json.loads(npm.run(document.parent, tool("redocly"), "lint", document.name, "--format=json"))

    assert said["problems"] == []


@needs_node
def test_spectral_has_nothing_to_say(document: Path, tool: Callable[[str], str]) -> None:
    rules = str(HERE / "spectral.yaml")
    said = npm.run(
        document.parent, tool("spectral"), "lint", document.name, "--ruleset", rules, "--format=json", "--quiet"
    )

    assert json.loads(said or "[]") == []


def test_a_generated_python_client_publishes(server: ServerProcess, document: Path) -> None:
    programs = Path(sys.executable).parent
    arguments = ("--path", document.name, "--meta", "none", "--output-path", "generated", "--fail-on-warning")
    config = document.parent / "config.yaml"
    config.write_text("post_hooks: []\n")
    npm.run(document.parent, str(programs / "openapi-python-client"), "generate", *arguments, "--config", config.name)
    shutil.copy(HERE / "publish.py", document.parent)

    said = npm.run(
        document.parent, sys.executable, "publish.py", server.base_url, server.create_key("alice", *SCOPES), PICTURE
    )

    assert_all_went_well(server, json.loads(said))


@needs_node
def test_a_generated_typescript_client_publishes(
    server: ServerProcess, document: Path, tool: Callable[[str], str]
) -> None:
    folder = document.parent
    (folder / "node_modules").symlink_to(npm.installed(HERE) / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}')
    for name in ("publish.ts", "tsconfig.json"):
        shutil.copy(HERE / name, folder)
    npm.run(folder, tool("openapi-typescript"), document.name, "--output", "api.d.ts")
    npm.run(folder, tool("tsc"))

    said = npm.run(folder, "node", "out/publish.js", server.base_url, server.create_key("alice", *SCOPES), PICTURE)

    assert_all_went_well(server, json.loads(said))


@needs_node
def test_client_of_hey_api_publishes(
    server: ServerProcess, document: Path, tool: Callable[[str], str], tmp_path: Path
) -> None:
    folder = shutil.copytree(HERE / "publish_hey", tmp_path / "hey")
    shutil.copy(document, folder)
    (folder / "node_modules").symlink_to(npm.installed(HERE) / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}')
    npm.run(folder, tool("openapi-ts"), "--file", "openapi-ts.config.json")
    npm.run(folder, tool("tsc"))

    said = npm.run(folder, "node", "out/publish.js", server.base_url, server.create_key("alice", "posts:write"))

    assert json.loads(said) == PUBLISHED


@needs_go
def test_client_of_oapi_codegen_publishes(server: ServerProcess, document: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "publish_go", tmp_path / "go")
    shutil.copy(document, folder)
    npm.run(folder, "go", "tool", "oapi-codegen", "-config", "oapi.yaml", document.name)
    npm.run(folder, "go", "build", "-mod=readonly", "-o", "publish", ".")

    said = npm.run(folder, "./publish", server.base_url, server.create_key("alice", "posts:write"))

    assert json.loads(said) == PUBLISHED


def assert_all_went_well(server: ServerProcess, said: dict[str, object]) -> None:
    """The client saw what there was to see."""
    place = str(said.pop("place"))
    assert place.startswith(f"{server.base_url}/api/posts/")
    assert said == {
        "status": 201,
        "replayed": "true",
        "differs": "true",
        "same": True,
        "edited": "Edited",
        "before": ["PROCESSING"],
        "after": [["READY", "A proof"]],
        "location": "Köln",
        "comments": [[True, "Well said"]],
        "faults": [["location.latitude", "out_of_range"], ["content", "required"]],
        "label": "Validation failed",
        "absent": [404, "Not found"],
    }
