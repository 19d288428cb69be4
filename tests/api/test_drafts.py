"""Drafts: written, changed by version, given files, approved and published; who sees them, and how many there are."""

from typing import Any

import httpx
import msgspec
import pytest

from pressroom.clock import DAY, iso
from pressroom.db import Query
from pressroom.domains.drafts.actions import purge_published
from pressroom.domains.drafts.models import MOST_DRAFTS, MOST_SCHEDULED
from pressroom.domains.keys.models import Scope
from pressroom.domains.media.queries import find_stored_bytes, has_media
from tests.api.actors import Actor, body_of, field_errors, objections, rows
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.media.uploads import image

SETTINGS = {**ROOMY}


class Used(msgspec.Struct):
    """The content that an account wrote by key today."""

    account_id: str
    used: int


BY_KEY = Query(Used, "SELECT account_id, used FROM content_quotas")
PLACE = {"name": "Köln", "latitude": 50.9375, "longitude": 6.9603}
POLL = {"question": "Which?", "options": ["The fox", "The heron"], "multiple": True, "durationMinutes": 60}


def made(client: httpx.Client, **fields: object) -> dict[str, Any]:
    """A new draft."""
    return body_of(client.post("/api/drafts", json=fields), 201)


def changed(client: httpx.Client, draft: dict[str, Any], **fields: object) -> dict[str, Any]:
    """The draft after a change."""
    return body_of(client.patch(f"/api/drafts/{draft['id']}", json={"version": draft["version"], **fields}))


def with_files(client: httpx.Client, draft: dict[str, Any], *colours: str) -> dict[str, Any]:
    """The draft with more pictures."""
    files = [("media", (f"{colour}.jpg", image(colour=colour), "image/jpeg")) for colour in colours]
    data = {"altText": [f"all {colour}" for colour in colours]}
    return body_of(client.post(f"/api/drafts/{draft['id']}/media", files=files, data=data), 201)


def soon(actor: Actor, milliseconds: int = 60_000) -> str:
    """A time a little ahead."""
    return iso(actor.server.clock.now() + milliseconds)


def test_draft_comes_back_as_it_was_given(alice: Actor) -> None:
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Press", "slug": f"h{alice.account.id.lower()}"}), 201)
    fields = {
        "content": "Not yet #letterpress",
        "visibility": "FOLLOWERS",
        "location": PLACE,
        "hubId": hub["id"],
        "poll": POLL,
        "linkPreviewUrl": "https://page.example/heron",
        "comments": "nobody",
    }

    answer = alice.web.post("/api/drafts", json=fields)
    draft = body_of(answer, 201)

    assert {name: draft[name] for name in fields} == fields
    assert (draft["version"], draft["state"], draft["publishAt"], draft["refusal"], draft["postId"]) == (
        *(1, "draft", None, None, None),
    )
    assert (draft["needsApproval"], draft["mediaIds"], draft["sourceApiKey"]) == (False, [], None)
    assert answer.headers["Location"].endswith(f"/api/drafts/{draft['id']}")
    assert body_of(alice.web.get(f"/api/drafts/{draft['id']}")) == draft
    assert body_of(alice.web.get("/api/drafts")) == {"drafts": [draft], "nextCursor": None}


def test_empty_draft_is_taken_and_no_post_is_made(alice: Actor) -> None:
    assert made(alice.web)["content"] is None
    assert body_of(alice.web.get("/api/posts"))["posts"] == []


def test_change_keeps_unnamed_fields_and_null_clears(alice: Actor) -> None:
    draft = made(alice.web, content="One", location=PLACE, visibility="PRIVATE", poll=POLL)

    second = changed(alice.web, draft, content="Two")
    third = changed(alice.web, second, location=None, visibility=None, poll=None)
    fourth = changed(alice.web, third, content=None)

    assert (second["version"], second["content"], second["location"], second["poll"]) == (2, "Two", PLACE, POLL)
    assert (third["location"], third["visibility"], third["poll"], third["content"]) == (None, "PUBLIC", None, "Two")
    assert (fourth["version"], fourth["content"]) == (4, None)


def test_change_of_an_earlier_version_is_a_conflict_with_the_present_draft(alice: Actor) -> None:
    draft = made(alice.web, content="One")
    second = changed(alice.web, draft, content="Two, of the first tab")

    answer = alice.web.patch(f"/api/drafts/{draft['id']}", json={"version": 1, "content": "Two, of the second tab"})

    assert (answer.status_code, answer.json()["error"]) == (409, "Conflict")
    assert answer.json()["draft"] == second
    assert body_of(alice.web.get(f"/api/drafts/{draft['id']}")) == second
    late = alice.web.post(f"/api/drafts/{draft['id']}/publish", json={"version": 1})
    assert (late.status_code, late.json()["draft"]) == (409, second)


def test_change_needs_a_version(alice: Actor) -> None:
    draft = made(alice.web)

    assert field_errors(alice.web.patch(f"/api/drafts/{draft['id']}", json={"content": "a"})) == [
        ("version", "required")
    ]


def test_published_draft_becomes_a_post_and_stays_as_it_is(alice: Actor) -> None:
    draft = made(alice.web, content="Now #letterpress", location=PLACE, comments="nobody", visibility="FOLLOWERS")

    published = body_of(alice.web.post(f"/api/drafts/{draft['id']}/publish"))
    post = body_of(alice.web.get(f"/api/posts/{published['postId']}"))

    assert (published["state"], published["version"]) == ("published", 2)
    assert (post["content"], post["location"], post["comments"], post["visibility"]) == (
        *("Now #letterpress", PLACE, "nobody", "FOLLOWERS"),
    )
    assert post["sourceApiKey"] is None
    assert objections(alice.web.post(f"/api/drafts/{draft['id']}/publish")) == [("body", "not_allowed")]
    late = alice.web.patch(f"/api/drafts/{draft['id']}", json={"version": 2, "content": "Later"})
    assert objections(late) == [("body", "not_allowed")]
    body_of(alice.web.delete(f"/api/drafts/{draft['id']}"))
    assert body_of(alice.web.get(f"/api/posts/{post['id']}"))["id"] == post["id"]


def test_draft_of_a_published_post_goes_after_30_days(alice: Actor) -> None:
    draft = made(alice.api, content="Now")
    body_of(alice.api.post(f"/api/drafts/{draft['id']}/publish"))
    kept = made(alice.api, content="Not yet")

    alice.server.clock.advance(31 * DAY)
    alice.server.run(alice.server.runtime.db.transact(purge_published, 100))

    assert [each["id"] for each in body_of(alice.api.get("/api/drafts"))["drafts"]] == [kept["id"]]


def test_publishing_an_incomplete_draft_is_refused_and_changes_nothing(alice: Actor) -> None:
    draft = made(alice.web, content="  ", visibility="PUBLIC", usernames=[alice.account.username])

    answer = alice.web.post(f"/api/drafts/{draft['id']}/publish")

    assert objections(answer) == [("content", "required"), ("usernames", "not_allowed")]
    assert body_of(alice.web.get(f"/api/drafts/{draft['id']}")) == draft


def test_membership_of_the_hub_counts_when_it_is_published(alice: Actor) -> None:
    draft = made(alice.web, content="Hello", hubId="01M7WVE9SS0371E5H43QNHTMZJ")

    assert objections(alice.web.post(f"/api/drafts/{draft['id']}/publish")) == [("hubId", "not_allowed")]


def test_allowlist_of_a_custom_draft_becomes_that_of_its_post(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    draft = made(alice.web, content="For one", visibility="CUSTOM", usernames=[bob.account.username])

    published = body_of(alice.web.post(f"/api/drafts/{draft['id']}/publish"))

    assert body_of(bob.web.get(f"/api/posts/{published['postId']}"))["content"] == "For one"
    unknown = made(alice.web, content="For nobody", visibility="CUSTOM", usernames=["nobody_of_that_name"])
    assert objections(alice.web.post(f"/api/drafts/{unknown['id']}/publish")) == [("usernames[0]", "invalid_choice")]


def test_deleted_draft_is_gone(alice: Actor) -> None:
    draft = made(alice.web, content="No")

    assert body_of(alice.web.delete(f"/api/drafts/{draft['id']}"))["id"] == draft["id"]
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/publish")):
        assert alice.web.request(method, f"/api/drafts/{draft['id']}{path}").status_code == 404


def test_drafts_are_listed_newest_first_by_page(alice: Actor) -> None:
    ids = [made(alice.web, content=str(number))["id"] for number in range(3)]

    first = body_of(alice.web.get("/api/drafts", params={"limit": 2}))
    second = body_of(alice.web.get("/api/drafts", params={"limit": 2, "cursor": first["nextCursor"]}))

    assert [each["id"] for each in (*first["drafts"], *second["drafts"])] == ids[::-1]
    assert second["nextCursor"] is None


def test_draft_of_another_account_is_404(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    draft = made(alice.web, content="Mine")

    for client in (bob.web, bob.api, alice.api):
        assert client.get(f"/api/drafts/{draft['id']}").status_code == 404
        assert client.patch(f"/api/drafts/{draft['id']}", json={"version": 1, "content": "x"}).status_code == 404
        assert client.delete(f"/api/drafts/{draft['id']}").status_code == 404
        assert body_of(client.get("/api/drafts"))["drafts"] == []


def test_key_sees_the_drafts_that_it_made_and_its_owner_sees_all(alice: Actor) -> None:
    of_key, own = made(alice.api, content="By key"), made(alice.web, content="By hand")

    assert of_key["sourceApiKey"]["id"] == alice.record.id
    assert [each["id"] for each in body_of(alice.api.get("/api/drafts"))["drafts"]] == [of_key["id"]]
    assert [each["id"] for each in body_of(alice.web.get("/api/drafts"))["drafts"]] == [own["id"], of_key["id"]]
    assert changed(alice.web, of_key, content="By both")["version"] == 2


def test_post_of_a_keys_draft_bears_the_key_and_counts_against_the_quota_by_key(alice: Actor) -> None:
    draft = made(alice.api, content="By key")

    published = body_of(alice.web.post(f"/api/drafts/{draft['id']}/publish"))

    post = body_of(alice.web.get(f"/api/posts/{published['postId']}"))
    assert post["sourceApiKey"]["id"] == alice.record.id
    used = rows(alice.server, BY_KEY)
    assert (alice.account.id, 1) in [(each.account_id, each.used) for each in used]


@one_engine
def test_scopes_of_drafts(actor: MakeActor) -> None:
    without, writer = actor(Scope.POSTS_WRITE), actor(Scope.DRAFTS_WRITE)

    def missing(answer: httpx.Response) -> tuple[int, str]:
        return answer.status_code, answer.json().get("requiredScope")

    assert missing(without.api.post("/api/drafts", json={})) == (403, "drafts:write")
    assert missing(without.api.get("/api/drafts")) == (403, "drafts:write")
    draft = made(writer.api, content="One")
    assert missing(writer.api.post(f"/api/drafts/{draft['id']}/publish")) == (403, "posts:write")
    assert missing(writer.api.post("/api/drafts", json={"publishAt": soon(writer)})) == (403, "posts:write")
    late = writer.api.patch(f"/api/drafts/{draft['id']}", json={"version": 1, "publishAt": soon(writer)})
    assert missing(late) == (403, "posts:write")
    files = {"media": ("a.jpg", image(), "image/jpeg")}
    assert missing(writer.api.post(f"/api/drafts/{draft['id']}/media", files=files)) == (403, "media:write")


def test_key_cannot_publish_or_schedule_unapproved_draft(alice: Actor) -> None:
    both = alice.api.post("/api/drafts", json={"content": "a", "needsApproval": True, "publishAt": soon(alice)})
    assert objections(both) == [("publishAt", "not_allowed")]
    draft = made(alice.api, content="Please look", needsApproval=True)
    path = f"/api/drafts/{draft['id']}"

    assert objections(alice.api.post(f"{path}/publish")) == [("body", "not_allowed")]
    for fields in ({"publishAt": soon(alice)}, {"needsApproval": False, "publishAt": soon(alice)}):
        answer = alice.api.patch(path, json={"version": 1, **fields})
        assert ("publishAt", "not_allowed") in objections(answer)
    assert objections(alice.api.patch(path, json={"version": 1, "needsApproval": False})) == [
        ("needsApproval", "not_allowed")
    ]
    assert body_of(alice.web.post(f"{path}/publish"))["state"] == "published"


def test_key_cannot_change_approved_draft_but_may_delete_it(alice: Actor) -> None:
    draft = made(alice.api, content="Please look", needsApproval=True)
    scheduled = changed(alice.web, draft, publishAt=soon(alice))
    path = f"/api/drafts/{draft['id']}"

    answer = alice.api.patch(path, json={"version": scheduled["version"], "content": "Something else"})
    files = {"media": ("a.jpg", image(), "image/jpeg")}

    assert objections(answer) == [("body", "not_allowed")]
    assert objections(alice.api.post(f"{path}/media", files=files)) == [("body", "not_allowed")]
    assert body_of(alice.web.get(path)) == scheduled
    body_of(alice.api.delete(path))


def test_draft_that_comes_to_need_approval_leaves_the_schedule(alice: Actor) -> None:
    draft = made(alice.api, content="Soon", publishAt=soon(alice))

    held = changed(alice.web, draft, needsApproval=True)

    assert (held["state"], held["publishAt"], held["needsApproval"]) == ("draft", None, True)


@one_engine
def test_key_sets_neither_commenters_nor_readers(alice: Actor) -> None:
    answer = alice.api.post("/api/drafts", json={"comments": "nobody", "usernames": ["otto"]})

    assert field_errors(answer) == [("comments", "not_allowed"), ("usernames", "not_allowed")]


@one_engine
@pytest.mark.parametrize("ahead", [-1, 0, 365 * DAY + 60_000])
def test_time_in_the_past_or_beyond_a_year_is_invalid(alice: Actor, ahead: int) -> None:
    answer = alice.web.post("/api/drafts", json={"publishAt": soon(alice, ahead)})

    assert field_errors(answer) == [("publishAt", "out_of_range")]


def test_schedule_is_set_moved_and_taken_off(alice: Actor) -> None:
    draft = made(alice.web, content="Later", publishAt=soon(alice, 365 * DAY))
    assert draft["state"] == "scheduled"

    moved = changed(alice.web, draft, publishAt=soon(alice))
    off = changed(alice.web, moved, publishAt=None)

    assert (moved["state"], moved["publishAt"]) == ("scheduled", soon(alice))
    assert (off["state"], off["publishAt"]) == ("draft", None)


def test_account_has_at_most_100_drafts_and_300_scheduled_ones(alice: Actor) -> None:
    drafts = [made(alice.web, content=str(number)) for number in range(MOST_DRAFTS)]
    assert objections(alice.web.post("/api/drafts", json={})) == [("body", "too_many")]

    scheduled = [made(alice.api, content="Later", publishAt=soon(alice)) for _ in range(MOST_SCHEDULED)]
    full = alice.web.post("/api/drafts", json={"publishAt": soon(alice)})
    assert objections(full) == [("publishAt", "too_many")]
    path = f"/api/drafts/{drafts[0]['id']}"
    assert objections(alice.web.patch(path, json={"version": 1, "publishAt": soon(alice)})) == [
        ("publishAt", "too_many")
    ]
    off = alice.web.patch(f"/api/drafts/{scheduled[0]['id']}", json={"version": 1, "publishAt": None})
    assert objections(off) == [("body", "too_many")]
    body_of(alice.web.delete(path))
    assert made(alice.web)["state"] == "draft"


def test_files_are_added_ordered_described_and_published(alice: Actor) -> None:
    draft = with_files(alice.web, made(alice.web, content="Pictures"), "red", "green")
    draft = with_files(alice.web, draft, "blue")
    assert [each["altText"] for each in draft["media"]] == ["all red", "all green", "all blue"]
    assert draft["version"] == 3
    red, green, blue = draft["mediaIds"]

    draft = changed(alice.web, draft, mediaIds=[blue, red], altText=["The sky"])
    published = body_of(alice.web.post(f"/api/drafts/{draft['id']}/publish"))
    alice.server.do_jobs()

    post = body_of(alice.web.get(f"/api/posts/{published['postId']}"))
    assert [(each["id"], each["altText"]) for each in post["media"]] == [(blue, "The sky"), (red, "all red")]
    assert [each["processingStatus"] for each in post["media"]] == ["READY"] * 2
    assert alice.web.get(post["media"][0]["url"]).status_code == 200
    assert green not in str(body_of(alice.web.get(f"/api/drafts/{draft['id']}")))


def test_file_of_a_draft_is_for_its_owner_alone(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    draft = with_files(alice.web, made(alice.web), "red")
    alice.server.do_jobs()

    media = body_of(alice.web.get(f"/api/drafts/{draft['id']}"))["media"][0]

    assert media["processingStatus"] == "READY"
    assert "/media/signed." in media["url"]
    assert bob.web.get(media["url"]).status_code == 200, "an address is the right to read"


def test_only_files_of_the_draft_can_be_kept(alice: Actor) -> None:
    other = with_files(alice.web, made(alice.web), "red")
    draft = made(alice.web)

    answer = alice.web.patch(f"/api/drafts/{draft['id']}", json={"version": 1, "mediaIds": other["mediaIds"]})
    assert objections(answer) == [("mediaIds[0]", "not_allowed")]
    assert objections(alice.web.post("/api/drafts", json={"mediaIds": other["mediaIds"]})) == [
        ("mediaIds[0]", "not_allowed")
    ]
    path, one = f"/api/drafts/{other['id']}", other["mediaIds"][0]
    twice = alice.web.patch(path, json={"version": 2, "mediaIds": [one, one]})
    assert field_errors(twice) == [("mediaIds[1]", "duplicate")]
    assert objections(alice.web.patch(path, json={"version": 2, "altText": ["a", "b"]})) == [("altText[1]", "too_many")]


def test_draft_has_at_most_four_files_by_key_and_ten_signed_in(alice: Actor) -> None:
    draft = with_files(alice.api, made(alice.api), *("red",) * 4)
    path = f"/api/drafts/{draft['id']}/media"
    more = [("media", ("a.jpg", image(), "image/jpeg"))]

    assert objections(alice.api.post(path, files=more)) == [("media", "too_many")]
    with_files(alice.web, draft, *("blue",) * 6)
    assert objections(alice.web.post(path, files=more)) == [("media", "too_many")]


def test_poll_beside_files_is_refused_when_it_is_published(alice: Actor) -> None:
    draft = with_files(alice.web, made(alice.web, content="Both", poll=POLL), "red")

    assert objections(alice.web.post(f"/api/drafts/{draft['id']}/publish")) == [("poll", "not_allowed")]


@pytest.mark.parametrize("is_processed", [True, False])
def test_files_of_a_deleted_draft_leave_the_store_and_the_account(alice: Actor, is_processed: bool) -> None:
    draft = with_files(alice.web, made(alice.web), "red", "green")
    if is_processed:
        alice.server.do_jobs()
    blobs = alice.server.settings.data_dir / "blobs"
    assert [path for path in blobs.rglob("*") if path.is_file()]

    body_of(alice.web.delete(f"/api/drafts/{draft['id']}"))
    alice.server.do_jobs()

    assert [path for path in blobs.rglob("*") if path.is_file() and draft["mediaIds"][0].lower() in str(path)] == []
    db = alice.server.runtime.db
    assert alice.server.run(db.read(find_stored_bytes, alice.account.id)) == 0
    assert not alice.server.run(db.read(has_media, alice.account.id))


@one_engine
def test_upload_to_an_unknown_draft_is_404_and_stores_nothing(alice: Actor) -> None:
    blobs = alice.server.settings.data_dir / "blobs" / "uploads"
    before = list(blobs.glob("*"))

    answer = alice.api.post(f"/api/drafts/{alice.account.id}/media", files={"media": ("a.jpg", image(), "image/jpeg")})

    assert (answer.status_code, answer.json()["message"]) == (404, "There is no such draft.")
    assert list(blobs.glob("*")) == before


def test_repeated_upload_adds_its_files_once(alice: Actor) -> None:
    draft = made(alice.web)
    path, headers = f"/api/drafts/{draft['id']}/media", {"Idempotency-Key": "once"}
    files = {"media": ("a.jpg", image(), "image/jpeg")}

    first = alice.web.post(path, files=files, headers=headers)
    again = alice.web.post(path, files=files, headers=headers)

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["mediaIds"] == first.json()["mediaIds"]
    assert len(body_of(alice.web.get(f"/api/drafts/{draft['id']}"))["mediaIds"]) == 1
