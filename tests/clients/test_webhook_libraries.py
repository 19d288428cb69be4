"""Deliveries before the libraries of other languages that verify them, and the types of the module that we serve."""

import json
import shutil
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pressroom.domains.webhooks.envelope import new_envelope_id, new_secret, request_headers, sign, sign_standard
from tests.harness import npm

HERE = Path(__file__).parent
pytestmark = pytest.mark.xdist_group("clients")
needs_node = pytest.mark.skipif(npm.missing() is not None, reason=npm.missing() or "")
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="go missing: install Go 1.21 or newer")


def deliveries() -> dict[str, dict[str, Any]]:
    """One genuine delivery of this moment, and what a forger or an old secret would make of it."""
    secret, envelope_id, at, text = new_secret(), new_envelope_id(), int(time.time()), '{"content":"Grüße 🦊"}'
    signatures = (sign(secret, at, text.encode()), sign_standard(secret, envelope_id, at, text.encode()))
    headers = request_headers("post.created", envelope_id, "Pressroom", *signatures)
    genuine = {"body": text, "headers": headers, "secret": secret}
    return {
        "genuine": genuine,
        "body": {**genuine, "body": text + " "},
        "id": {**genuine, "headers": {**headers, "webhook-id": new_envelope_id()}},
        "time": {**genuine, "headers": {**headers, "webhook-timestamp": str(at + 1)}},
        "secret": {**genuine, "secret": new_secret()},
    }


def refused(folder: Path, *command: str) -> list[list[str]]:
    """Which deliveries each library refuses, by the program's verdicts."""
    table = deliveries()
    lines = "".join(f"{json.dumps(each)}\n" for each in table.values())
    verdicts = [json.loads(line) for line in npm.run(folder, *command, given=lines).splitlines()]
    assert len(verdicts) == len(table)
    return [
        [name for name, genuine in zip(table, of_one, strict=True) if not genuine]
        for of_one in zip(*verdicts, strict=True)
    ]


@needs_node
def test_node_libraries_verify_deliveries_and_refuse_tampered_ones(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(npm.installed(HERE) / "node_modules")
    shutil.copy(HERE / "verify.mjs", tmp_path)

    assert refused(tmp_path, "node", "verify.mjs") == [["body", "id", "time", "secret"]] * 2


@needs_go
def test_go_library_verifies_deliveries_and_refuses_tampered_ones(tmp_path: Path) -> None:
    npm.run(HERE / "verify_go", "go", "build", "-mod=readonly", "-o", str(tmp_path / "verify"), ".")

    assert refused(tmp_path, "./verify") == [["body", "id", "time", "secret"]]


@needs_node
def test_types_of_the_served_module_compile(tmp_path: Path) -> None:
    modules = npm.installed(HERE) / "node_modules"
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for name in ("verification.mjs", "verification.d.mts"):
        (tmp_path / name).write_bytes((files("pressroom.receivers") / name).read_bytes())
    shutil.copy(HERE / "receive.mts", tmp_path)
    options = json.loads((HERE / "tsconfig.json").read_text())["compilerOptions"] | {"outDir": "."}
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["receive.mts"]}))

    npm.run(tmp_path, str(modules / ".bin" / "tsc"))

    assert npm.run(tmp_path, "node", "receive.mjs") == "VerificationFailed\n"
