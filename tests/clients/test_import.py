"""`pressroom-client import` as a process of its own: each item once, and sources that nobody should trust."""

import io
import json
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom_client import File, Pressroom, importing
from pressroom_client._import_commands import LARGEST_FILE
from pressroom_client.importing import BadSource, text_of_html
from tests.harness.archives import ATOM, FOLLOWERS, PUBLIC, RSS, activity, archive
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.wire import Request, ask
from tests.media.uploads import image
from tests.services.process import wait_until

SOURCE = Path(__file__).parents[2] / "clients" / "python" / "src"
MEMORY = 400 * 1024**2
pytestmark = pytest.mark.xdist_group("clients")

Run = Callable[..., subprocess.CompletedProcess[str]]
Json = dict[str, Any]


class Author(Owner):
    """An account, whose posts its session lists."""

    def posts(self) -> list[Json]:
        """All of its posts, oldest first."""
        answer = ask(Request(self._port, "GET", "/api/posts?limit=100", {"Cookie": self.cookie}))
        return list(reversed(answer.json()["posts"]))

    def copy(self) -> bytes:
        """The copy of the account, once it is made."""
        path, headers = "/api/auth/export", {"Cookie": self.cookie}
        assert ask(Request(self._port, "POST", path, headers)).status == 202
        assert wait_until(lambda: ask(Request(self._port, "GET", path, headers)).json()["state"] == "ready")
        return ask(Request(self._port, "GET", f"{path}/file", headers)).body


@pytest.fixture
def author(server: ServerProcess, request: pytest.FixtureRequest) -> Author:
    """An account of the test's own."""
    return Author(server, f"ann{abs(hash(request.node.name)) % 10**9}")


@pytest.fixture
def run(server: ServerProcess, author: Author, tmp_path: Path) -> Run:
    """Runs the command with a key of the author."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    key = author.key("importer", ["posts:write", "media:write"])
    environment = {**kept, "PYTHONPATH": str(SOURCE), "PRESSROOM_URL": server.base_url, "PRESSROOM_API_KEY": key}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pressroom_client.cli", "import", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)

    return run


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_archive_of_mastodon_is_published_once(author: Author, run: Run, tmp_path: Path, form: str) -> None:
    attachment = {"url": "/media_attachments/files/1/proof.png", "name": "A proof", "mediaType": "image/png"}
    path = archive(
        tmp_path / f"archive.{form}",
        [
            activity(1, "First &amp; <b>oldest</b></p><p>Second paragraph<br>and line"),
            activity(2, "With a picture", attachment=[attachment, {"url": "../../../../etc/passwd"}]),
            activity(3, "For followers", to=[FOLLOWERS], cc=[]),
            activity(4, "Unlisted", to=[FOLLOWERS], cc=[PUBLIC]),
            activity(5, "A reply", inReplyTo="https://elsewhere.example/9"),
            activity(6, "A message", to=["https://elsewhere.example/users/bob"], cc=[]),
            {"id": "https://elsewhere.example/7/activity", "type": "Announce", "object": "https://elsewhere.example/8"},
        ],
        {"media_attachments/files/1/proof.png": image("PNG"), "../../evil.txt": b"outside"},
    )

    shown = run("mastodon", path, "--dry-run")
    first, again = run("mastodon", path), run("mastodon", path)
    (tmp_path / f"archive.{form}.imported").unlink()
    without_state = run("mastodon", path)

    assert "3 left out, 4 to be published" in shown.stderr
    assert first.returncode == 0, first.stderr
    assert "3 left out, 4 published" in first.stderr
    assert "3 left out, 4 published before" in again.stderr
    assert without_state.returncode == 0, without_state.stderr
    posts = author.posts()
    assert [(post["content"], post["visibility"]) for post in posts] == [
        ("First & oldest\n\nSecond paragraph\nand line\n\n(2019-04-01)", "PUBLIC"),
        ("With a picture\n\n(2019-04-01)", "PUBLIC"),
        ("For followers\n\n(2019-04-01)", "FOLLOWERS"),
        ("Unlisted\n\n(2019-04-01)", "FOLLOWERS"),
    ]
    assert [entry["altText"] for entry in posts[1]["media"]] == ["A proof"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"archive.{form}", f"archive.{form}.imported"]


def test_copy_of_an_account_is_published_once(server: ServerProcess, author: Author, run: Run, tmp_path: Path) -> None:
    source = Author(server, f"source{author.id[-8:]}")
    key = source.key("writer", ["posts:write", "media:write", "bounces:write"])
    with Pressroom(server.base_url, key) as press:
        first = press.create_post("First")
        picture = press.upload_post(
            [File(image("PNG"), "A proof", "proof.png")], "With a picture", visibility="FOLLOWERS"
        )
        press.create_post("Mine", visibility="CUSTOM")
        press.bounce(first["id"])
        press.bounce(first["id"], "A quote")
        press.wait_until_ready(picture["id"])
    (tmp_path / "copy.zip").write_bytes(source.copy())

    done, again = run("export", "copy.zip"), run("export", "copy.zip")

    assert "2 left out, 3 published" in done.stderr, done.stderr
    assert "2 left out, 3 published before" in again.stderr
    day = first["createdAt"][:10]
    posts = author.posts()
    assert [(post["content"], post["visibility"]) for post in posts] == [
        (f"First\n\n({day})", "PUBLIC"),
        (f"With a picture\n\n({day})", "FOLLOWERS"),
        (f"Mine\n\n({day})", "PRIVATE"),
    ]
    assert [entry["altText"] for entry in posts[1]["media"]] == ["A proof"]


def test_hostile_copies_read_no_file_outside_and_none_twice(tmp_path: Path) -> None:
    posts = [{"id": "1", "type": "POST", "content": "x"}, {"id": 2}, ["no object"]]
    media = [
        {"belongsTo": "1", "file": each, "altText": 7}
        for each in ("../../../../etc/passwd", "/etc/passwd", "media/a.webp", "media/a.webp", "media/bomb.webp")
    ]
    with zipfile.ZipFile(tmp_path / "copy.zip", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("posts.json", json.dumps(posts))
        made.writestr("media.json", json.dumps(media))
        made.writestr("media/a.webp", b"picture")
        made.writestr("media/bomb.webp", bytes(20 * 1024**2))

    items = importing.read_export(tmp_path / "copy.zip")
    item = next(items)
    read = [io.BytesIO(), io.BytesIO()]
    sizes = [each.copy_to(target, LARGEST_FILE) for each, target in zip(item.files, read, strict=True)]

    assert list(items) == []
    assert [each.name for each in item.files] == ["a.webp", "bomb.webp"]
    assert read[0].getvalue() == b"picture"
    assert LARGEST_FILE < sizes[1] <= LARGEST_FILE + importing.PIECE
    assert (item.visibility, item.date) == ("PRIVATE", None)


@pytest.mark.parametrize("members", [{}, {"posts.json": b"[]"}, {"posts.json": b"[{", "media.json": b"[]"}])
def test_damaged_copies_are_refused(tmp_path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(tmp_path / "copy.zip", "w") as made:
        for name, content in members.items():
            made.writestr(name, content)

    with pytest.raises(BadSource):
        list(importing.read_export(tmp_path / "copy.zip"))


def test_stopped_run_goes_on_where_it_stopped(author: Author, run: Run, tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": str(number), "content": f"Line {number}", "createdAt": "2020-01-02"}) for number in range(6)
    ]
    (tmp_path / "posts.jsonl").write_text("\n".join([*lines[:3], "{broken", *lines[3:]]))

    stopped = run("jsonl", "posts.jsonl")
    (tmp_path / "posts.jsonl").write_text("\n".join(lines))
    finished = run("jsonl", "posts.jsonl", "--visibility", "private")

    assert stopped.returncode == 3
    assert "posts.jsonl, line 4" in stopped.stderr
    assert "3 published, 3 published before" in finished.stderr
    posts = author.posts()
    assert [post["content"] for post in posts] == [f"Line {number}\n\n(2020-01-02)" for number in range(6)]
    assert [post["visibility"] for post in posts] == ["PUBLIC"] * 3 + ["PRIVATE"] * 3


def test_refused_item_is_named_and_others_are_published(author: Author, run: Run, tmp_path: Path) -> None:
    lines = [{"id": "1", "content": "x" * 5_001}, {"id": "2", "content": "Short"}]
    (tmp_path / "posts.jsonl").write_text("\n".join(json.dumps(line) for line in lines))

    done = run("jsonl", "posts.jsonl")

    assert "1 published, 1 refused" in done.stderr
    assert "jsonl 1: 400" in done.stderr
    assert [post["content"] for post in author.posts()] == ["Short"]


def test_feeds_are_published_oldest_first(author: Author, run: Run, tmp_path: Path) -> None:
    (tmp_path / "rss.xml").write_text(RSS)
    (tmp_path / "atom.xml").write_text(ATOM)

    for name in ("rss.xml", "atom.xml", "rss.xml"):
        assert run("feed", name).returncode == 0

    assert [post["content"] for post in author.posts()] == [
        "Older\n\nFirst\n\nhttps://blog.example/1",
        "Newer\n\nSecond\n\nhttps://blog.example/2\n\n(2019-04-02)",
        "Hello world\n\nhttps://blog.example/a1\n\n(2021-05-06)",
    ]


def test_address_that_is_no_feed_is_refused(run: Run) -> None:
    with Receiver() as receiver:
        done = run("feed", receiver.url("/feed"))

    assert done.returncode == 3
    assert "fe" in done.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"<rss>", "well-formed"),
        (b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss>&b;</rss>', "document type"),
        ('<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x []><rss/>'.encode("utf-16"), "feed"),
        (b"", "well-formed"),
    ],
)
def test_hostile_feeds_are_refused(content: bytes, told: str) -> None:
    with pytest.raises(BadSource, match=told):
        list(importing.read_feed(content))


@pytest.mark.parametrize(
    "outbox",
    [
        b"",
        b"{}",
        b'{"orderedItems": [',
        b'{"orderedItems": [{"id": "x"',
        b'{"orderedItems": [' + b"[" * 100_000,
        b'{"orderedItems": [' + b'"' + b"x" * 5_000_000,
    ],
)
def test_damaged_outboxes_are_refused(tmp_path: Path, outbox: bytes) -> None:
    path = archive(tmp_path / "archive.zip", [], {})
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("outbox.json", outbox)

    with pytest.raises(BadSource):
        list(importing.read_mastodon(Path(path)))


def test_files_that_are_no_archive_are_refused(tmp_path: Path) -> None:
    for content in (b"", b"PK\x03\x04 nothing", b"\x1f\x8b nothing"):
        (tmp_path / "archive").write_bytes(content)
        with pytest.raises(BadSource):
            list(importing.read_mastodon(tmp_path / "archive"))


def test_hundred_thousand_items_and_a_bomb_are_read_in_bounded_memory(tmp_path: Path) -> None:
    bomb = {"url": "/media_attachments/bomb.png", "name": "x"}
    activities = [
        activity(number, "x" * 300, attachment=[bomb] if not number % 50_000 else []) for number in range(100_000)
    ]
    path = archive(tmp_path / "archive.zip", activities)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as made,
        made.open("media_attachments/bomb.png", "w") as member,
    ):
        for _ in range(512):
            member.write(bytes(1024**2))
    program = (
        "import sys, pathlib; from pressroom_client import importing\n"
        "class Nowhere:\n"
        "    def write(self, piece): return len(piece)\n"
        "items = importing.read_mastodon(pathlib.Path(sys.argv[1]))\n"
        "print(sum(1 + sum(each.copy_to(Nowhere(), 8 * 1024**2) for each in item.files) for item in items))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, path],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),  # one thread
        capture_output=True,
        text=True,
        timeout=250,
    )

    assert (done.returncode, int(done.stdout)) == (0, 100_000 + 2 * (LARGEST_FILE + importing.PIECE)), done.stderr


def test_text_of_html_keeps_paragraphs() -> None:
    html = '<p>One<br/>two &lt;b&gt;</p><p><a href="https://x.example">https://x.example</a></p><style>p{}</style>'
    assert text_of_html(html) == "One\ntwo <b>\n\nhttps://x.example"
