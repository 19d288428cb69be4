"""The compose box: publishing, refusals that keep the input, and the preview."""

import pytest

from pressroom.db import Command, Query
from tests.api.actors import Actor, Json, body_of, events, follow, nobody, rows
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.media.uploads import BOUNDARY, file_part, form, text_part
from tests.pages.files import File, picture, video
from tests.pages.reader import Page

SETTINGS = ROOMY

FILL = Command("UPDATE stored_media SET bytes = :size WHERE account_id = :account_id")
STORED = Query(int, "SELECT bytes FROM stored_media WHERE account_id = :account_id")
POSTS = Query(int, "SELECT count(*) FROM posts WHERE account_id = :account_id")
EMPTY: File = ("", b"", "application/octet-stream")
"""The part of a file input that was left empty."""


def send(who: Actor, *files: File, to: str = "/", **texts: str | list[str]) -> tuple[int, str, Page]:
    """Sends the form as a browser does: status, where it leads, and the page."""
    parts = [file_part(data, name=name, kind=kind) for name, data, kind in files or (EMPTY,)]
    for name, given in texts.items():
        field = name.replace("__", ".")
        parts += [text_part(field, text) for text in ([given] if isinstance(given, str) else given)]
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer = who.web.post(to, content=form(parts), headers=headers)
    return answer.status_code, answer.headers.get("location", ""), Page(answer.text)


def latest(who: Actor) -> Json:
    """The newest of one's posts."""
    posts: list[Json] = body_of(who.web.get("/api/posts?limit=1"))["posts"]
    return posts[0]


def faults(page: Page) -> list[str]:
    """The summary of errors."""
    return [node.text().strip() for node in page.tree.css("#errors li")]


def count(who: Actor) -> int:
    return rows(who.server, POSTS, account_id=who.account.id)[0]


def test_a_text_alone_is_published(alice: Actor) -> None:
    status, location, _ = send(alice, content="The ferry\r\nleaves #today", visibility="FOLLOWERS")

    assert (status, location) == (303, "/?done=post-published")
    post = latest(alice)
    assert (post["content"], post["visibility"]) == ("The ferry\nleaves #today", "FOLLOWERS")
    assert post["sourceApiKey"] is None
    assert len(events(alice, "post.created")) == 1
    page = Page(alice.web.get("/?done=post-published").text)
    assert "Your post is published." in page.tree.css("#done")[0].text()
    assert page.has(f"#post-{post['id']} a[href='/post/{post['id']}/edit']")


def call_off(who: Actor, key: str, to: str = "/") -> Json:
    """Calls an upload off, as the script of the page does."""
    return body_of(who.web.post(to, data={"called_off": "true", "idempotency_key": key}))


@pytest.mark.parametrize("to", ["/", "/compose", "/compose/save"])
def test_upload_that_arrives_after_it_was_called_off_does_nothing(alice: Actor, to: str) -> None:
    called_off = call_off(alice, "k", to)
    assert called_off["wasDone"] is False
    assert call_off(alice, "k", to)["wasDone"] is False, "asking again changes nothing"

    assert send(alice, picture(), to=to, content="Too late", idempotency_key="k")[0] == 409

    assert (count(alice), events(alice, "post.created")) == (0, [])
    assert body_of(alice.web.get("/api/drafts"))["drafts"] == []
    assert rows(alice.server, STORED, account_id=alice.account.id) in ([], [0])
    assert send(alice, picture(), to=to, content="Anew", idempotency_key=called_off["idempotencyKey"])[0] == 303


def test_late_call_off_answers_that_the_upload_was_done(alice: Actor) -> None:
    assert send(alice, picture(), content="On time", idempotency_key="k")[0] == 303

    assert call_off(alice, "k")["wasDone"] is True

    assert count(alice) == 1
    refused = alice.web.post("/", data={"called_off": "true"})
    assert refused.status_code == 400
    assert count(alice) == 1


def test_everything_that_a_post_can_have_beside_files(alice: Actor) -> None:
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Quay", "slug": f"quay-{alice.account.username}"}), 201)

    status, *_ = send(
        alice,
        content="Which?",
        visibility="PUBLIC",
        hubId=hub["id"],
        location__name="K\u00f6ln",
        location__latitude="50,9375",
        location__longitude="6.9603",
        poll__question="Which one?",
        poll__options="The fox\r\n\r\n The heron \r\n",
        poll__multiple="true",
        poll__durationMinutes="60",
        usernames="",
        altText=[""] * 10,
    )

    post = latest(alice)
    assert status == 303
    assert post["hub"]["id"] == hub["id"]
    assert post["location"] == {"name": "K\u00f6ln", "latitude": 50.9375, "longitude": 6.9603}
    assert [option["text"] for option in post["poll"]["options"]] == ["The fox", "The heron"]
    assert (post["poll"]["question"], post["poll"]["multiple"]) == ("Which one?", True)


def test_files_keep_their_order_and_descriptions(alice: Actor) -> None:
    inputs = (picture(), EMPTY, picture(60, 40), video(), EMPTY)

    status, *_ = send(alice, *inputs, content="", visibility="PUBLIC", altText=["One", "", "", "Three", ""])

    assert status == 303
    media = latest(alice)["media"]
    told = [(each["type"], each["altText"]) for each in media]
    assert told == [("image", "One"), ("image", None), ("video", "Three")]


def test_chosen_readers_are_set_with_the_post(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    names = f"{bob.account.username}\r\n"

    status, *_ = send(alice, content=f"For @{bob.account.username}", visibility="CUSTOM", usernames=names)

    post = latest(alice)
    assert status == 303
    assert body_of(alice.web.get(f"/api/posts/{post['id']}/audience")) == {"usernames": [bob.account.username]}
    assert bob.web.get(f"/api/posts/{post['id']}").status_code == 200
    assert carol.web.get(f"/api/posts/{post['id']}").status_code == 404
    told = body_of(bob.web.get("/api/notifications"))["notifications"]
    assert [each["type"] for each in told] == ["mention"]


def test_readers_may_be_written_as_they_are_mentioned(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    bobs, carols = (f"@{who.account.username}" for who in (bob, carol))

    status, *_ = send(alice, content="For few", visibility="CUSTOM", usernames=f"{bobs}\r\n {carols}")

    assert status == 303
    address = f"/post/{latest(alice)['id']}/audience"
    both = sorted([bob.account.username, carol.account.username])
    assert sorted(body_of(alice.web.get(f"/api/posts{address.removeprefix('/post')}"))["usernames"]) == both
    assert alice.web.post(address, data={"usernames": f"{bobs}\r\n"}).status_code == 303
    assert body_of(alice.web.get(f"/api/posts{address.removeprefix('/post')}")) == {"usernames": [bob.account.username]}
    twice = Page(alice.web.post(address, data={"usernames": f"{bobs}\r\n{bob.account.username}"}).text)
    assert len(twice.lines("#errors li")) == 1


def test_unknown_readers_are_named_and_nothing_is_published(alice: Actor) -> None:
    texts = {"content": "For few", "visibility": "CUSTOM", "usernames": "nobody_here\r\nnor_here"}

    status, _, page = send(alice, **texts)

    assert status == 422
    assert faults(page) == [
        "Chosen readers, 1: There is no account nobody_here.",
        "Chosen readers, 2: There is no account nor_here.",
    ]
    assert page.tree.css("textarea[name=usernames]")[0].text() == "nobody_here\nnor_here"
    assert page.tree.css("textarea[name=content]")[0].text() == "For few"
    assert page.tree.css("option[value=CUSTOM][selected]")
    assert (count(alice), events(alice, "post.created")) == (0, [])


@one_engine
@pytest.mark.parametrize(
    ("files", "texts", "said"),
    [
        ((), {"content": " \u3000"}, ["Text: A post needs some text, or a file."]),
        ((), {"content": "x" * 5_001}, ["Text: At most 5,000 characters; this has 5,001."]),
        ((picture(),), {"poll__options": "a\nb"}, ["Choices: A post has a poll or files, not both."]),
        (
            (picture(),),
            {"linkPreviewUrl": "https://page.example/"},
            ["Link card: Beside files no link card is shown: leave this empty."],
        ),
        (
            (picture(), ("b.txt", b"words", "text/plain")),
            {},
            ["File, 2: By its bytes this is none of JPEG, PNG, GIF, WebP, MP4, MPEG, QuickTime and WebM."],
        ),
        (
            (EMPTY,),
            {"content": "a", "altText": "A fox"},
            ["Alt text, 1: This describes a file, but none is chosen. Choose the file again."],
        ),
        (
            (),
            {"content": "a", "visibility": "PUBLIC", "usernames": "otto"},
            ["Chosen readers: Readers are named for a post that chosen readers see. Choose that, or name nobody."],
        ),
        ((), {"content": "a", "poll__question": "Which?"}, ["Choices: This field is required."]),
        ((), {"content": "a", "location__latitude": "91"}, None),
        ((), {"content": "a", "linkPreviewUrl": "nowhere"}, None),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_refused_form_shows_errors_and_typed_text(
    alice: Actor, files: tuple[File, ...], texts: dict[str, str], said: list[str] | None
) -> None:
    status, _, page = send(alice, *files, **texts)

    assert status == 400
    assert faults(page)
    if said is not None:
        assert faults(page) == said
    for name, text in texts.items():
        field = page.tree.css(f"[name='{name.replace('__', '.')}']")[0]
        shown = field.text() if field.tag == "textarea" else field.attributes.get("value")
        assert field.tag == "select" or shown == text
    assert count(alice) == 0
    assert list((alice.server.settings.data_dir / "incoming").glob("*")) == []


@one_engine
def test_eleven_files_are_one_too_many(alice: Actor) -> None:
    status, _, page = send(alice, *[picture()] * 11, altText=["x"] * 11)

    assert (status, faults(page)) == (400, ["File, 11: At most 10 files."])


@pytest.mark.parametrize("files", [(), (picture(),)], ids=["text", "file"])
def test_sent_twice_it_is_one_post(alice: Actor, files: tuple[File, ...]) -> None:
    answers = [send(alice, *files, content="Once", idempotency_key="one-form")[:2] for _ in range(2)]

    assert answers == [(303, "/?done=post-published")] * 2
    assert count(alice) == 1


def test_full_account_is_refused(actor: MakeActor) -> None:
    alice = actor()
    large = ("a.png", picture()[1] + bytes(1_000), "image/png")
    full = Query(int, "SELECT bytes FROM stored_media WHERE account_id = :account_id")
    send(alice, picture())
    fill(alice, 5 * 1024**3 - 10)

    status, _, page = send(alice, large, content="One more")

    assert status == 422
    assert "The account may store 5,368,709,120 bytes of media" in faults(page)[0]
    assert page.tree.css("textarea[name=content]")[0].text() == "One more"
    assert rows(alice.server, full, account_id=alice.account.id) == [5 * 1024**3 - 10]
    assert count(alice) == 1


def fill(who: Actor, size: int) -> None:
    """Has the account store so many bytes."""
    db = who.server.runtime.db
    who.server.run(db.transact(lambda tx: tx.run(FILL, size=size, account_id=who.account.id)))


def test_a_preview_shows_the_post_and_stores_nothing(alice: Actor) -> None:
    status, _, page = send(
        alice,
        to="/preview",
        content="<b>Bold</b> #harbour https://page.example/",
        visibility="PRIVATE",
        poll__options="a\nb",
        location__name="Pier",
    )

    shown = page.tree.css("#preview")[0]
    assert status == 200
    assert shown.css("a[href='/tag/harbour']")
    assert "<b>Bold</b>" in shown.text()
    assert "With the card of page.example" in shown.text()
    assert "Only you" in shown.text()
    assert page.tree.css("textarea[name=content]")[0].text().startswith("<b>Bold</b>")
    assert count(alice) == 0
    assert send(alice, to="/preview", content="")[0] == 400


def test_a_preview_in_json(alice: Actor) -> None:
    shown = body_of(alice.web.post("/api/posts/preview", json={"content": "Cafe\u0301 #ink <i>"}))

    assert shown == {
        "content": "Caf\u00e9 #ink <i>",
        "characters": 13,
        "html": 'Caf\u00e9 <a href="/tag/ink">#ink</a> &lt;i&gt;',
        "entities": [{"type": "hashtag", "start": 5, "end": 9, "name": "ink"}],
        "linkUrl": None,
        "linkPreview": None,
    }
    assert alice.web.post("/api/posts/preview", json={"content": ""}).status_code == 400
    assert alice.api.post("/api/posts/preview", json={"content": "a"}).status_code == 403
    assert count(alice) == 0


def test_names_are_suggested_of_those_whom_one_follows(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    follow(alice, bob)

    def suggested(prefix: str) -> list[str]:
        found = body_of(alice.web.get("/api/follows/suggestions", params={"prefix": prefix}))["accounts"]
        return [each["username"] for each in found]

    name = bob.account.username
    assert suggested("") == suggested(name[:3].upper()) == suggested(f"@{name}") == [name]
    assert suggested(carol.account.username) == suggested("%") == suggested("a b") == []
    assert alice.web.get("/api/follows/suggestions", params={"prefix": "x" * 31}).status_code == 400
    assert nobody.get(f"{alice.server.base_url}/api/follows/suggestions").status_code == 401
