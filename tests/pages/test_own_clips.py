"""The pages of the caller's clips and posts: published, edited, given readers and deleted, without script."""

from urllib.parse import quote

import pytest

from tests.api.actors import Actor, Json, body_of, nobody, publish
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.files import filmed, picture, uploaded, video
from tests.pages.reader import Page

SETTINGS = ROOMY


def send(who: Actor, path: str, **texts: str) -> tuple[int, str, Page]:
    """Sends a form: status, where it leads, and the page."""
    answer = who.web.post(path, data=texts)
    return answer.status_code, answer.headers.get("location", ""), Page(answer.text)


def opened(who: Actor, path: str, status: int = 200) -> Page:
    answer = who.web.get(path)
    assert answer.status_code == status, answer.text
    return Page(answer.text)


def newest(who: Actor) -> Json:
    clips: list[Json] = body_of(who.web.get("/api/clips"))["clips"]
    return clips[0]


def test_a_clip_is_published_edited_and_deleted(alice: Actor) -> None:
    files = [("video", video())]
    texts = {"caption": "Ink", "visibility": "FOLLOWERS", "idempotency_key": "one-form"}

    answers = [alice.web.post("/clips", files=files, data=texts) for _ in range(2)]

    assert [(each.status_code, each.headers["location"]) for each in answers] == [
        (303, "/clips?done=clip-published")
    ] * 2
    clip = newest(alice)
    assert (clip["caption"], clip["visibility"], clip["sourceApiKey"]) == ("Ink", "FOLLOWERS", None)
    assert opened(alice, "/clips").has(f"#clip-{clip['id']} a[href='/clip/{clip['id']}/edit']")
    assert opened(alice, "/").has(f"#clip-{clip['id']}")

    edited = send(alice, f"/clip/{clip['id']}/edit", caption="", visibility="PUBLIC")
    assert edited[:2] == (303, "/clips?done=clip-edited")
    assert (newest(alice)["caption"], newest(alice)["visibility"]) == (None, "PUBLIC")

    assert "This cannot be undone." in opened(alice, f"/clip/{clip['id']}/delete").tree.css("main")[0].text()
    assert send(alice, f"/clip/{clip['id']}/delete")[:2] == (303, "/clips?done=clip-deleted")
    assert nobody.get(f"{alice.server.base_url}/clip/{clip['id']}").status_code == 410
    assert not opened(alice, "/clips").has(".clip-tiles")


@one_engine
@pytest.mark.parametrize(
    ("file", "caption", "said"),
    [
        (None, "", "Video: Send at least one file in this field."),
        (picture(), "", "Video, 1: By its bytes this is image/png; a video is needed."),
        (video(), "x" * 2_201, "Caption: At most 2,200 characters; this has 2,201."),
    ],
    ids=["no file", "a picture", "a long caption"],
)
def test_refused_clip_is_explained(alice: Actor, file: tuple[str, bytes, str] | None, caption: str, said: str) -> None:
    files = [("video", file)] if file else [("caption", (None, "typed"))]
    answer = alice.web.post("/clips", files=files, data={"caption": caption} if file else {})

    page = Page(answer.text)
    assert answer.status_code == 400
    assert page.lines("#errors li") == [said]
    assert body_of(alice.web.get("/api/clips"))["clips"] == []


def test_a_post_is_edited_on_its_page(alice: Actor) -> None:
    post = publish(alice, "The ferry <leaves>")
    path = f"/post/{post['id']}/edit"
    assert opened(alice, path).tree.css("textarea[name=content]")[0].text() == "The ferry <leaves>"

    status, location, _ = send(alice, path, content="It left", visibility="PRIVATE")

    assert (status, location) == (303, f"/post/{post['id']}?done=post-edited")
    edited = body_of(alice.web.get(f"/api/posts/{post['id']}"))
    assert (edited["content"], edited["visibility"], edited["editedAt"] is None) == ("It left", "PRIVATE", False)
    refused = send(alice, path, content="", visibility="PUBLIC")
    assert (refused[0], refused[2].lines("#errors li")) == (400, ["Text: A post that has a text keeps one."])


def test_a_post_of_pictures_alone_is_edited_without_a_text(alice: Actor) -> None:
    post = uploaded(alice, picture())

    assert send(alice, f"/post/{post['id']}/edit", content="", visibility="FOLLOWERS")[0] == 303

    edited = body_of(alice.web.get(f"/api/posts/{post['id']}"))
    assert (edited["content"], edited["visibility"]) == (None, "FOLLOWERS")


def test_editable_fields_of_bounces(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(bob)["id"]
    plain = body_of(alice.web.post(f"/api/posts/{original}/bounce"), 201)["id"]
    quote = body_of(alice.web.post(f"/api/posts/{original}/bounce", json={"content": "Read this"}), 201)["id"]

    assert not opened(alice, f"/post/{plain}/edit").has("textarea")
    page = opened(alice, f"/post/{quote}/edit")
    assert (page.has("textarea[name=content]"), page.has("select[name=visibility]")) == (True, False)
    assert send(alice, f"/post/{quote}/edit", content="Read that")[0] == 303
    opened(alice, f"/post/{plain}/audience", 404)
    assert send(alice, f"/post/{plain}/delete")[0] == 303


def test_a_post_is_deleted_on_its_page(alice: Actor) -> None:
    post = uploaded(alice, picture(), content="Going")
    path = f"/post/{post['id']}/delete"
    text = opened(alice, path).tree.css("main")[0].text()
    assert "Going" in text
    assert "pictures and videos are no longer available" in text

    assert send(alice, path)[:2] == (303, "/?done=post-deleted")

    assert nobody.get(f"{alice.server.base_url}/post/{post['id']}").status_code == 410
    opened(alice, path, 404)


def test_the_readers_of_a_post_are_seen_and_changed(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    first, second = bob.account.username, carol.account.username
    post = publish(alice, visibility="CUSTOM")
    path = f"/post/{post['id']}/audience"

    assert send(alice, path, usernames=f"{first}\r\n\r\n{second}")[:2] == (303, f"{path}?done=audience-set")
    assert opened(alice, path).tree.css("textarea")[0].text().split() == sorted([first, second])
    assert bob.web.get(f"/api/posts/{post['id']}").status_code == 200

    status, _, page = send(alice, path, usernames=f"{first}\r\n\r\nnobody_here")
    assert (status, page.lines("#f-usernames-error span")) == (422, ["Line 3: There is no account nobody_here."])

    assert send(alice, path, usernames="")[0] == 303
    assert opened(alice, path).tree.css("textarea")[0].text() == ""
    assert bob.web.get(f"/api/posts/{post['id']}").status_code == 404


def test_pages_of_own_clips_are_404_for_others(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post, clip = publish(alice)["id"], filmed(alice)["id"]

    for path in (
        *(f"/post/{post}/{act}" for act in ("edit", "delete", "audience")),
        f"/clip/{clip}/edit",
        f"/clip/{clip}/delete",
    ):
        opened(bob, path, 404)
        signed_out = nobody.get(f"{alice.server.base_url}{path}")
        assert (signed_out.status_code, signed_out.headers["location"]) == (303, f"/login?next={quote(path, safe='')}")
        assert alice.web.get(path).headers["cache-control"] == "no-store"


def test_a_clip_without_its_video_is_refused_however_the_form_is_sent(alice: Actor) -> None:
    for sent in ({}, {"caption": "x", "visibility": "PUBLIC"}):
        answer = alice.web.post("/clips", data=sent)

        assert answer.status_code == 400, answer.text
        assert "Send at least one file in this field." in Page(answer.text).line("#errors")
