"""Uploads under an Idempotency-Key: one post, one set of files, one answer, however often they are sent."""

import asyncio
from collections import Counter

import httpx

from tests.api.actors import NOTHING, Actor, body_of, objections, refusal
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.harness.wire import Connection, Reply
from tests.media.uploads import (
    UPLOAD,
    blobs_below,
    file,
    file_part,
    files_below,
    form,
    form_headers,
    image,
    kept,
    text_part,
    upload,
)

SETTINGS = {**ROOMY, "DAILY_CONTENT_QUOTA": 2}

COPIES = 10


def test_a_replay_stores_nothing_and_answers_the_first(alice: Actor) -> None:
    first = upload(alice.api, content="One", idempotency_key="key")
    before = kept(alice.server)

    again = upload(alice.api, content="One", idempotency_key="key")
    other = upload(alice.api, file(image("PNG"), "image/png"), content="Another", idempotency_key="key")

    assert first.status_code == 201
    assert "idempotent-replayed" not in first.headers
    for replay in (again, other):
        assert (replay.status_code, replay.headers["idempotent-replayed"]) == (200, "true")
        assert replay.content == first.content
    assert kept(alice.server) == before
    assert alice.written() == (1, 1, 1, 1)


def test_replay_with_other_parts_is_marked(alice: Actor) -> None:
    files = [file(image("PNG"), "image/png"), file()]
    parts = [file_part(), text_part("content", "One")]

    def again(boundary: str) -> httpx.Response:
        content = form(parts, boundary)
        headers = {**form_headers(content, alice.key, boundary), "Idempotency-Key": "parts"}
        return alice.api.post(UPLOAD, content=content, headers=headers)

    upload(alice.api, *files, content="One", idempotency_key="key")
    again("first")

    assert "Idempotent-Body-Differs" not in upload(alice.api, *files, content="One", idempotency_key="key").headers
    assert "Idempotent-Body-Differs" not in again("second").headers, "the boundary is no part of what is said"
    for others in (
        upload(alice.api, *files, content="Two", idempotency_key="key"),
        upload(alice.api, *reversed(files), content="One", idempotency_key="key"),
        upload(alice.api, files[0], content="One", idempotency_key="key"),
        upload(alice.api, files[0], file(image(colour="blue")), content="One", idempotency_key="key"),
    ):
        assert (others.status_code, others.headers["Idempotent-Body-Differs"]) == (200, "true")


def test_a_replay_after_the_processing_answers_the_first(alice: Actor) -> None:
    first = upload(alice.api, idempotency_key="key")
    alice.server.do_jobs()
    before = kept(alice.server)

    again = upload(alice.api, idempotency_key="key")
    alice.server.do_jobs()

    assert again.content == first.content
    assert kept(alice.server) == before


def test_another_key_is_another_post(alice: Actor) -> None:
    posts = [body_of(upload(alice.api, idempotency_key=key), 201) for key in ("one", "two")]

    assert len({post["id"] for post in posts}) == len({post["media"][0]["url"] for post in posts}) == 2


def test_ten_copies_at_once_make_one_post_with_one_set_of_files(alice: Actor) -> None:
    server = alice.server
    uploads = len(blobs_below(server.settings.data_dir, "uploads/"))
    content = form([file_part(), file_part(image("PNG"), kind="image/png"), text_part("content", "One")])
    head = {**form_headers(content, alice.key), "Idempotency-Key": "key"}

    answers = asyncio.run(send_at_once(server, head, content))

    told = Counter((answer.status, answer.headers.get("idempotent-replayed")) for answer in answers)
    assert told == {(201, None): 1, (200, "true"): COPIES - 1}
    assert len({answer.body for answer in answers}) == 1
    assert alice.written() == (1, 1, 1, 1)
    assert len(blobs_below(server.settings.data_dir, "uploads/")) == uploads + 2
    assert [name for name in files_below(server.settings.data_dir) if name.startswith("incoming")] == []


async def send_at_once(server: LocalServer, headers: dict[str, str], content: bytes) -> list[Reply]:
    """Sends copies of an upload over connections of their own, all but the last byte; then the last bytes together."""
    lines = [f"POST {UPLOAD} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    whole = "\r\n".join(lines).encode() + content
    connections = [await Connection.open(server.port) for _ in range(COPIES)]
    try:
        for part in (whole[:-1], whole[-1:]):
            for connection in connections:
                connection.send(part)
        return list(await asyncio.gather(*(connection.reply() for connection in connections)))
    finally:
        for connection in connections:
            connection.close()


def test_post_refused_by_the_quota_leaves_nothing_and_can_be_retried(alice: Actor) -> None:
    for key in ("one", "two"):
        upload(alice.api, idempotency_key=key)
    before = kept(alice.server)

    refused = [upload(alice.api, idempotency_key="three") for _ in range(2)]

    assert [refusal(answer) for answer in refused] == [(429, "Daily content quota exceeded")] * 2
    assert kept(alice.server) == before
    assert upload(alice.api, idempotency_key="one").status_code == 200

    alice.server.clock.advance(86_400_000)
    assert upload(alice.api, idempotency_key="three").status_code == 201


def test_post_refused_by_the_hub_leaves_nothing_and_can_be_retried(alice: Actor, actor: MakeActor) -> None:
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Club", "slug": alice.account.username}), 201)
    bob = actor()
    before = kept(alice.server)

    refused = upload(bob.api, hubId=hub["id"], idempotency_key="key")

    assert objections(refused)[0][0] == "hubId"
    assert kept(alice.server) == before
    assert bob.written() == NOTHING

    body_of(bob.web.post(f"/api/hubs/{hub['id']}/membership"))
    assert upload(bob.api, hubId=hub["id"], idempotency_key="key").status_code == 201


def test_a_bad_form_is_refused_under_a_used_key_too(alice: Actor) -> None:
    upload(alice.api, idempotency_key="key")

    assert upload(alice.api, file(b""), idempotency_key="key").status_code == 400
