"""The programs that the page of a new secret shows run as they stand, on real deliveries, and tell forged ones."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.api.actors import Actor, body_of
from tests.api.conftest import one_engine
from tests.harness.local import LocalServer
from tests.harness.receiver import Receiver
from tests.pages.endpoint_pages import node_of, page_of, path_of, send
from tests.services.ports import free_port
from tests.services.process import wait_until
from tests.webhooks.clocked import post
from tests.webhooks.conftest import receiver
from tests.webhooks.endpoints import DELIVERING, Endpoint, webhooks_of

__all__ = ["receiver"]

pytestmark = [
    one_engine,
    pytest.mark.skipif(not all(map(shutil.which, ("bash", "curl", "openssl"))), reason="needs bash, curl and openssl"),
]

SETTINGS = DELIVERING

RECEIVERS = {
    "python": ("receiver.py", "python3"),
    "node": ("receiver.mjs", "node"),
}


@pytest.fixture(autouse=True)
def at_present(server: LocalServer) -> None:
    """The programs go by this machine's clock, so the server does too."""
    server.clock.time = int(time.time() * 1000)


class Shown:
    """The page of a new endpoint's secret, and the code to copy from it by its name."""

    def __init__(self, owner: Actor, url: str) -> None:
        path = path_of(owner.record.id, "new")
        self.page: LexborHTMLParser = page_of(send(owner, path, {"url": url, "events": ["post.created"]}))
        self.secret = self["the signing secret"]

    def __getitem__(self, label: str) -> str:
        block = next(
            block
            for block in self.page.css(".copyable")
            if node_of(block, "button").attributes.get("aria-label") == f"Copy {label}"
        )
        text = node_of(block, "code").text()
        assert node_of(block, "button").attributes["data-copy"] == text, "what is copied is what is shown"
        return text


def run(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command as somebody would who pasted it."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=_environment(**environment),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _environment(**more: str) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "no_proxy": "127.0.0.1", **more}


@contextmanager
def running(command: str, folder: Path, port: int) -> Generator[Path]:
    """A receiver that was started by a pasted command, until the end of the block. Yields the file of its output."""
    output = folder / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            ["bash", "-c", command.replace(" python3 ", " exec python3 ").replace(" node ", " exec node ")],
            cwd=folder,
            env=_environment(PORT=str(port)),
            stdout=file,
            stderr=file,
        )
        try:
            _wait_until_listening(process, port, output)
            yield output
        finally:
            process.kill()
            process.wait()


def _wait_until_listening(process: "subprocess.Popen[bytes]", port: int, output: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, output.read_text()
        with socket.socket() as each:
            if each.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("It does not listen.")


@pytest.mark.parametrize("language", RECEIVERS)
def test_a_receiver_as_shown_takes_deliveries_and_refuses_forged_ones(
    alice: Actor, tmp_path: Path, language: str
) -> None:
    name, program = RECEIVERS[language]
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    port = free_port()
    shown = Shown(alice, f"http://127.0.0.1:{port}/in")
    (tmp_path / name).write_text(shown[name])
    texts = [node.text() for node in shown.page.css(".copyable.block code")]
    command = next(text for text in texts if text.endswith(f"{program} {name}"))

    with running(command, tmp_path, port) as output:
        alice.server.clock.time = int(time.time() * 1000)
        post(alice)
        alice.server.deliver()
        route = webhooks_of(alice.record.id)
        hook = body_of(alice.web.get(route))["webhooks"][0]
        delivery = body_of(alice.web.get(f"{route}/{hook['id']}/deliveries"))["deliveries"][0]
        assert [attempt["httpCode"] for attempt in delivery["attempts"]] == [200], output.read_text()
        assert wait_until(lambda: delivery["id"] in output.read_text()), output.read_text()

        sending = shown["the command that sends a message"]
        sent = run(sending, tmp_path, WEBHOOK_SECRET=shown.secret, RECEIVER=hook["url"])
        assert sent.returncode == 0, sent
        forged = run(sending, tmp_path, WEBHOOK_SECRET="whsec_forged", RECEIVER=hook["url"])
        assert forged.returncode != 0
        assert "does not match" in forged.stdout
        assert httpx.post(hook["url"], content=b"{}").status_code == 400
        assert wait_until(lambda: output.read_text().count("webhook.test") == 1), output.read_text()


def test_shown_openssl_command_detects_a_forged_delivery(alice: Actor, receiver: Receiver, tmp_path: Path) -> None:
    shown = Shown(alice, receiver.url("/in"))
    added = body_of(alice.web.get(webhooks_of(alice.record.id)))["webhooks"][0]
    hook = Endpoint(alice, receiver, "/in", {**added, "secret": shown.secret}, alice.record.id)
    post(alice)
    alice.server.deliver()
    came = hook.received[0]
    check = f"{shown['the secret as a variable']}\n{shown['the check of a message']}"

    (tmp_path / "body.json").write_bytes(came.body)
    genuine = run(check, tmp_path, SIGNATURE=came.signature)
    assert (genuine.returncode, genuine.stdout) == (0, "genuine\n"), genuine
    for signature in ("", "t=1,v1=", came.signature.replace("t=1", "t=2"), came.signature[:-1]):
        forged = run(check, tmp_path, SIGNATURE=signature)
        assert (forged.returncode, forged.stdout) == (1, "forged\n"), signature
    (tmp_path / "body.json").write_bytes(came.body + b" ")
    assert run(check, tmp_path, SIGNATURE=came.signature).stdout == "forged\n"


def test_the_text_of_the_modules_is_that_of_the_files(alice: Actor, receiver: Receiver) -> None:
    page = Shown(alice, receiver.url("/in")).page

    for name in ("verification.py", "verification.mjs"):
        served = httpx.get(f"{alice.server.base_url}/docs/{name}").text
        assert node_of(page, f'pre[aria-label="{name}"] code').text() == served
