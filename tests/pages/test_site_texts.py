"""The pages about the server, and the admins' page on which their texts are published."""

import pytest

from pressroom.clock import HOUR, MINUTE, iso
from tests.api.actors import Actor, body_of, field_errors, new_client, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.pages.reader import Page

NAMES = ["about", "rules", "terms", "privacy"]


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    return actor().become_admin()


def read(server: LocalServer, path: str) -> Page:
    """A page as a visitor reads it."""
    with new_client(base_url=server.base_url) as visitor:
        answer = visitor.get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def put(admin: Actor, name: str, text: str) -> None:
    body_of(admin.web.put(f"/api/admin/texts/{name}", json={"text": text}))


@pytest.mark.parametrize("path", ["/about", "/terms", "/privacy"])
def test_pages_without_texts_say_so(server: LocalServer, admin: Actor, path: str) -> None:
    for name in NAMES:
        put(admin, name, "")

    assert len(read(server, path).lines("main article p")) == 1


def test_published_text_is_on_its_page(server: LocalServer, admin: Actor) -> None:
    answer = admin.web.post("/admin/texts/terms", data={"text": "# Use\n\nBe **kind**. [Law](https://law.example)"})
    assert answer.headers["location"] == "/admin/texts?done=text-published"

    shown = read(server, "/terms")
    assert shown.lines("h1") == ["Terms"]
    assert shown.lines("article h2") == ["Use"]
    assert ("Law", "https://law.example") in shown.links("article")
    assert "/terms" in Page(admin.web.get("/about").text).values("main a", "href")


def announce(admin: Actor, text: str, **more: str) -> None:
    """Publishes the announcement, and has the server look at once."""
    body_of(admin.web.put("/api/admin/texts/announcement", json={"text": text, **more}))
    admin.server.run(admin.server.runtime.state.look())


def test_announcement_is_on_every_page_until_its_end(server: LocalServer, admin: Actor) -> None:
    announce(admin, "Closed on **Sunday**. <b>x</b>", endsAt=iso(server.clock.now() + 10 * MINUTE))
    pages = ["/about", "/login", f"/@{admin.account.username}"]

    for path in pages:
        assert read(server, path).lines("aside.announcement p") == ["Closed on Sunday. <b>x</b>"]
    assert Page(admin.web.get("/admin/texts").text).lines("aside.announcement strong") == ["Sunday"]

    server.clock.advance(10 * MINUTE)
    for path in pages:
        assert read(server, path).lines("aside.announcement") == []
    announce(admin, "Back soon.")
    assert read(server, "/about").lines("aside.announcement p") == ["Back soon."]
    announce(admin, "")
    assert read(server, "/about").lines("aside.announcement") == []


def test_end_of_another_text_and_long_announcement_are_refused(admin: Actor) -> None:
    end = iso(admin.server.clock.now() + HOUR)
    rules = admin.web.put("/api/admin/texts/rules", json={"text": "a", "endsAt": end})
    assert field_errors(rules) == [("endsAt", "not_allowed")]
    long = admin.web.put("/api/admin/texts/announcement", json={"text": "a" * 1_001})
    assert field_errors(long) == [("text", "too_long")]


def test_rules_are_on_the_about_page_at_sign_up_and_in_reports(
    server: LocalServer, admin: Actor, actor: MakeActor
) -> None:
    put(admin, "rules", "1. Name your sources.")
    put(admin, "privacy", "Nothing leaves this house.")
    post = publish(actor())["id"]

    assert "Name your sources." in read(server, "/about").lines("article li")
    sign_up = read(server, "/signup")
    assert "Name your sources." in sign_up.lines("form li")
    assert "/privacy" in sign_up.values("form a", "href")
    report = Page(actor().web.get(f"/report?type=post&id={post}").text)
    assert "Name your sources." in report.lines("form li")


def test_html_pictures_and_scripts_in_a_text_are_shown_as_text(server: LocalServer, admin: Actor) -> None:
    put(
        admin,
        "about",
        "<script>alert(1)</script>\n\n<b onclick=x>b</b> [a](javascript:alert(1)) ![p](https://spy.example/p.png)",
    )

    shown = read(server, "/about")
    assert shown.lines("article script, article b, article img") == []
    assert not [href for href in shown.values("article a", "href") if href.startswith("javascript")]
    assert "<script>alert(1)</script>" in shown.lines("article p")


def test_empty_text_withdraws_it(server: LocalServer, admin: Actor) -> None:
    put(admin, "privacy", "Nothing leaves this house.")

    answer = admin.web.post("/admin/texts/privacy", data={"text": " "})

    assert answer.headers["location"] == "/admin/texts?done=text-withdrawn"
    assert "Nothing leaves this house." not in read(server, "/privacy").lines("article p")
    listed = {text["name"]: text for text in body_of(admin.web.get("/api/admin/texts"))["texts"]}
    assert listed["privacy"] == {"name": "privacy", "text": "", "updatedAt": None, "endsAt": None}
    assert list(listed) == [*NAMES, "announcement"]


def test_replay_publishes_once(admin: Actor) -> None:
    once = {"Idempotency-Key": "rules-of-monday"}
    first = admin.web.put("/api/admin/texts/rules", json={"text": "1. Name your sources."}, headers=once)
    put(admin, "rules", "")
    again = admin.web.put("/api/admin/texts/rules", json={"text": "1. Name your sources."}, headers=once)

    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()
    assert body_of(admin.web.get("/api/admin/texts"))["texts"][1]["text"] == ""


def test_unknown_text_is_404(admin: Actor) -> None:
    assert refusal(admin.web.put("/api/admin/texts/imprint", json={"text": "x"})) == (404, "Not found")
    assert admin.web.get("/admin/texts/imprint").status_code == 404


def test_texts_are_published_by_admins_alone(actor: MakeActor) -> None:
    reader = actor()
    assert refusal(reader.web.get("/api/admin/texts")) == (404, "Not found")
    assert refusal(reader.web.put("/api/admin/texts/about", json={"text": "x"})) == (404, "Not found")
    assert reader.web.get("/admin/texts").status_code == 404


def test_publication_is_in_the_log(admin: Actor) -> None:
    put(admin, "about", "News of the harbour.")
    (entry, *_) = body_of(admin.web.get("/api/admin/log"))["entries"]
    assert (entry["kind"], entry["detail"]) == ("text.published", {"text": "about"})


def test_longest_text_is_published(server: LocalServer, admin: Actor) -> None:
    text = "😀" * 19_999
    assert admin.web.post("/admin/texts/about", data={"text": text}).status_code == 303
    assert read(server, "/about").lines("article p")[0] == text
    assert admin.web.post("/admin/texts/about", data={"text": text + "  "}).status_code == 400
