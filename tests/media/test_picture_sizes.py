"""Pictures in several sizes: which there are, what they weigh, and that they share the fate of their file."""

import io
from pathlib import Path

import pytest
from PIL import Image

from pressroom.db import Command, Query
from tests.api.actors import Actor, Json, body_of, nobody, read
from tests.api.conftest import one_engine
from tests.corpus import make
from tests.corpus.pictures import noise, saved
from tests.harness.roomy import ROOMY
from tests.media.uploads import blobs_below, file, image, media_of, opened, ready, uploaded, video_bytes

SETTINGS = ROOMY

SLOT = 640
SLOT_BYTES = 120_000
"""The most that a usual photo may weigh in a slot of 640 pixels."""

LARGE = (2100, 1400)
STORED = Query(int, "SELECT bytes FROM stored_media WHERE account_id = :account_id")
FORGET_MEDIUM = Command("UPDATE media SET has_medium = FALSE WHERE id = :media_id")


def sizes(entry: Json) -> list[tuple[str, int, int]]:
    """The variants of a file: what their addresses add to the file's, width and height."""
    return [(each["url"].removeprefix(entry["url"]), each["width"], each["height"]) for each in entry["variants"]]


def test_a_large_picture_has_three_sizes(alice: Actor) -> None:
    post = uploaded(alice, file(image(size=LARGE)))
    assert media_of(post)["variants"] == []

    alice.server.do_jobs()

    entry = media_of(read(alice, post["id"]))
    assert sizes(entry) == [("/thumbnail", 640, 427), ("/medium", 1280, 853), ("", 2048, 1365)]
    for each in entry["variants"]:
        answer = nobody.get(each["url"])
        assert answer.headers["content-type"] == "image/webp"
        assert opened(answer.content).size == (each["width"], each["height"])


@one_engine
@pytest.mark.parametrize("shape", [(2047, 3), (641, 640), (1281, 977), (1280, 333), (33, 2049), (900, 1600)])
def test_sizes_are_as_declared(alice: Actor, shape: tuple[int, int]) -> None:
    entry = media_of(ready(alice, file(image("PNG", shape), "image/png")))

    assert len(entry["variants"]) == sum(max(shape) > side for side in (0, 640, 1280))
    for each in entry["variants"]:
        assert opened(nobody.get(each["url"]).content).size == (each["width"], each["height"])


@one_engine
def test_a_small_picture_has_one_size(alice: Actor) -> None:
    entry = media_of(ready(alice, file(image(size=(300, 200)))))

    assert sizes(entry) == [("", 300, 200)]
    assert nobody.get(f"{entry['url']}/medium").content == nobody.get(entry["url"]).content


@one_engine
def test_a_video_has_a_poster_and_no_sizes(alice: Actor, tmp_path: Path) -> None:
    entry = media_of(ready(alice, file(video_bytes(tmp_path), "video/mp4", "a.mp4")))

    assert entry["variants"] == []
    assert nobody.get(f"{entry['url']}/medium").content == nobody.get(f"{entry['url']}/poster").content


@one_engine
def test_animations_move_in_every_size(alice: Actor, tmp_path: Path) -> None:
    gif = make.make("large.gif", tmp_path).read_bytes()
    entry = media_of(ready(alice, file(gif, "image/gif", "a.gif")))

    assert sizes(entry) == [("/thumbnail", 640, 222), ("", 2048, 709)]
    for each in entry["variants"]:
        with Image.open(io.BytesIO(nobody.get(each["url"]).content)) as found:
            assert getattr(found, "n_frames", 1) == 4


@one_engine
def test_a_usual_photo_is_light_in_its_slot(alice: Actor, tmp_path: Path) -> None:
    entry = media_of(ready(alice, file(make.make("photo.jpg", tmp_path).read_bytes())))

    (small,) = [each for each in entry["variants"] if each["width"] == SLOT]
    assert len(nobody.get(small["url"]).content) <= SLOT_BYTES


@one_engine
def test_quality_gives_way_to_weight(alice: Actor) -> None:
    """Noise weighs more than a slot may, in every quality: the lowest is taken."""
    entry = media_of(ready(alice, file(saved(noise(640, 640), "JPEG", quality=90))))

    assert len(nobody.get(entry["thumbnailUrl"]).content) < 0.75 * entry["sizeBytes"]


def test_a_file_processed_without_a_medium_size_is_served(alice: Actor) -> None:
    """As every file was before that size existed."""
    post = ready(alice, file(image(size=LARGE)))
    media_id, db = media_of(post)["id"], alice.server.runtime.db
    alice.server.run(db.transact(lambda tx: tx.run(FORGET_MEDIUM, media_id=media_id)))

    entry = media_of(read(alice, post["id"]))

    assert sizes(entry) == [("/thumbnail", 640, 427), ("", 2048, 1365)]
    assert opened(nobody.get(f"{entry['url']}/medium").content).size == (2048, 1365)
    assert alice.web.get(f"/post/{post['id']}").status_code == 200


def test_narrowing_moves_every_size(alice: Actor) -> None:
    post = ready(alice, file(image(size=LARGE)))
    before = [each["url"] for each in media_of(post)["variants"]]

    body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"visibility": "PRIVATE"}))
    after = [each["url"] for each in media_of(read(alice, post["id"]))["variants"]]

    assert [nobody.get(url).status_code for url in before] == [404] * 3
    assert [opened(nobody.get(url).content).width for url in after] == [640, 1280, 2048]
    body_of(alice.api.delete(f"/api/posts/{post['id']}"))
    assert [nobody.get(url).status_code for url in after] == [404] * 3


def test_every_size_counts_as_stored(alice: Actor) -> None:
    entry = media_of(ready(alice, file(image(size=LARGE))))
    folder = f"media/{entry['id'].lower()}/"

    names = [f"{folder}{name}.webp" for name in ("large", "medium", "thumbnail")]
    assert blobs_below(alice.server.settings.data_dir, folder) == names
    weights = [len(nobody.get(each["url"]).content) for each in entry["variants"]]
    assert alice.server.run(alice.server.runtime.db.one(STORED, account_id=alice.account.id)) == sum(weights)
