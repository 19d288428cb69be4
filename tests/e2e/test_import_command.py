"""`pressroom import` beside a server: posts as of their own dates, each once, whatever stops it."""

import functools
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pressroom.clock import SECOND, iso, parse_iso
from tests.harness.archives import ATOM, FOLLOWERS, RSS, activity, archive
from tests.harness.forks import Fork, fork
from tests.harness.owners import Owner, publish
from tests.harness.process import PRESSROOM, ServerProcess
from tests.harness.records import count, rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Request, ask
from tests.media.uploads import image
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]
Json = dict[str, Any]

KILLS = 6
LINES = 1_500
INDEXING_SECONDS = 60.0
"""How long a server may take until it has indexed all posts, on a busy machine."""

MEMORY = 160 * 1024**2
UNTOUCHED = (
    "SELECT id FROM events ORDER BY id",
    "SELECT id FROM notifications ORDER BY id",
    "SELECT account_id, used, used_signed_in FROM content_quotas",
)


@pytest.fixture
def server(process_server: MakeServer, engine_settings: dict[str, object]) -> ServerProcess:
    """A server on each engine."""
    return process_server(**{**ROOMY, "DEV": 1, **engine_settings}).migrate().start()


def read(server: ServerProcess, owner: Owner, path: str) -> Json:
    """The answer to an owner who is signed in."""
    answer = ask(Request(server.port, "GET", path, {"Cookie": owner.cookie}))
    assert answer.status == 200, answer
    return dict(answer.json())


def posts_of(server: ServerProcess, owner: Owner) -> list[Json]:
    """All posts of an account, newest first."""
    found: list[Json] = []
    cursor = ""
    while True:
        page = read(server, owner, f"/api/posts?limit=100{cursor}")
        found += page["posts"]
        if page["nextCursor"] is None:
            return found
        cursor = f"&cursor={page['nextCursor']}"


def found(server: ServerProcess, owner: Owner, query: str) -> list[str]:
    """The texts that a search finds, in its order."""
    return [post["content"] for post in read(server, owner, f"/api/search?q={query}")["posts"]]


def lines(path: Path, number: int) -> Path:
    """Items that are seconds apart, in a file of JSON."""
    times = (iso(parse_iso("2020-01-02T00:00:00Z") + each * SECOND) for each in range(number))
    made = [{"id": str(each), "content": f"Line {each} #many", "createdAt": at} for each, at in enumerate(times)]
    path.write_text("\n".join(map(json.dumps, made)))
    return path


def start(server: ServerProcess, command: list[str], folder: Path) -> Fork:
    """Starts a command with the server's settings."""
    return fork(command, folder=server.folder, environment=server.environment, log=folder / "log")


def has_imported(server: ServerProcess, run: Fork, least: int) -> bool:
    """Whether there are so many posts, or the run has ended."""
    return count(server, "posts") >= least or run.poll() is not None


def test_archive_is_history_in_every_list(server: ServerProcess, tmp_path: Path) -> None:
    ann, bob = Owner(server, "ann"), Owner(server, "bob")
    ask(Request(server.port, "POST", "/api/accounts/ann/follow", {"Cookie": bob.cookie}))
    now = ask(publish(server, ann.key(), "Written here about proofs")).json()
    picture = {"url": "/media_attachments/files/1/proof.png", "name": "A proof"}
    path = archive(
        tmp_path / "archive.zip",
        [
            activity(1, "Oldest for @bob about proofs #letterpress https://x.example/"),
            activity(2, "Newer about proofs", published="2021-05-06T07:08:09.123Z", attachment=[picture]),
            activity(3, "For followers about proofs", published="2020-02-29T00:00:00Z", to=[FOLLOWERS], cc=[]),
            activity(4, "A reply", inReplyTo="https://elsewhere.example/9"),
            activity(5, "Of tomorrow", published="2999-01-01T00:00:00Z"),
        ],
        {"media_attachments/files/1/proof.png": image("PNG"), "../../evil.txt": b"outside"},
    )
    before = [rows(server, each) for each in UNTOUCHED]

    dry = server.command("import", "mastodon", path, "--account", "ann", "--dry-run")
    untouched = count(server, "posts")
    done = server.command("import", "mastodon", path, "--account", "ANN", "--as", "Ada")
    again = server.command("import", "mastodon", path, "--account", "ann")

    assert "2021-05-06T07:08:09.123Z PUBLIC 1 files: Newer about proofs" in dry.stderr
    assert (dry.stdout, untouched) == ("1 left out, 1 refused, 3 to be imported\n", 1)
    assert done.stdout == "3 imported, 1 left out, 1 refused\n"
    assert "https://elsewhere.example/5/activity: createdAt: 2999-01-01" in done.stderr
    assert again.stdout == "3 imported before, 1 left out, 1 refused\n"
    posts = posts_of(server, ann)
    assert [(post["createdAt"], post["visibility"]) for post in posts[1:]] == [
        ("2021-05-06T07:08:09.123Z", "PUBLIC"),
        ("2020-02-29T00:00:00.000Z", "FOLLOWERS"),
        ("2019-04-01T10:00:00.000Z", "PUBLIC"),
    ]
    assert [post["id"] for post in posts] == sorted((post["id"] for post in posts), reverse=True)
    assert all(post["sourceApiKey"] is None and post["editedAt"] is None for post in posts[1:])
    assert posts[3]["linkPreview"] is None
    assert read(server, ann, "/api/auth/me")["totalPosts"] == 4
    timeline = read(server, bob, "/api/timeline")["items"]
    assert [item["id"] for item in timeline] == [post["id"] for post in posts]
    assert read(server, bob, f"/api/timeline/new?after={now['id']}")["count"] == 0
    assert [rows(server, each) for each in UNTOUCHED] == before
    assert wait_until(lambda: len(found(server, bob, "proofs")) == 4, INDEXING_SECONDS)
    assert [text.partition(" ")[0] for text in found(server, bob, "proofs")] == ["Written", "Newer", "For", "Oldest"]
    assert found(server, bob, "proofs%20until:2020-12-31%20since:2020-01-01") == ["For followers about proofs"]
    assert "Oldest" in ask(Request(server.port, "GET", "/tag/letterpress")).body.decode()
    assert wait_until(lambda: posts_of(server, ann)[1]["media"][0]["processingStatus"] == "READY")
    assert posts_of(server, ann)[1]["media"][0]["altText"] == "A proof"
    kept = "SELECT kind, operator, detail FROM audit_entries WHERE kind = 'posts.imported' ORDER BY id"
    assert rows(server, kept)[0] == ("posts.imported", "Ada", '{"file":"archive.zip"}')


def test_deleted_post_is_not_imported_again(server: ServerProcess, tmp_path: Path) -> None:
    ann = Owner(server, "ann")
    path = str(lines(tmp_path / "posts.jsonl", 3))
    server.command("import", "jsonl", path, "--account", "ann", "--visibility", "private")
    post = posts_of(server, ann)[1]
    ask(Request(server.port, "DELETE", f"/api/posts/{post['id']}", {"Cookie": ann.cookie}))

    again = server.command("import", "jsonl", path, "--account", "ann")

    assert again.stdout == "3 imported before\n"
    assert [each["visibility"] for each in posts_of(server, ann)] == ["PRIVATE"] * 2
    assert read(server, ann, "/api/auth/me")["totalPosts"] == 2


def test_copy_and_feeds_are_imported(server: ServerProcess, tmp_path: Path) -> None:
    ann = Owner(server, "ann")
    with zipfile.ZipFile(tmp_path / "copy.zip", "w") as made:
        post = {"id": "1", "type": "POST", "content": "Copied", "visibility": "CUSTOM"}
        post["createdAt"] = "2018-01-01T00:00:00.000Z"
        made.writestr("posts.json", json.dumps([post, {"id": "2", "type": "SHARE"}]))
        names = ("a.png", "a.txt", "none.png")
        files = [{"belongsTo": "1", "file": f"media/{name}", "altText": None} for name in names]
        made.writestr("media.json", json.dumps(files))
        made.writestr("media/a.png", image("PNG"))
        made.writestr("media/a.txt", b"no picture")
    (tmp_path / "rss.xml").write_text(RSS)
    (tmp_path / "atom.xml").write_text(ATOM)

    copied = server.command("import", "export", str(tmp_path / "copy.zip"), "--account", "ann")
    feeds = [str(tmp_path / name) for name in ("rss.xml", "atom.xml")]
    fed = [server.command("import", "feed", feed, "--account", "ann") for feed in feeds]

    assert copied.stdout == "1 imported, 1 left out\n"
    assert "export 1: the file a.txt is left out" in copied.stderr
    assert [each.stdout for each in fed] == ["2 imported\n", "1 imported\n"]
    posts = posts_of(server, ann)
    assert [post["createdAt"][:10] for post in posts[1:]] == ["2021-05-06", "2019-04-02", "2018-01-01"]
    assert posts[0]["content"].startswith("Older")  # without a date: as of now
    assert (posts[3]["visibility"], len(posts[3]["media"])) == ("PRIVATE", 1)


def test_refusals_are_one_line_and_change_nothing(server: ServerProcess, tmp_path: Path) -> None:
    Owner(server, "ann")
    Owner(server, "gone")
    server.command("account", "suspend", "gone")
    path = lines(tmp_path / "posts.jsonl", 60)
    broken = tmp_path / "broken.jsonl"
    broken.write_text(path.read_text().replace("Line 58 #many", "x" * 5_001).replace('{"id": "59"', "{broken"))
    big = archive(tmp_path / "big.zip", [activity(1, "x", attachment=[{"url": "a.png"}])], {"a.png": image("PNG")})
    server.settings["ACCOUNT_STORAGE_BYTES"] = 10

    unknown = server.command("import", "jsonl", str(path), "--account", "nobody", check=False)
    suspended = server.command("import", "jsonl", str(path), "--account", "gone", check=False)
    halted = server.command("import", "jsonl", str(broken), "--account", "ann", check=False)
    full = server.command("import", "mastodon", big, "--account", "ann", check=False)
    no_zip = server.command("import", "export", str(path), "--account", "ann", check=False)

    assert "There is no account nobody" in unknown.stderr
    assert "There is no account gone" in suspended.stderr
    assert "jsonl 58: content: " in halted.stderr
    assert "broken.jsonl, line 60: no JSON object" in halted.stderr
    assert "PRESSROOM_ACCOUNT_STORAGE_BYTES" in full.stderr
    assert "posts.jsonl is no .zip" in no_zip.stderr
    assert {each.returncode for each in (unknown, suspended, halted, full, no_zip)} == {2}
    assert (count(server, "posts"), count(server, "media")) == (58, 0)
    assert not list(Path(str(server.settings["DATA_DIR"]), "blobs").rglob("uploads=*"))


def test_killed_runs_lose_and_double_nothing(server: ServerProcess, tmp_path: Path) -> None:
    chance, ann = Random(7), Owner(server, "ann")
    path, command = str(lines(tmp_path / "posts.jsonl", LINES)), ["import", "jsonl"]
    for _ in range(KILLS):
        least = count(server, "posts") + chance.randrange(200)
        run = start(server, [*command, path, "--account", "ann"], tmp_path)
        assert wait_until(functools.partial(has_imported, server, run, least))
        run.kill()
        run.wait(20)

    last = server.command(*command, path, "--account", "ann")

    assert "imported" in last.stdout
    posts = posts_of(server, ann)
    assert [post["content"] for post in posts] == [f"Line {each} #many" for each in reversed(range(LINES))]
    assert read(server, ann, "/api/auth/me")["totalPosts"] == LINES
    assert count(server, "post_tags") == LINES
    assert wait_until(
        lambda: bool(found(server, ann, "line")) and not count(server, "unindexed_posts"), INDEXING_SECONDS
    )
    assert count(server, "indexed_posts") == LINES
    assert found(server, ann, str(LINES - 1)) == [f"Line {LINES - 1} #many"]


def test_two_runs_at_once_import_each_item_once(server: ServerProcess, tmp_path: Path) -> None:
    ann, path = Owner(server, "ann"), str(lines(tmp_path / "posts.jsonl", LINES))
    command = ["import", "jsonl", path, "--account", "ann"]
    runs = [start(server, command, tmp_path) for _ in range(2)]

    assert [run.wait(120) for run in runs] == [0, 0]

    assert len({post["content"] for post in posts_of(server, ann)}) == count(server, "posts") == LINES
    assert read(server, ann, "/api/auth/me")["totalPosts"] == LINES


def test_bomb_and_many_items_take_bounded_memory(process_server: MakeServer, tmp_path: Path) -> None:
    server = process_server(**ROOMY, DEV=1).start()
    ann = Owner(server, "ann")
    bomb = [{"url": "/bomb.png"}]
    items = [activity(each, "x" * 300, attachment=[] if each % 5_000 else bomb) for each in range(10_000)]
    path = archive(tmp_path / "archive.zip", items)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as made, made.open("bomb.png", "w") as member:
        for _ in range(512):
            member.write(bytes(1024**2))
    # A process begins with the peak of the one that forked it, so a small one starts the command.
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=2)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", program, *PRESSROOM, "import", "mastodon", path, "--account", "ann"]

    done = subprocess.run(command, env=server.environment, capture_output=True, text=True, timeout=200)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) * 1024 < MEMORY
    assert read(server, ann, "/api/auth/me")["totalPosts"] == 10_000
