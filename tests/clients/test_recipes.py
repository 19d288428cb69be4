"""The programs of docs/recipes.md, as they stand there, with a real server."""

import contextlib
import hashlib
import hmac
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.harness import npm
from tests.harness.lossy_proxy import LossyProxy
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.wire import Reply, Request, ask
from tests.services.ports import free_port
from tests.services.process import wait_until

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
PROGRAM: Final = re.compile(r"```(?:python|ts|go|sh)\n(?P<text>(?:#|//) (?P<name>\w+\.\w+).*?)```", re.DOTALL)
PAGE: Final = (ROOT / "docs" / "recipes.md").read_text("utf-8")
PROGRAMS: Final = {found["name"]: found["text"] for found in PROGRAM.finditer(PAGE)}
SECRET: Final = "whsec_0123456789abcdefghijklmnopqrstuv"
LANGUAGES: Final = (
    "py",
    pytest.param("ts", marks=pytest.mark.skipif(npm.missing() is not None, reason=npm.missing() or "")),
    pytest.param("go", marks=pytest.mark.skipif(shutil.which("go") is None, reason="go missing: install Go")),
    pytest.param("sh", marks=pytest.mark.skipif(shutil.which("curl") is None, reason="curl missing")),
)
PATIENCE: Final = 60
pytestmark = pytest.mark.xdist_group("clients")

Command = Callable[[str], list[str]]


@pytest.fixture
def command(tmp_path: Path, request: pytest.FixtureRequest, server: ServerProcess) -> Command:
    """Writes a program of the page into a folder of its own, and returns the command that runs it there."""

    def command(name: str) -> list[str]:
        (tmp_path / name).write_text(PROGRAMS[name])
        match name.partition(".")[2]:
            case "py":
                (tmp_path / "verification.py").write_bytes(served(server, "verification.py"))
                return [sys.executable, name]
            case "ts":
                compile_typescript(request, server, tmp_path, name)
                return ["node", name.replace(".ts", ".js")]
            case "go":
                npm.run(tmp_path, "go", "build", "-o", "program", name)
                return ["./program"]
            case _:
                return ["sh", name]

    return command


def compile_typescript(request: pytest.FixtureRequest, server: ServerProcess, folder: Path, name: str) -> None:
    """Compiles a program strictly, beside the packages that it imports."""
    client: Path = request.getfixturevalue("typescript")
    modules = folder / "node_modules"
    modules.mkdir(exist_ok=True)
    installed = npm.installed(HERE) / "node_modules"
    (modules / "@types").symlink_to(installed / "@types")
    (modules / "undici-types").symlink_to(installed / "undici-types")
    package = shutil.copytree(client.parent, modules / "pressroom-client")
    (package / "package.json").write_text('{"name": "pressroom-client", "type": "module", "exports": "./index.js"}')
    (folder / "package.json").write_text('{"type": "module"}')
    for each in ("verification.mjs", "verification.d.mts"):
        (folder / each).write_bytes(served(server, each))
    options = ("--strict", "--target", "ES2022", "--module", "NodeNext", "--types", "node", "--skipLibCheck")
    npm.run(folder, str(installed / ".bin" / "tsc"), name, *options)


def served(server: ServerProcess, name: str) -> bytes:
    """A file that the server offers for receivers."""
    return ask(Request(server.port, "GET", f"/docs/{name}")).body


def environment(url: str, key: str, **more: str) -> dict[str, str]:
    """The environment that a program of the page asks for."""
    source = str(ROOT / "clients" / "python" / "src")
    return {**os.environ, "PYTHONPATH": source, "PRESSROOM_URL": url, "PRESSROOM_API_KEY": key, **more}


@contextmanager
def running(command: list[str], folder: Path, environment: dict[str, str]) -> Generator[Path]:
    """A program in the background; the file with its output."""
    output = folder / "output"
    with output.open("ab") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, start_new_session=True)
        try:
            yield output
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def listens(port: int) -> bool:
    """Whether a program accepts connections."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2):
        return True
    return False


@pytest.mark.parametrize("language", LANGUAGES)
def test_recipe_publishes_once_when_an_answer_is_lost_and_when_run_again(
    server: ServerProcess, command: Command, tmp_path: Path, language: str
) -> None:
    owner = Owner(server, f"publish_{language}")
    losing = iter([True])
    proxy = LossyProxy(server.port, lambda: next(losing, False))
    text = f"Published by {language}"
    (tmp_path / "post.json").write_text(json.dumps({"content": text}))
    arguments = ["post.json" if language == "sh" else text, "release-7"]
    program = command(f"publish.{language}")

    for _ in range(2):
        said = run([*program, *arguments], tmp_path, environment(proxy.base_url, owner.key()))
        assert "/post/" in said
    proxy.close()

    assert proxy.lost == 1
    assert ask(who_am_i(server, owner.key())).json()["totalPosts"] == 1


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """The output of a program that must succeed."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def signature(body: bytes, secret: str) -> str:
    """The header of a delivery that is signed now."""
    stamp = int(time.time())
    return f"t={stamp},v1={hmac.new(secret.encode(), b'%d.' % stamp + body, hashlib.sha256).hexdigest()}"


def deliver(port: int, post_id: str, secret: str = SECRET) -> int:
    """Delivers an event to a receiver, as webhooks do, under an envelope id of its own; the status of its answer."""
    envelope = {"event": "post.created", "id": f"evt_{uuid.uuid4()}", "data": {"post": {"id": post_id}}}
    body = json.dumps(envelope).encode()
    headers = {"X-Service-Signature": signature(body, secret)}
    return httpx.post(f"http://127.0.0.1:{port}/", content=body, headers=headers, timeout=PATIENCE).status_code


@pytest.mark.parametrize("language", LANGUAGES[:3])
def test_recipe_receives_verifies_deduplicates_and_recovers(
    server: ServerProcess, command: Command, tmp_path: Path, language: str
) -> None:
    owner, port = Owner(server, f"receive_{language}"), free_port()
    key = owner.key(scopes=["posts:write", "events:read"])
    told = environment(server.base_url, key, PRESSROOM_WEBHOOK_SECRET=SECRET, PORT=str(port))
    program = command(f"receive.{language}")
    with running(program, tmp_path, told):
        assert wait_until(lambda: listens(port))
    missed = ask(publish(server, key, "Missed")).json()["id"]

    with running(program, tmp_path, told) as output:
        assert wait_until(lambda: listens(port))
        assert wait_until(lambda: output.read_text() == f"post.created {missed}\n"), output.read_text()
        assert deliver(port, missed, "whsec_another") == 400
        assert [deliver(port, each) for each in (missed, "01NEW", "01NEW")] == [204] * 3

        expected = f"post.created {missed}\npost.created 01NEW\n"
        assert wait_until(lambda: output.read_text() == expected), output.read_text()
    assert output.read_text() == expected


def test_recipe_in_shell_reads_each_event_once_and_resumes(
    server: ServerProcess, command: Command, tmp_path: Path
) -> None:
    owner = Owner(server, "receive_sh")
    key = owner.key(scopes=["posts:write", "events:read"])
    told = environment(server.base_url, key)
    program = command("receive.sh")
    with running(program, tmp_path, told):
        assert wait_until((tmp_path / "cursor").exists)
    missed = ask(publish(server, key, "Missed")).json()["id"]

    for _ in range(2):
        with running(program, tmp_path, told) as output:
            assert wait_until(lambda output=output: missed in output.read_text())

    (line,) = (tmp_path / "output").read_text().splitlines()
    assert json.loads(line)["data"]["post"]["id"] == missed


@pytest.mark.parametrize(("secret", "status"), [(SECRET, 0), ("whsec_another", 1)])
def test_recipe_of_openssl_verifies(command: Command, tmp_path: Path, secret: str, status: int) -> None:
    body = b'{"event":"webhook.test"}\n'
    (tmp_path / "body").write_bytes(body)

    done = subprocess.run(
        [*command("verify.sh"), "body", signature(body, secret)],
        cwd=tmp_path,
        env=environment("", "", PRESSROOM_WEBHOOK_SECRET=SECRET),
        stdout=subprocess.PIPE,
        check=False,
    )

    assert (done.returncode, done.stdout) == (status, b"" if status else b"genuine\n")


def test_workflow_of_n8n_publishes_once(server: ServerProcess) -> None:
    """The HTTP node as n8n sends it: with its credential, and the expressions filled in."""
    owner = Owner(server, "workflow_n8n")
    (workflow,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (node,) = [each for each in json.loads(workflow)["nodes"] if each["type"] == "n8n-nodes-base.httpRequest"]
    parameters = node["parameters"]
    values = {"$execution.id": "231", "$itemIndex": "0", "$json.text": "From a workflow"}

    def filled(part: str) -> dict[str, str]:
        return {each["name"]: expression(each["value"], values) for each in parameters[part]["parameters"]}

    def send() -> Reply:
        path = str(parameters["url"]).removeprefix("https://press.example.org")
        headers = {"Authorization": f"Bearer {owner.key()}", **filled("headerParameters")}
        return ask(Request(server.port, parameters["method"], path, headers, filled("bodyParameters")))

    assert [send().status for _ in range(2)] == [201, 200]
    assert ask(who_am_i(server, owner.key())).json()["totalPosts"] == 1


def expression(value: str, values: dict[str, str]) -> str:
    """The text of a parameter: an expression begins with `=` and has its parts in braces."""
    if not value.startswith("="):
        return value
    return re.sub(r"\{\{ (.*?) \}\}", lambda found: values[found[1]], value[1:])
