"""`pressroom-client` as a process of its own, against a real server."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks

from pressroom_client import webhooks
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.media.uploads import image
from tests.services.ports import free_port

SOURCE = Path(__file__).parents[2] / "clients" / "python" / "src"
SCOPES = ("posts:write", "media:write", "comments:write", "bounces:write", "drafts:write")
pytestmark = pytest.mark.xdist_group("clients")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def key(server: ServerProcess) -> str:
    """A key of that account."""
    return server.create_key("alice", *SCOPES)


@pytest.fixture
def run(server: ServerProcess, key: str, tmp_path: Path) -> Run:
    """Runs the command with the server's address and the key in its environment; `given` changes that."""

    def run(*arguments: str, stdin: str = "", **given: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
        ours = {"PYTHONPATH": str(SOURCE), "PRESSROOM_URL": server.base_url, "PRESSROOM_API_KEY": key}
        command = [sys.executable, "-m", "pressroom_client.cli", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=kept | ours | given, input=stdin, capture_output=True, text=True, timeout=120
        )

    return run


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    """The JSON that a command printed."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_post_is_published_edited_and_commented(run: Run) -> None:
    post = answer(run("--json", "post", "-", "--visibility", "followers", stdin="From a pipe"))
    edited = answer(run("--json", "edit", post["id"], "Edited", "--visibility", "public"))
    comment = answer(run("--json", "comment", post["id"], "First"))
    quote = answer(run("--json", "bounce", post["id"], "Well said"))

    assert (post["content"], post["visibility"]) == ("From a pipe", "FOLLOWERS")
    assert (edited["content"], edited["visibility"]) == ("Edited", "PUBLIC")
    assert comment["postId"] == post["id"]
    assert quote["type"] == "QUOTE"
    assert run("whoami").stdout.startswith("alice (")


def test_same_key_publishes_once(run: Run) -> None:
    first, second = (answer(run("--json", "post", "Nightly build", "--once", "build-77")) for _ in range(2))

    assert first["id"] == second["id"]


def test_picture_is_ready_with_its_description(run: Run, tmp_path: Path) -> None:
    (tmp_path / "proof.png").write_bytes(image("PNG"))

    post = answer(run("--json", "post", "A picture", "--media", "proof.png", "--alt", "A proof", "--wait"))

    assert [(entry["processingStatus"], entry["altText"]) for entry in post["media"]] == [("READY", "A proof")]


def test_draft_is_stored_and_scheduled_with_its_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "proof.png").write_bytes(image("PNG"))
    at = (datetime.now(UTC) + timedelta(days=2)).replace(microsecond=0)
    local = at.astimezone().replace(tzinfo=None).isoformat()

    draft = answer(run("--json", "post", "For later", "--draft"))
    picture = ("post", "With a picture", "--media", "proof.png", "--at", local, "--once", "later-1")
    scheduled, again = (answer(run("--json", *picture)) for _ in range(2))

    assert (draft["state"], draft["publishAt"], draft["content"]) == ("draft", None, "For later")
    assert scheduled["state"] == "scheduled"
    assert scheduled["publishAt"] == at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert len(scheduled["media"]) == 1
    assert again == scheduled
    assert run("post", "x", "--draft").stdout.startswith("Draft 01")


def test_refusal_exits_with_3_and_its_reason(run: Run, key: str) -> None:
    done = run("delete", "01KVCVX25JSSB86WQ50AY87SX4")

    assert done.returncode == 3
    assert "posts:delete" in done.stderr
    assert key not in done.stderr


def test_no_answer_exits_with_4_and_names_the_key_to_repeat(run: Run) -> None:
    done = run("--deadline", "1", "post", "x", "--once", "mine", PRESSROOM_URL=f"http://127.0.0.1:{free_port()}")

    assert done.returncode == 4
    assert "--once mine" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "given", "told"),
    [
        (("post",), {}, "TEXT"),
        (("whoami",), {"PRESSROOM_URL": ""}, "PRESSROOM_URL"),
        (("whoami",), {"PRESSROOM_API_KEY": ""}, "PRESSROOM_API_KEY"),
        (("post", "x", "--visibility", "SECRET"), {}, "SECRET"),
        (("post", "x", "--at", "tomorrow"), {}, "2026-12-24T18:00"),
        (("post", "x", "--draft", "--wait"), {}, "--wait"),
        (("trigger", "post.created", "--forward", "http://127.0.0.1:1"), {}, "PRESSROOM_WEBHOOK_SECRET"),
    ],
)
def test_misuse_exits_with_2_and_a_remedy(
    run: Run, arguments: tuple[str, ...], given: dict[str, str], told: str
) -> None:
    done = run(*arguments, **given)

    assert done.returncode == 2
    assert told in done.stderr


def test_sample_delivery_verifies(run: Run) -> None:
    secret = "whsec_" + "a" * 32
    with Receiver() as receiver:
        target = receiver.url("/hook")
        done = run("trigger", "post.created", "--forward", target, PRESSROOM_WEBHOOK_SECRET=secret)
        (delivery,) = receiver.of("/hook")

    event = webhooks.unwrap(delivery.body, delivery.headers, secret)
    assert standardwebhooks.Webhook(secret).verify(delivery.body, dict(delivery.headers)) == event
    assert event["event"] == "post.created"
    assert done.stdout == f"post.created {event['id']}: 200\n"
