"""Pictures and videos that tests publish, and the fields beside them."""

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from PIL import Image

from pressroom.db import Command
from tests.api.actors import Actor, Json, body_of
from tests.corpus.clips import Recipe, header_only, write
from tests.corpus.pictures import quarters, saved

File = tuple[str, bytes, str]
"""Name, bytes and type, as a form bears them."""

KEEP_CARD = Command(
    "INSERT INTO link_cards (url, status, title, description, site_name, image_token, fetched_at, leased_until)"
    " VALUES (:url, 'READY', :title, :description, :site_name, :image_token, :now, 0)"
)

MAKE_READY = Command(
    "UPDATE media SET status = 'READY', width = 320, height = 180, size_bytes = 1, placeholder = :placeholder"
    " WHERE account_id = :account_id AND status = 'PROCESSING'"
)
PLACEHOLDER = "data:image/webp;base64,UklGRg=="


@cache
def picture(width: int = 120, height: int = 80) -> File:
    """A picture of four colours."""
    return "a.png", saved(quarters(width, height), "PNG"), "image/png"


@cache
def gif() -> File:
    """A moving picture."""
    frames = [Image.new("RGB", (60, 40), (shade, 0, 0)) for shade in (0, 120, 240)]
    return "a.gif", saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100), "image/gif"


@cache
def video(seconds: float = 0.2, width: int = 320, height: int = 180, *, sound: bool = False) -> File:
    """A video that browsers play."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mp4"
        write(path, Recipe(seconds=seconds, size=(width, height), audio="aac" if sound else None))
        return "a.mp4", path.read_bytes(), "video/mp4"


@cache
def broken_video() -> File:
    """What begins as a video does, and is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mp4"
        header_only(path)
        return "a.mp4", path.read_bytes(), "video/mp4"


def uploaded(who: Actor, *files: File, alt_texts: Sequence[str] = (), **texts: str) -> Json:
    """A post with these files."""
    form: dict[str, str | list[str]] = {**texts, **({"altText": list(alt_texts)} if alt_texts else {})}
    answer = who.api.post("/api/posts/upload", files=[("media", each) for each in files], data=form)
    return body_of(answer, 201)


def filmed(who: Actor, file: File | None = None, /, **texts: str) -> Json:
    """A clip, of a short video unless one is given."""
    return body_of(who.api.post("/api/clips", files=[("video", file or video())], data=texts), 201)


def made_ready(who: Actor) -> None:
    """Takes the account's files for processed: for pages that only name them."""
    db, own = who.server.runtime.db, {"account_id": who.account.id, "placeholder": PLACEHOLDER}
    who.server.run(db.transact(lambda tx: tx.run(MAKE_READY, **own)))


def introduced(
    who: Actor,
    url: str,
    title: str | None = None,
    description: str | None = None,
    site_name: str | None = None,
    image_token: str | None = None,
) -> None:
    """Keeps a card as if its page had been fetched."""
    db, now = who.server.runtime.db, who.server.clock.now()
    card = {"title": title, "description": description, "site_name": site_name, "image_token": image_token}
    who.server.run(db.transact(lambda tx: tx.run(KEEP_CARD, url=url, now=now, **card)))
