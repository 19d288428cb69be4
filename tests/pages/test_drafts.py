"""Drafts on pages, without script: kept, scheduled, edited, approved, published, deleted, and changed at two places."""

from typing import Any

import pytest

from pressroom.clock import MINUTE, iso
from tests.api.actors import Actor, Json, body_of
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.media.uploads import BOUNDARY, file_part, form, text_part
from tests.pages.files import File, picture
from tests.pages.reader import Page

SETTINGS = ROOMY
EMPTY: File = ("", b"", "application/octet-stream")


def send(who: Actor, to: str, *files: File, **texts: str | list[str]) -> tuple[int, str, Page]:
    """Sends the compose box as a browser does: status, where it leads, and the page."""
    parts = [file_part(data, name=name, kind=kind) for name, data, kind in files or (EMPTY,)]
    for name, given in texts.items():
        parts += [text_part(name.replace("__", "."), text) for text in ([given] if isinstance(given, str) else given)]
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer = who.web.post(to, content=form(parts), headers=headers)
    return answer.status_code, answer.headers.get("location", ""), Page(answer.text)


def drafts(who: Actor) -> list[Json]:
    found: list[Json] = body_of(who.web.get("/api/drafts"))["drafts"]
    return found


def sections(who: Actor) -> dict[str, list[str]]:
    """The lists of the page, and the words of each draft in them."""
    page = Page(who.web.get("/drafts").text)
    return {
        " ".join(section.css("h2")[0].text().split()): [node.text() for node in section.css(".words")]
        for section in page.tree.css("main section")
    }


def box(who: Actor, address: str) -> tuple[Page, dict[str, Any]]:
    """The compose box of a page, and the values of its fields."""
    page = Page(who.web.get(address).text)
    fields = page.tree.css("#compose input[name], #compose textarea[name]")
    values = {
        node.attributes["name"] or "": node.text().lstrip("\n")
        if node.tag == "textarea"
        else node.attributes.get("value")
        for node in fields
        if node.attributes.get("type") != "checkbox"
    }
    return page, values


def test_box_is_kept_as_a_draft_with_its_files(alice: Actor) -> None:
    texts: dict[str, str | list[str]] = {
        "content": "Not yet",
        "visibility": "FOLLOWERS",
        "location__name": "K\u00f6ln",
        "altText": ["A fox"],
        "draft": "",
        "version": "",
        "publishAt": "",
        "publishAt_zone": "",
    }

    status, location, _ = send(alice, "/compose/save", picture(), **texts)

    assert (status, location) == (303, "/drafts?done=draft-saved")
    (draft,) = drafts(alice)
    assert (draft["content"], draft["visibility"], draft["location"]["name"]) == ("Not yet", "FOLLOWERS", "K\u00f6ln")
    assert [each["altText"] for each in draft["media"]] == ["A fox"]
    assert sections(alice) == {"Drafts": ["Not yet"]}
    page, values = box(alice, f"/compose?draft={draft['id']}")
    assert (values["content"], values["draft"], values["version"]) == ("Not yet", draft["id"], str(draft["version"]))
    assert (values["location.name"], values["shownTexts"]) == ("K\u00f6ln", "A fox")
    assert page.values("[name=mediaIds][checked]", "value") == draft["mediaIds"]


def test_draft_is_edited_and_published_from_the_box(alice: Actor) -> None:
    send(alice, "/compose/save", picture(), picture(60, 40), content="One", altText=["A fox", "A heron"])
    (draft,) = drafts(alice)
    fox, heron = draft["mediaIds"]
    of_draft = {"draft": draft["id"], "version": str(draft["version"])}

    status, location, _ = send(
        alice,
        "/compose",
        content="Two",
        mediaIds=[heron],
        shownIds=[fox, heron],
        shownTexts=["", "A grey heron"],
        **of_draft,
    )

    assert (status, location) == (303, "/?done=post-published")
    (post,) = body_of(alice.web.get("/api/posts"))["posts"]
    assert post["content"] == "Two"
    assert [(each["id"], each["altText"]) for each in post["media"]] == [(heron, "A grey heron")]
    assert drafts(alice)[0]["postId"] == post["id"]
    assert alice.web.get(f"/compose?draft={draft['id']}").headers["location"] == f"/post/{post['id']}"


def test_box_is_scheduled_and_taken_off(alice: Actor) -> None:
    at = alice.server.clock.now() + 90 * MINUTE
    status, location, _ = send(
        alice, "/compose/schedule", content="Later", publishAt=iso(at - 120 * MINUTE)[:19], publishAt_zone="-02:00"
    )

    (draft,) = drafts(alice)
    assert (status, location, draft["state"]) == (303, "/drafts?done=draft-scheduled", "scheduled")
    assert draft["publishAt"] == iso(at // 1000 * 1000)
    assert sections(alice) == {"Scheduled": ["Later"]}
    body = {"version": str(draft["version"])}
    taken_off = alice.web.post(f"/drafts/{draft['id']}/unschedule", data=body)
    assert taken_off.headers["location"] == "/drafts?done=draft-unscheduled"
    assert sections(alice) == {"Drafts": ["Later"]}


@pytest.mark.parametrize("at", ["", "2020-01-01T00:00"])
def test_schedule_needs_a_time_to_come(alice: Actor, at: str) -> None:
    status, _, page = send(alice, "/compose/schedule", content="Later", publishAt=at, publishAt_zone="")

    assert status == 400
    assert page.has("#errors a[href='#f-publishAt']")
    assert page.tree.css("#f-content")[0].text().strip() == "Later"


def test_box_of_an_earlier_version_shows_both_texts(alice: Actor) -> None:
    send(alice, "/compose/save", content="One")
    (draft,) = drafts(alice)
    path = f"/api/drafts/{draft['id']}"
    body_of(alice.web.patch(path, json={"version": 1, "content": "Two, elsewhere"}))

    status, _, page = send(alice, "/compose/save", content="Two, here", draft=draft["id"], version="1")

    assert status == 409
    assert page.line("#stale .stale-text") == "Two, elsewhere"
    assert page.tree.css("#f-content")[0].text().strip() == "Two, here"
    assert page.values("#compose [name=version]", "value") == ["2"]
    assert body_of(alice.web.get(path))["content"] == "Two, elsewhere"
    status, *_ = send(alice, "/compose/save", content="Both", draft=draft["id"], version="2")
    assert (status, body_of(alice.web.get(path))["content"]) == (303, "Both")


def test_owner_approves_draft_of_a_key(alice: Actor) -> None:
    draft = body_of(alice.api.post("/api/drafts", json={"content": "By key", "needsApproval": True}), 201)
    assert sections(alice) == {"Waiting for your approval": ["By key"]}

    answer = alice.web.post(f"/drafts/{draft['id']}/publish", data={"version": "1"})

    assert answer.headers["location"] == "/drafts?done=draft-published"
    (post,) = body_of(alice.web.get("/api/posts"))["posts"]
    assert post["sourceApiKey"]["id"] == alice.record.id


def test_refused_draft_shows_its_reason(alice: Actor) -> None:
    at = iso(alice.server.clock.now() + MINUTE)
    draft = body_of(alice.web.post("/api/drafts", json={"hubId": "none", "content": "Hi", "publishAt": at}), 201)
    alice.server.clock.advance(MINUTE)
    alice.server.do_jobs()

    assert sections(alice) == {"Could not be published": ["Hi"]}
    assert "not a member" in alice.web.get("/drafts").text
    assert "not a member" in alice.web.get(f"/compose?draft={draft['id']}").text
    assert "A scheduled post could not be published" in alice.web.get("/notifications").text
    answer = alice.web.post(f"/drafts/{draft['id']}/publish", data={"version": str(drafts(alice)[0]["version"])})
    assert answer.status_code == 422


def test_draft_is_deleted(alice: Actor) -> None:
    send(alice, "/compose/save", content="No")
    (draft,) = drafts(alice)

    answer = alice.web.post(f"/drafts/{draft['id']}/delete")

    assert answer.headers["location"] == "/drafts?done=draft-deleted"
    assert sections(alice) == {}


def test_draft_of_somebody_else_is_not_opened(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    send(alice, "/compose/save", content="Mine")
    (draft,) = drafts(alice)

    assert bob.web.get(f"/compose?draft={draft['id']}").status_code == 404
    assert bob.web.post(f"/drafts/{draft['id']}/delete").status_code == 404
    assert bob.web.get("/compose?draft=x").status_code == 404
    status, *_ = send(bob, "/compose/save", content="Not mine", draft=draft["id"], version="1")
    assert status == 404
    assert drafts(alice)[0]["content"] == "Mine"


@pytest.mark.parametrize("protocol", ["", "web+pressroom:"])
def test_text_that_another_page_shares_is_in_the_box(alice: Actor, protocol: str) -> None:
    query = {"title": "Herons", "text": "Look at this <b>", "url": f"{protocol}https://birds.example/heron"}

    answer = alice.web.get("/compose", params=query)

    page = Page(answer.text)
    assert page.tree.css("#f-content")[0].text().strip() == "Herons\nLook at this <b>\nhttps://birds.example/heron"
    assert "<b>" not in answer.text.split("<textarea", 1)[1].split("</textarea>", 1)[0]


def test_hostile_draft_is_shown_as_text(alice: Actor) -> None:
    body_of(alice.api.post("/api/drafts", json={"content": "<script>alert(1)</script>"}), 201)

    assert "<script>alert" not in alice.web.get("/drafts").text
