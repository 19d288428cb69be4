"""Clips: what their form takes, what they cost and tell, who sees them, what becomes of them (docs/media.md#clips)."""

from typing import Any

import httpx
import pytest

from pressroom.clock import iso
from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from tests.api.actors import (
    NOTHING,
    Actor,
    Json,
    body_of,
    events,
    field_errors,
    nobody,
    objections,
    publish,
    refusal,
    rows,
)
from tests.api.audiences import SEEN_BY, crowd
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.files import File, broken_video, filmed, picture, uploaded, video

SETTINGS = {**ROOMY, "DAILY_CONTENT_QUOTA": 3}

CLIPS = Query(int, "SELECT count(*) FROM clips WHERE account_id = :account_id")
MEDIA = Query(int, "SELECT count(*) FROM media WHERE account_id = :account_id")
ABSENT = "01HZ0000000000000000000000"


def send(who: Actor, *files: File, way: str = "api", key: str | None = None, **texts: Any) -> httpx.Response:
    """Sends a form with these files as `video`."""
    headers = {} if key is None else {"Idempotency-Key": key}
    client: httpx.Client = getattr(who, way)
    # Without a file httpx would send no multipart form.
    parts = [("video", each) for each in files] or [("caption", (None, ""))]
    return client.post("/api/clips", files=parts, data=texts, headers=headers)


def counted(who: Actor) -> tuple[int, int]:
    """How many clips and files the account has."""
    clips, media = (rows(who.server, query, account_id=who.account.id)[0] for query in (CLIPS, MEDIA))
    return clips, media


def hub_of(who: Actor) -> Json:
    return body_of(who.web.post("/api/hubs", json={"name": "A hub", "slug": who.account.username}), 201)


def show(who: Actor, clip: Json, status: int = 200) -> Json:
    return body_of(who.web.get(f"/api/clips/{clip['id']}"), status)


def test_a_clip_is_published(alice: Actor) -> None:
    server, base = alice.server, alice.server.base_url
    hub = hub_of(alice)

    clip = body_of(send(alice, video(), caption="Ink Cafe\u0301", visibility="FOLLOWERS", hubId=hub["id"]), 201)

    url = clip["url"]
    assert url.startswith(f"{base}/media/")
    assert clip == {
        "id": clip["id"],
        "author": publish(alice)["author"],
        "caption": "Ink Caf\u00e9",
        "duration": None,
        "visibility": "FOLLOWERS",
        "hub": {"id": hub["id"], "name": "A hub", "slug": hub["slug"], "avatar": hub["avatar"]},
        "processingStatus": "PROCESSING",
        "url": url,
        "thumbnailUrl": f"{url}/thumbnail",
        "createdAt": iso(server.clock.now()),
        "sourceApiKey": {"id": alice.record.id, "label": "test key", "keyPrefix": alice.record.key_prefix},
        "permalink": f"{base}/clip/{clip['id']}",
    }
    assert show(alice, clip) == clip
    assert counted(alice) == (1, 1)


def test_all_but_the_video_can_be_left_out(alice: Actor) -> None:
    clip = body_of(send(alice, video(), way="web", caption=" \u2003\n"), 201)

    told = [clip[name] for name in ("caption", "visibility", "hub", "sourceApiKey")]
    assert told == [None, "PUBLIC", None, None]


def test_event_of_a_clip_matches_it(alice: Actor) -> None:
    hub = hub_of(alice)
    clips = [filmed(alice), filmed(alice, caption="Ink", visibility="CUSTOM", hubId=hub["id"])]

    assert events(alice, "postclip.created") == [
        {
            "postclip": {
                "id": clip["id"],
                "authorId": alice.account.id,
                "caption": caption,
                "duration": None,
                "visibility": visibility,
                "hubId": hub_id,
                "processingStatus": "PROCESSING",
                "createdAt": clip["createdAt"],
            }
        }
        for clip, caption, visibility, hub_id in zip(
            clips, (None, "Ink"), ("PUBLIC", "CUSTOM"), (None, hub["id"]), strict=True
        )
    ]


def test_it_ends_ready(alice: Actor) -> None:
    clip = filmed(alice, video(1.0, sound=True))
    assert [nobody.get(clip[name]).status_code for name in ("url", "thumbnailUrl")] == [404, 404]

    alice.server.do_jobs()

    ready = show(alice, clip)
    assert ready == {**clip, "processingStatus": "READY", "duration": ready["duration"]}
    assert abs(ready["duration"] - 1.0) < 0.1
    served, poster = nobody.get(clip["url"]), nobody.get(clip["thumbnailUrl"])
    assert (served.status_code, served.headers["content-type"]) == (200, "video/mp4")
    assert served.content[4:8] == b"ftyp"
    assert (poster.status_code, poster.headers["content-type"]) == (200, "image/webp")
    assert len(events(alice, "postclip.created")) == 1


def test_invalid_video_ends_failed(alice: Actor) -> None:
    clip = filmed(alice, broken_video())

    alice.server.do_jobs()

    assert show(alice, clip) == {**clip, "processingStatus": "FAILED"}
    assert nobody.get(clip["url"]).status_code == 404


@one_engine
@pytest.mark.parametrize(
    ("files", "texts", "said"),
    [
        ([], {}, [("video", "required")]),
        ([picture()], {}, [("video[0]", "unsupported_media_type")]),
        ([("a.mp4", picture()[1], "video/mp4")], {}, [("video[0]", "unsupported_media_type")]),
        ([("a.mp4", b"", "video/mp4")], {}, [("video[0]", "too_short")]),
        ([("a.mp4", b"no video", "video/mp4")], {}, [("video[0]", "unsupported_media_type")]),
        ([("a.webm", video()[1], "video/webm")], {}, [("video[0]", "unsupported_media_type")]),
        ([video(), video()], {}, [("video[1]", "too_many")]),
        ([("a.mp4", video()[1] + bytes(8 * 1_048_576), "video/mp4")], {}, [("video[0]", "too_large")]),
        ([video()], {"caption": "x" * 2_201}, [("caption", "too_long")]),
        ([video()], {"visibility": "public"}, [("visibility", "invalid_choice")]),
        ([video()], {"content": "x"}, [("content", "unknown_field")]),
        ([video()], {"altText": "x"}, [("altText", "unknown_field")]),
        ([video()], {"caption": ["a", "b"]}, [("caption", "duplicate")]),
        (
            [picture()],
            {"caption": "x" * 2_201, "visibility": "NOBODY"},
            [("caption", "too_long"), ("video[0]", "unsupported_media_type"), ("visibility", "invalid_choice")],
        ),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else "",
)
def test_faults_are_named(alice: Actor, files: list[File], texts: Json, said: list[tuple[str, str]]) -> None:
    assert sorted(field_errors(send(alice, *files, **texts))) == said
    assert alice.written() == NOTHING
    assert counted(alice) == (0, 0)


@one_engine
def test_a_file_under_another_name_is_refused(alice: Actor) -> None:
    answer = alice.api.post("/api/clips", files=[("media", video())])

    assert ("media", "unknown_field") in field_errors(answer)
    assert counted(alice) == (0, 0)


@one_engine
def test_a_clip_is_no_json(alice: Actor) -> None:
    assert refusal(alice.api.post("/api/clips", json={"caption": "x"})) == (415, "Unsupported media type")


@one_engine
def test_a_caption_has_up_to_2200_characters(alice: Actor) -> None:
    caption = "e\u0301\U0001f600" * 1_100

    assert filmed(alice, caption=caption)["caption"] == "\u00e9\U0001f600" * 1_100


def test_only_members_publish_into_a_hub(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = hub_of(bob)

    for hub_id in (hub["id"], ABSENT, " "):
        assert objections(send(alice, video(), hubId=hub_id)) == [("hubId", "not_allowed")]

    assert alice.written() == NOTHING
    assert counted(alice) == (0, 0)


@pytest.mark.parametrize("visibility", SEEN_BY)
def test_its_visibility_holds(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)
    clip = filmed(people["author"], visibility=visibility)
    # No list of readers can be given to a clip: CUSTOM is its author's alone.
    seen_by = SEEN_BY["PRIVATE"] if visibility == "CUSTOM" else SEEN_BY[visibility]

    for kind, person in people.items():
        answer = person.web.get(f"/api/clips/{clip['id']}")
        assert (kind, answer.status_code) == (kind, 200 if kind in seen_by else 404)
        if answer.status_code == 404:
            assert "There is no such clip." in answer.text
    signed_out = nobody.get(f"{people['author'].server.base_url}/api/clips/{clip['id']}").status_code
    assert signed_out == (200 if visibility == "PUBLIC" else 404)


@one_engine
def test_other_posts_are_no_clips(alice: Actor) -> None:
    for clip_id in (ABSENT, "absent", publish(alice)["id"]):
        assert refusal(alice.web.get(f"/api/clips/{clip_id}")) == (404, "Not found")


def test_clips_and_posts_share_the_quota(alice: Actor) -> None:
    publish(alice)
    uploaded(alice, picture())
    filmed(alice)

    for refused in (
        send(alice, video()),
        alice.post(),
        alice.api.post("/api/posts/upload", files=[("media", picture())]),
    ):
        assert refusal(refused) == (429, "Daily content quota exceeded")
        assert int(refused.headers["retry-after"]) == refused.json()["retryAfter"]
    assert counted(alice) == (1, 2)
    assert send(alice, video(), way="web").status_code == 201, "signed in there is no quota"


def test_a_clip_takes_its_own_scope(actor: MakeActor) -> None:
    without = actor(*(scope for scope in Scope if scope is not Scope.CLIPS_WRITE))

    answer = send(without, video())

    assert refusal(answer) == (403, "Missing required scope")
    assert answer.json()["requiredScope"] == "clips:write"
    assert counted(without) == (0, 0)
    assert send(actor(Scope.CLIPS_WRITE), video()).status_code == 201


@pytest.mark.parametrize("way", ["api", "web"])
def test_a_repeated_clip_is_one_clip(alice: Actor, way: str) -> None:
    first = send(alice, video(), way=way, key="same", caption="One")
    again = send(alice, video(), way=way, key="same", caption="Two")

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.content == again.content
    assert again.headers["idempotent-replayed"] == "true"
    assert counted(alice) == (1, 1)
    assert len(events(alice, "postclip.created")) == 1
    assert send(alice, video(), way=way, key="other").json()["id"] != first.json()["id"]


@one_engine
def test_a_refused_clip_can_be_tried_again(alice: Actor) -> None:
    assert send(alice, picture(), key="same").status_code == 400
    assert send(alice, video(), key="same").status_code == 201


@one_engine
def test_nothing_of_a_refused_clip_is_kept(alice: Actor) -> None:
    folder = alice.server.settings.data_dir
    files = {path for path in folder.rglob("*") if path.is_file() and "pressroom.db" not in path.name}

    assert send(alice, picture()).status_code == 400
    assert send(alice, video(), hubId=ABSENT).status_code == 422

    assert {path for path in folder.rglob("*") if path.is_file() and "pressroom.db" not in path.name} == files
