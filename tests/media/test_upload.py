"""Publishing with media over HTTP: answers, stored files, and how much each caller may send."""

import json

import pytest

from pressroom.clock import iso
from pressroom.domains.keys.models import Scope
from tests.api.actors import (
    NOTHING,
    Actor,
    body_of,
    events,
    field_errors,
    follow,
    objections,
    publish,
    read,
    refusal,
)
from tests.api.conftest import MakeActor, one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.uploads import (
    MEBIBYTE,
    blobs_below,
    file,
    image,
    kept,
    media_of,
    padded,
    path_of,
    ready,
    rows_everywhere,
    upload,
    uploaded,
)

SETTINGS = {**ROOMY, "DAILY_CONTENT_QUOTA": 5}

PLACE = {"name": "Köln", "latitude": 50.94, "longitude": 6.96}


def test_the_whole_answer(server: LocalServer, alice: Actor) -> None:
    files = [file(image("PNG"), "image/png", "one.png"), file(image("GIF"), "image/gif", "two.gif")]

    answer = upload(alice.api, *files, content="Look", location=json.dumps(PLACE), altText=["A red field", ""])

    post = body_of(answer, 201)
    first, second = post.pop("media")
    author = {"id": alice.account.id, "username": alice.account.username, "displayName": alice.account.display_name}
    assert {name: post["author"].pop(name) for name in author} == author
    assert set(post.pop("author")) == {"avatar", "verified", "verifiedType"}
    now = iso(server.clock.now())
    assert post == {
        "id": post["id"],
        "content": "Look",
        "linkPreview": None,
        "location": PLACE,
        "type": "POST",
        "visibility": "PUBLIC",
        "comments": "everyone",
        "createdAt": now,
        "updatedAt": now,
        "editedAt": None,
        "deletedAt": None,
        "hub": None,
        "sourceApiKey": {"id": alice.record.id, "label": "test key", "keyPrefix": alice.record.key_prefix},
        "isBounce": False,
        "bouncedBy": None,
        "permalink": f"{alice.server.base_url}/post/{post['id']}",
        "originalPost": None,
        "poll": None,
        "stats": {"likes": 0, "comments": 0, "shares": 0, "shareCount": 0, "views": 0},
        "userInteractions": {"liked": False, "saved": False},
    }
    for entry, kind, alt_text in ((first, "image", "A red field"), (second, "gif", None)):
        assert entry == {
            "id": entry["id"],
            "url": entry["url"],
            "type": kind,
            "mimeType": "image/webp",
            "processingStatus": "PROCESSING",
            "width": None,
            "height": None,
            "duration": None,
            "sizeBytes": None,
            "thumbnailUrl": f"{entry['url']}/thumbnail",
            "altText": alt_text,
            "variants": [],
        }
        assert entry["url"].startswith(f"{server.base_url}/media/")
    assert first["url"] != second["url"]
    assert alice.written() == (1, 1, 1, 0)


def test_the_same_address_holds_from_the_answer_until_it_is_ready(alice: Actor) -> None:
    post = uploaded(alice, file(image(size=(300, 200))))
    before = media_of(post)

    alice.server.do_jobs()

    after = media_of(read(alice, post["id"]))
    assert after == before | {
        "processingStatus": "READY",
        "width": 300,
        "height": 200,
        "sizeBytes": after["sizeBytes"],
        "variants": [{"url": before["url"], "width": 300, "height": 200}],
    }
    assert len(alice.web.get(after["url"]).content) == after["sizeBytes"]


def test_event_is_delivered_at_once(alice: Actor) -> None:
    post = uploaded(alice, visibility="FOLLOWERS")

    (event,) = events(alice, "post.created")

    assert event["post"] == {
        "id": post["id"],
        "authorId": alice.account.id,
        "content": None,
        "type": "POST",
        "visibility": "FOLLOWERS",
        "isShare": False,
        "originalPostId": None,
        "hubId": None,
        "createdAt": post["createdAt"],
    }
    assert media_of(post)["processingStatus"] == "PROCESSING"


def test_content_is_optional(alice: Actor) -> None:
    assert uploaded(alice)["content"] is None
    assert uploaded(alice, content=" \n ")["content"] is None
    assert uploaded(alice, content="")["content"] is None


def test_texts_are_those_of_a_create(alice: Actor) -> None:
    post = uploaded(alice, content="Cafe\u0301\r\n#tag", visibility="PRIVATE", location='{"name": "Here"}')

    assert post["content"] == "Caf\u00e9\n#tag"
    assert post["visibility"] == "PRIVATE"
    assert post["location"] == {"name": "Here"}


def test_a_post_into_a_hub(alice: Actor, actor: MakeActor) -> None:
    slug = alice.account.username
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Readers", "slug": slug}), 201)
    stranger = actor()

    post = uploaded(alice, hubId=hub["id"])
    before = kept(alice.server)
    refused = upload(stranger.api, hubId=hub["id"])

    assert post["hub"]["slug"] == slug
    assert [field for field, _ in objections(refused)] == ["hubId"]
    assert stranger.written() == NOTHING
    assert kept(alice.server) == before


def test_alt_texts_go_with_the_files_in_their_order(alice: Actor) -> None:
    colours = ["red", "green", "blue", "white"]
    files = [file(image(colour=colour), name=f"{colour}.jpg") for colour in colours]

    post = ready(alice, *files, altText=["Red", "", "Blue"])

    assert [entry["altText"] for entry in post["media"]] == ["Red", None, "Blue", None]
    assert [entry["processingStatus"] for entry in post["media"]] == ["READY"] * 4
    assert len({entry["url"] for entry in post["media"]}) == 4


def test_a_post_with_media_bears_no_card(alice: Actor) -> None:
    cards = rows_everywhere(alice.server)["link_cards"]
    post = uploaded(alice, content="See https://example.org/page")
    assert rows_everywhere(alice.server)["link_cards"] == cards

    edited = body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"content": "Or https://example.org/other"}))

    assert post["linkPreview"] is edited["linkPreview"] is None


def test_an_edit_of_a_post_with_media_fetches_no_page(alice: Actor, actor: MakeActor) -> None:
    post, bob = uploaded(alice), actor()
    cards = rows_everywhere(alice.server)["link_cards"]
    edit = {"content": f"See https://example.org/{post['id']}"}

    assert bob.api.patch(f"/api/posts/{post['id']}", json=edit).status_code == 404
    body_of(alice.api.patch(f"/api/posts/{post['id']}", json=edit))

    assert rows_everywhere(alice.server)["link_cards"] == cards


def test_one_unit_of_quota_for_all_files_of_a_post_and_none_beyond_it(alice: Actor) -> None:
    for used in range(1, 6):
        uploaded(alice, file(), file(image("PNG"), "image/png"))
        assert alice.written() == (used, used, used, 0)
    before = kept(alice.server)

    refused = upload(alice.api)

    assert refusal(refused) == (429, "Daily content quota exceeded")
    assert refused.headers["retry-after"] == str(refused.json()["retryAfter"])
    assert kept(alice.server) == before


def test_signed_in_there_is_no_quota_and_no_key(alice: Actor) -> None:
    posts = [body_of(upload(alice.web, content=f"number {n}"), 201) for n in range(6)]

    assert {post["sourceApiKey"] for post in posts} == {None}
    assert alice.written() == (6, 6, 0, 0)


@one_engine
def test_it_takes_its_own_scope(actor: MakeActor) -> None:
    uploader, publisher = actor(Scope.MEDIA_WRITE), actor(*[scope for scope in Scope if scope is not Scope.MEDIA_WRITE])

    refused = upload(publisher.api)

    assert upload(uploader.api).status_code == 201
    assert refusal(refused) == (403, "Missing required scope")
    assert refused.json()["requiredScope"] == "media:write"
    assert publisher.written() == NOTHING


@one_engine
def test_a_session_from_another_origin_is_refused(alice: Actor) -> None:
    refused = alice.web.post("/api/posts/upload", files=[file()], headers={"Origin": "https://elsewhere.example"})

    assert refusal(refused) == (403, "Cross-origin request refused")
    assert alice.written() == NOTHING


@one_engine
def test_four_files_of_8_mebibytes_by_key_and_not_a_byte_more(alice: Actor) -> None:
    most = file(padded(8 * MEBIBYTE))
    before = kept(alice.server)

    assert field_errors(upload(alice.api, file(padded(8 * MEBIBYTE + 1)))) == [("media[0]", "too_large")]
    assert field_errors(upload(alice.api, *[file()] * 5)) == [("media[4]", "too_many")]
    assert field_errors(upload(alice.api, *[file()] * 6)) == [("media[4]", "too_many"), ("media[5]", "too_many")]
    assert kept(alice.server) == before
    assert len(uploaded(alice, *[most] * 4)["media"]) == 4


@one_engine
def test_ten_files_of_50_mebibytes_signed_in_and_not_a_byte_more(alice: Actor) -> None:
    assert field_errors(upload(alice.web, file(padded(50 * MEBIBYTE + 1)))) == [("media[0]", "too_large")]
    assert field_errors(upload(alice.web, *[file()] * 11)) == [("media[10]", "too_many")]
    assert alice.written() == NOTHING

    post = body_of(upload(alice.web, file(padded(50 * MEBIBYTE)), *[file()] * 9), 201)

    assert len(post["media"]) == 10


def test_an_edit_leaves_the_media_as_they_are(alice: Actor) -> None:
    post = ready(alice, altText="Red")

    edited = body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"content": "Now with text"}))
    hidden = body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"visibility": "PRIVATE"}))

    assert edited["content"] == hidden["content"] == "Now with text"
    assert edited["media"] == post["media"]
    (before,), (after,) = post["media"], hidden["media"]
    moved = dict.fromkeys(("url", "thumbnailUrl", "variants"))
    assert {**after, **moved} == {**before, **moved}
    assert alice.web.get(before["url"]).status_code == 404, "whoever saw the public page knows this address"
    assert alice.web.get(after["url"]).status_code == 200


def test_a_bounce_shows_the_media_of_its_original(alice: Actor, actor: MakeActor) -> None:
    post, bob = ready(alice), actor()

    bounce = body_of(bob.api.post(f"/api/posts/{post['id']}/bounce"), 201)

    assert bounce["media"] is None
    assert bounce["originalPost"]["media"] == post["media"]

    body_of(alice.api.delete(f"/api/posts/{post['id']}"))

    assert read(bob, bounce["id"])["originalPost"] is None
    assert bob.web.get(media_of(post)["url"]).status_code == 404


def test_the_media_of_a_deleted_post_are_kept_but_not_served(alice: Actor) -> None:
    post = ready(alice)
    entry = media_of(post)
    names = blobs_below(alice.server.settings.data_dir, f"media/{entry['id'].lower()}")
    assert alice.web.get(entry["url"]).status_code == 200

    body_of(alice.api.delete(f"/api/posts/{post['id']}"))

    assert alice.web.get(f"/api/posts/{post['id']}").status_code == 404
    assert [alice.web.get(path_of(entry[name])).status_code for name in ("url", "thumbnailUrl")] == [404, 404]
    assert blobs_below(alice.server.settings.data_dir, f"media/{entry['id'].lower()}") == names != []


def test_a_post_deleted_before_it_was_processed(alice: Actor) -> None:
    post = uploaded(alice)
    body_of(alice.api.delete(f"/api/posts/{post['id']}"))

    alice.server.do_jobs()

    assert alice.web.get(media_of(post)["url"]).status_code == 404
    assert blobs_below(alice.server.settings.data_dir, f"uploads/{media_of(post)['id'].lower()}") == []


def test_hidden_post_reveals_no_media(alice: Actor, actor: MakeActor) -> None:
    post, bob = ready(alice, visibility="FOLLOWERS"), actor()

    assert bob.web.get(f"/api/posts/{post['id']}").status_code == 404

    follow(bob, alice)

    (entry,) = read(bob, post["id"])["media"]
    # Its addresses are the reader's own, and end.
    own = {"url", "thumbnailUrl"}
    assert {name: entry[name] for name in entry.keys() - own - {"variants"}} == {
        name: value for name, value in media_of(post).items() if name not in own | {"variants"}
    }
    assert {bob.web.get(path_of(entry[name])).status_code for name in own} == {200}


def test_media_belong_to_nobody_else(alice: Actor) -> None:
    plain = publish(alice)
    post = uploaded(alice)

    assert plain["media"] is None
    assert read(alice, plain["id"])["media"] is None
    assert len(read(alice, post["id"])["media"]) == 1


@one_engine
@pytest.mark.parametrize("declared", [None, "", "application/octet-stream", "image/jpg", "IMAGE/JPEG; x=y"])
def test_a_vague_type_is_no_fault(alice: Actor, declared: str | None) -> None:
    assert media_of(uploaded(alice, file(kind=declared)))["type"] == "image"
