"""Small makers of files and forms, and what of them a server keeps."""

import functools
import io
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx
from PIL import Image

from pressroom.clock import SECOND
from pressroom.db import Query
from pressroom.domains.media.jobs import LEFTOVER
from tests.api.actors import Actor, Json, body_of, nobody, read
from tests.api.tables import columns
from tests.corpus.clips import Recipe, write
from tests.harness.local import LocalServer
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.services.process import wait_until

UPLOAD: Final = "/api/posts/upload"
BOUNDARY: Final = "----frontier7MA4YWxk"
MEBIBYTE: Final = 1024 * 1024

File = tuple[str, tuple[str | None, bytes, str | None]]
"""A part as httpx takes it: field, then file name, bytes and declared type."""

SHORT: Final = Recipe(size=(64, 48), seconds=0.2)

LACKS: Final = Query(str, "SELECT error FROM jobs WHERE due_at IS NOT NULL AND error IS NOT NULL")

UNSTEADY: Final = frozenset(
    {
        *("rate_windows", "api_key_usage", "api_key_refusals", "sessions", "sign_in_attempts", "schema_migrations"),
        *("unindexed_posts", "indexed_posts", "sweeps"),
    }
)
"""Tables that change by requests as such, whatever these come to."""


@functools.cache
def image(format_: str = "JPEG", size: tuple[int, int] = (60, 40), colour: str = "red") -> bytes:
    """A picture of one colour in a format of Pillow."""
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, format_)
    return buffer.getvalue()


@functools.cache
def video_bytes(folder: Path, recipe: Recipe = SHORT) -> bytes:
    """A short video; `folder` is for its making."""
    path = folder / "made.mp4"
    write(path, recipe)
    return path.read_bytes()


def padded(size: int) -> bytes:
    """A picture that is `size` bytes long: what follows the end of a JPEG is nobody's."""
    return image().ljust(size, b"\0")


def file(data: bytes | None = None, kind: str | None = "image/jpeg", name: str | None = "a.jpg") -> File:
    """A part that brings a file."""
    return "media", (name, image() if data is None else data, kind)


def upload(
    client: httpx.Client,
    *files: File,
    idempotency_key: str | None = None,
    **texts: str | Sequence[str],
) -> httpx.Response:
    """Publishes a post with these files (one picture unless some are given) and texts."""
    headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
    return client.post(UPLOAD, files=list(files or [file()]), data=dict(texts), headers=headers)


def uploaded(actor: Actor, *files: File, **texts: str | Sequence[str]) -> Json:
    """A new post with media, published with the key; not processed yet."""
    return body_of(upload(actor.api, *files, idempotency_key=None, **texts), 201)


def ready(actor: Actor, *files: File, **texts: str | Sequence[str]) -> Json:
    """A new post with media that has been processed, as its author sees it."""
    post = uploaded(actor, *files, **texts)
    do_jobs(actor.server)
    return read(actor, post["id"])


def do_jobs(server: LocalServer) -> None:
    """Processes due jobs; jobs that wait instead, on this clock without end, name their reason."""
    server.do_jobs()
    waiting = server.run(server.runtime.db.read(lambda tx: tx.all(LACKS)))
    assert not waiting, waiting


def ready_clip(actor: Actor, **texts: str) -> Json:
    """A new clip whose video has been processed, as its author sees it."""
    with TemporaryDirectory() as folder:
        video = ("a.mp4", video_bytes(Path(folder)), "video/mp4")
    clip = body_of(actor.api.post("/api/clips", files=[("video", video)], data=texts), 201)
    do_jobs(actor.server)
    return body_of(actor.web.get(f"/api/clips/{clip['id']}"))


def part(disposition: str, data: bytes, *lines: str) -> bytes:
    """One part of a form; `disposition` is what follows `form-data`."""
    head = "\r\n".join([f"Content-Disposition: form-data{disposition}", *lines, "", ""])
    return head.encode() + data


def file_part(
    data: bytes | None = None, *, name: str = "a.jpg", kind: str = "image/jpeg", field: str = "media"
) -> bytes:
    """The part of a file."""
    return part(f'; name="{field}"; filename="{name}"', image() if data is None else data, f"Content-Type: {kind}")


def text_part(field: str, text: str) -> bytes:
    """The part of a text."""
    return part(f'; name="{field}"', text.encode())


def form(parts: Iterable[bytes], boundary: str = BOUNDARY) -> bytes:
    """A body of these parts."""
    between = f"\r\n--{boundary}\r\n".encode()
    given = between.join([b"", *parts]).removeprefix(b"\r\n")
    return given + f"\r\n--{boundary}--\r\n".encode()


def form_headers(content: bytes, key: str, boundary: str = BOUNDARY, **more: str) -> dict[str, str]:
    """The headers of such a form."""
    return {
        "Authorization": f"Bearer {key}",
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Content-Length": str(len(content)),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


def files_below(data_dir: Path) -> list[str]:
    """Everything that a server keeps beside its database: uploads, files in processing, the store."""
    # Not by `rglob`, which fails when a folder is removed while it is listed.
    places = [place for name in ("incoming", "processing", "blobs") for place in os.walk(data_dir / name)]
    return sorted(str(Path(place, name).relative_to(data_dir)) for place, _, names in places for name in names)


def blobs_below(data_dir: Path, prefix: str = "") -> list[str]:
    """The keys of the blobs in the store on disk."""
    names = (path.name.replace("=", "/") for path in (data_dir / "blobs").glob("??/??/*"))
    return sorted(name for name in names if name.startswith(prefix))


def wait_until_processed(server: ServerProcess) -> None:
    """Waits until every file is READY and its upload, which is removed a moment later, has left the store on disk."""
    data_dir = Path(str(server.settings["DATA_DIR"]))
    assert wait_until(lambda: rows(server, "SELECT DISTINCT status FROM media") == [("READY",)]), server.output()
    assert wait_until(lambda: blobs_below(data_dir, "uploads/") == []), blobs_below(data_dir)


def tables() -> list[str]:
    """Every table that a migration makes."""
    return sorted(set(columns()) - UNSTEADY)


def rows_everywhere(server: LocalServer) -> dict[str, int]:
    """How many rows each table has."""
    counts = {name: Query(int, f"SELECT count(*) FROM {name}") for name in tables()}  # noqa: S608  # our own names
    return {name: server.run(server.runtime.db.one(query)) or 0 for name, query in counts.items()}


def kept(server: LocalServer) -> tuple[dict[str, int], list[str]]:
    """All that a server keeps: rows by table, and files."""
    return rows_everywhere(server), files_below(server.settings.data_dir)


def opened(data: bytes) -> Image.Image:
    """A picture that was served, decoded to its end."""
    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture


def path_of(address: str) -> str:
    """An address without the server that it names."""
    return httpx.URL(address).raw_path.decode()


def media_of(post: Mapping[str, Any]) -> Json:
    """The only file of a post."""
    (entry,) = post["media"]
    return dict(entry)


def fetch(server: LocalServer, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    """The answer to a stranger."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return nobody.request(method, f"{server.base_url}{path}", headers=named)


def sweep_time() -> int:
    """When a file written now is old enough to be swept, by the disk's clock."""
    return time.time_ns() // 1_000_000 + LEFTOVER + 10 * SECOND


def addresses_in(page: str) -> list[str]:
    """Every address of media that a page shows."""
    return re.findall(r'(?:src|href|poster)="[^"]*?(/media/[^"]+)"', page)
