"""The files that receivers fetch from the server and run on deliveries: Python's and Node's, by one table."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom.clock import MINUTE, SECOND
from tests.api.actors import Actor, body_of, nobody
from tests.harness.local import LocalServer
from tests.harness.receiver import Received
from tests.webhooks.clocked import post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING

SETTINGS = DELIVERING

PYTHON = """
import json, sys
import verification as v
for line in sys.stdin:
    body, signature, secrets, now = json.loads(line)
    try:
        v.verify(bytes.fromhex(body), signature, secrets, now=now)
        print("genuine", flush=True)
    except v.VerificationFailed as failed:
        print("refused: " + str(failed).replace("\\n", " "), flush=True)
"""
NODE = """
import { verify, VerificationFailed } from "./verification.mjs";
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const [body, signature, secrets, now] = JSON.parse(line);
  try {
    verify(Buffer.from(body, "hex"), signature, secrets, { now });
    console.log("genuine");
  } catch (failed) {
    if (!(failed instanceof VerificationFailed)) throw failed;
    console.log("refused: " + failed.message);
  }
}
"""

Verdicts = Callable[[list[list[Any]]], list[str]]


@pytest.fixture(params=["verification.py", "verification.mjs"])
def verdicts(request: pytest.FixtureRequest, server: LocalServer, tmp_path: Path) -> Verdicts:
    """Judges deliveries, `[body in hex, header, secrets, now]`, with a file that was fetched from the server."""
    name = str(request.param)
    answer = nobody.get(f"{server.base_url}/docs/{name}")
    assert (answer.status_code, answer.headers["x-content-type-options"]) == (200, "nosniff")
    (tmp_path / name).write_bytes(answer.content)
    if name.endswith(".py"):
        assert answer.headers["content-type"] == "text/x-python; charset=utf-8"
        (tmp_path / "receive.py").write_text(PYTHON)
        command = [sys.executable, "receive.py"]
    else:
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        node = shutil.which("node")
        if node is None:
            pytest.skip("node is not on this machine")
        (tmp_path / "receive.mjs").write_text(NODE)
        command = [node, "receive.mjs"]

    def judge(deliveries: list[list[Any]]) -> list[str]:
        lines = "".join(f"{json.dumps(each)}\n" for each in deliveries)
        ran = subprocess.run(command, input=lines, capture_output=True, text=True, cwd=tmp_path, timeout=60)
        assert ran.stderr == ""
        return ran.stdout.splitlines()

    return judge


def judged(request: Received, *secrets: str, at: int = 0, signature: str | None = None, body: bytes = b"") -> list[Any]:
    """A delivery to be judged `at` milliseconds after it was signed, with another header or body if they are given."""
    sent = re.fullmatch(r"t=([0-9]+),v1=[0-9a-f]{64}", request.signature)
    assert sent is not None
    header = request.signature if signature is None else signature
    return [(body or request.body).hex(), header, list(secrets), int(sent[1]) + at / SECOND]


def test_genuine_deliveries_and_all_others(alice: Actor, endpoint: MakeEndpoint, verdicts: Verdicts) -> None:
    hook, other = endpoint("post.created"), endpoint("post.created")
    body_of(alice.web.post("/api/posts", json={"content": "Grüße 🦊"}), 201)
    alice.server.deliver()
    secret = body_of(hook.rotate())["secret"]
    post(alice)
    alice.server.deliver()
    before, after = hook.received
    stamp, _, digest = before.signature.partition(",")
    tampered = before.body.replace(b"post.created", b"post.deleted")

    table = [
        (judged(before, hook.secret), "genuine"),
        (judged(before, hook.secret, at=5 * MINUTE), "genuine"),
        (judged(before, hook.secret, at=-5 * MINUTE), "genuine"),
        (judged(before, secret, hook.secret), "genuine"),
        (judged(after, secret, hook.secret), "genuine"),
        (judged(after, secret), "genuine"),
        (judged(before, hook.secret, signature=f"{digest}, {stamp}"), "genuine"),
        (judged(before, hook.secret, signature=f"{stamp},v1={'0' * 64},{digest}"), "genuine"),
        (judged(after, hook.secret), "does not match"),
        (judged(before, other.secret), "does not match"),
        (judged(before, hook.secret, body=tampered), "does not match"),
        (judged(before, hook.secret, body=after.body), "does not match"),
        (judged(before, hook.secret.removeprefix("whsec_")), "does not match"),
        (judged(before, hook.secret, signature=f"t={int(stamp[2:]) + 1},{digest}"), "does not match"),
        (judged(before, hook.secret, at=5 * MINUTE + SECOND), "too old: it was signed 301 s ago"),
        (judged(before, hook.secret, at=-5 * MINUTE - SECOND), "too new: it was signed 301 s in the future"),
        (judged(before, hook.secret, signature=""), "absent"),
        (judged(before, hook.secret, signature=digest), "one t"),
        (judged(before, hook.secret, signature=stamp), "no v1"),
        (judged(before, hook.secret, signature=f"{stamp},{stamp},{digest}"), "one t"),
        (judged(before, hook.secret, signature=f"{stamp}.0,{digest}"), "one t"),
        (judged(before, hook.secret, signature=f"{stamp},{digest}0"), "64 hex"),
        (judged(before, hook.secret, signature=f"{stamp},{digest[:-1]}g"), "64 hex"),
        (judged(before, hook.secret, signature=f"{stamp},{digest}," + "," * 1024), "more than 1024"),
    ]
    said = verdicts([delivery for delivery, _ in table])

    assert len(said) == len(table)
    for (delivery, expected), verdict in zip(table, said, strict=True):
        assert verdict == "genuine" if expected == "genuine" else expected in verdict, (delivery[1], verdict)


@pytest.mark.parametrize("secrets", ["[]", "['']", "[' ']", "''", "undefined"])
def test_without_a_secret_node_verifies_nothing(tmp_path: Path, server: LocalServer, secrets: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not on this machine")
    (tmp_path / "verification.mjs").write_bytes(nobody.get(f"{server.base_url}/docs/verification.mjs").content)
    script = (
        'import { verify } from "./verification.mjs";\n'
        f'try {{ verify(Buffer.from(""), "t=1,v1={"0" * 64}", {secrets}, {{ now: 1 }}); }}'
        "catch (error) { console.log(error.name); }\n"
    )
    (tmp_path / "run.mjs").write_text(script)
    ran = subprocess.run([node, "run.mjs"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (ran.stdout, ran.stderr) == ("TypeError\n", "")
