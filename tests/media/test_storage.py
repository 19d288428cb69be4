"""How many bytes of media an account may store: over all its keys and sessions, to the byte."""

from pathlib import Path

import httpx

from pressroom.clock import DAY
from pressroom.db import Query
from tests.api.actors import Actor, body_of, nobody, objections, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.media.uploads import file, kept, media_of, padded, ready, upload, uploaded, video_bytes

LIMIT = 100_000
SETTINGS = {**ROOMY, "ACCOUNT_STORAGE_BYTES": LIMIT, "DAILY_CONTENT_QUOTA": 20}

STORED = Query(int, "SELECT bytes FROM stored_media WHERE account_id = :account_id")
SHARES = Query(int, "SELECT CAST(sum(stored_bytes) AS BIGINT) FROM media WHERE account_id = :account_id")


def stored(actor: Actor) -> int:
    """Bytes that the account stores, by its own count, which is that of its files."""
    server, account_id = actor.server, actor.account.id
    count = server.run(server.runtime.db.one(STORED, account_id=account_id)) or 0
    assert (server.run(server.runtime.db.one(SHARES, account_id=account_id)) or 0) == count
    return count


def send(client: httpx.Client, *sizes: int, idempotency_key: str | None = None) -> httpx.Response:
    """Publishes files of these sizes."""
    return upload(client, *(file(padded(size)) for size in sizes), idempotency_key=idempotency_key)


def test_storage_of_keys_and_sessions_is_one_sum(alice: Actor, actor: MakeActor) -> None:
    assert send(alice.api, 30_000, 30_000).status_code == 201
    assert send(alice.web, 30_000).status_code == 201
    before = kept(alice.server)

    for client in (alice.api, alice.web):
        assert objections(send(client, 10_001)) == [("media", "too_large")]
        assert objections(send(client, 9_000, 1_001)) == [("media", "too_large")]

    assert kept(alice.server) == before
    assert send(alice.api, 10_000).status_code == 201, "to the byte"
    assert stored(alice) == LIMIT
    assert objections(send(alice.api, 1_000)) == [("media", "too_large")]
    assert alice.post().status_code == 201, "text needs none"
    assert send(actor().api, LIMIT).status_code == 201, "others have their own"


def test_one_upload_that_is_too_large_by_itself(alice: Actor) -> None:
    answer = send(alice.api, LIMIT, 1_000)

    assert objections(answer) == [("media", "too_large")]
    assert "100,000 bytes" in answer.json()["message"]
    assert stored(alice) == 0


def test_clips_count_too(alice: Actor, tmp_path: Path) -> None:
    video = video_bytes(tmp_path)
    files = {"video": ("a.mp4", video, "video/mp4")}
    room = LIMIT - len(video)
    assert send(alice.api, room).status_code == 201
    assert alice.api.post("/api/clips", files=files).status_code == 201
    assert stored(alice) == LIMIT
    assert objections(alice.web.post("/api/clips", files=files)) == [("video", "too_large")]


def test_processed_file_counts_with_its_served_bytes(alice: Actor) -> None:
    media = media_of(ready(alice, file(padded(90_000))))

    files = [media["url"], media["thumbnailUrl"]]
    assert stored(alice) == sum(len(nobody.get(address).content) for address in files) < 10_000
    assert send(alice.api, 90_000).status_code == 201, "there is room again"


def test_a_file_that_cannot_be_decoded_counts_for_nothing(alice: Actor) -> None:
    uploaded(alice, file(b"\xff\xd8\xff\xe0" + bytes(50_000)))
    assert stored(alice) == 50_004

    alice.server.do_jobs()

    assert stored(alice) == 0


def test_deleted_posts_count_against_the_quota(alice: Actor) -> None:
    post = ready(alice, file(padded(90_000)))
    before = stored(alice)
    body_of(alice.api.delete(f"/api/posts/{post['id']}"))
    assert stored(alice) == before > 0

    waiting = uploaded(alice, file(padded(90_000)))
    body_of(alice.api.delete(f"/api/posts/{waiting['id']}"))
    alice.server.do_jobs()
    assert stored(alice) == before, "what was deleted before it was processed is not kept"


def test_refused_and_repeated_uploads_take_no_space(alice: Actor) -> None:
    first = send(alice.api, 40_000, idempotency_key="k")
    assert send(alice.api, 40_000, idempotency_key="k").json() == first.json()
    for _ in range(19):
        assert alice.post().status_code == 201
    assert refusal(send(alice.api, 40_000)) == (429, "Daily content quota exceeded")
    assert objections(send(alice.api, 60_001)) == [("media", "too_large")], "before the quota is looked at"

    assert stored(alice) == 40_000
    alice.server.clock.advance(DAY)
    assert send(alice.api, 60_000).status_code == 201
