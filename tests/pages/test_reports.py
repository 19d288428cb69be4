"""Reports in the browser: a reader reports, an admin sees it as it was and decides, the owner reads why."""

import pytest

from pressroom.domains.moderation.actions import delete_account
from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.media.uploads import file
from tests.pages.reader import Page

SETTINGS = ROOMY


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    """Somebody with the rights of an admin."""
    return actor().become_admin()


def page(who: Actor, path: str, status: int = 200) -> Page:
    """What somebody reads at an address."""
    answer = who.web.get(path)
    assert answer.status_code == status, answer.text
    return Page(answer.text)


def send(who: Actor, path: str, **fields: str) -> str:
    """Sends a form that is taken; where it leads."""
    answer = who.web.post(path, data=fields)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def report(who: Actor, subject: str, subject_id: str, reason: str = "It sells what is free.") -> str:
    return send(who, "/report", type=subject, id=subject_id, reason=reason)


def case_of(admin: Actor, subject_id: str) -> str:
    cases = body_of(admin.web.get("/api/admin/reports?limit=100"))["reports"]
    return str(next(case["id"] for case in cases if case["subjectId"] == subject_id))


def test_from_the_report_to_the_decision(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, "Everything must go.")
    form = page(bob, f"/report?type=post&id={post['id']}")
    assert "Everything must go." in form.line("blockquote")
    assert form.values("main form", "action") == [f"/report?type=post&id={post['id']}"], "a sign-in leads back here"

    assert report(bob, "post", post["id"]) == f"/post/{post['id']}?done=reported"

    alice.api.patch(f"/api/posts/{post['id']}", json={"content": "Nothing."})
    case = f"/admin/reports/{case_of(admin, post['id'])}"
    assert case in page(admin, "/admin/reports").values("main a", "href")
    opened = page(admin, case)
    assert "Everything must go." in opened.line("blockquote")
    assert "It sells what is free." in opened.line("main")
    assert send(admin, case, decision="hidden", reason="This is no market.") == "/admin/reports?done=report-decided"
    assert case not in page(admin, "/admin/reports").values("main a", "href")
    assert case in page(admin, "/admin/reports?state=decided").values("main a", "href")
    told = page(alice, "/decisions").line("main")
    assert "This is no market." in told
    assert "Everything must go." in told
    assert bob.account.username not in told
    assert "It sells" not in told


def test_pictures_stay_for_the_admin_alone(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    upload = alice.api.post("/api/posts/upload", files=[file()], data={"content": "Look"})
    post = body_of(upload, 201)
    alice.server.do_jobs()
    report(bob, "post", post["id"])
    case = f"/admin/reports/{case_of(admin, post['id'])}"
    send(admin, case, decision="deleted", reason="Not yours.")

    (picture,) = page(admin, case).values("blockquote img", "src")

    assert admin.web.get(picture).headers["content-type"].startswith("image/")
    assert admin.web.get(picture.rpartition("/")[0] + "/01M7WVE9SS0371E5H43QNHTMZJ").status_code == 404
    assert [who.web.get(picture).status_code for who in (alice, bob)] == [404, 404]


def test_case_links_visible_things(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post, other = publish(alice), publish(alice)
    for each in (post, other):
        report(bob, "post", each["id"])
    case, further = (f"/admin/reports/{case_of(admin, each['id'])}" for each in (post, other))
    links = [
        f"/post/{post['id']}",
        f"/admin/explore?type=post&subject={post['id']}",
        f"/@{alice.account.username}",
    ]
    buttons = "blockquote + .actions a"

    assert page(admin, case).values(buttons, "href") == links
    send(admin, case, decision="deleted", reason="It is no good.")
    assert page(admin, case).values(buttons, "href") == links[2:]
    send(admin, further, decision="suspended", reason="Nor are the others.")
    account = f"/admin/accounts/{alice.account.username}"
    for path in (case, further, account):
        assert links[2] not in page(admin, path).values("main a", "href")
    assert page(admin, further).values(buttons, "href") == []
    alice.server.run(alice.server.runtime.db.transact(delete_account, alice.account.username))
    assert not [href for href in page(admin, case).values("main a", "href") if href.startswith("/@")]


def test_the_author_of_a_comment_who_is_gone_is_not_linked(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    made = body_of(bob.web.post(f"/api/posts/{post['id']}/comments", json={"content": "The heron"}), 201)
    path = f"/comment/{made['id']}/delete"
    assert f"/@{bob.account.username}" in page(alice, path).values("main a", "href")

    alice.server.run(alice.server.runtime.db.transact(delete_account, bob.account.username))

    answer = alice.web.get(path)
    assert "[deleted]" not in answer.text
    assert answer.status_code in (200, 404), "404 as soon as the comment is erased"


def test_hidden_post_has_no_form(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, visibility="PRIVATE")

    for query in (f"type=post&id={post['id']}", "type=post", "type=hub&id=x", ""):
        page(bob, f"/report?{query}", 404)


def test_hostile_words_stay_words(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    words = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    post = publish(alice, words)
    report(bob, "post", post["id"], words)
    case = f"/admin/reports/{case_of(admin, post['id'])}"
    pages = [page(admin, "/admin/reports"), page(admin, case)]
    send(admin, case, decision="deleted", reason=words)
    pages += [page(admin, "/admin/reports?state=decided"), page(admin, case), page(alice, "/decisions")]

    for shown in pages:
        assert words in "".join(shown.texts("main"))
        assert not shown.has("main script")
        assert not shown.has("[onerror]")


def test_a_decision_without_a_reason_comes_back(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    report(bob, "post", post["id"])

    answer = admin.web.post(f"/admin/reports/{case_of(admin, post['id'])}", data={"decision": "deleted", "reason": " "})

    assert answer.status_code == 400
    assert Page(answer.text).has("#errors")
    assert Page(answer.text).has("input[value=deleted][checked]")
    assert alice.web.get(f"/api/posts/{post['id']}").status_code == 200


def test_a_block_is_made_and_taken_off(actor: MakeActor, admin: Actor) -> None:
    send(admin, "/admin/blocks", pattern="@spam7.example", reason="Forty accounts.")
    shown = page(admin, "/admin/blocks")
    assert "spam7.example" in shown.lines("main table th code")

    (remove,) = list(shown.values("table form", "action"))[:1]
    assert send(admin, remove) == "/admin/blocks?done=address-unblocked"

    assert "spam7.example" not in page(admin, "/admin/blocks").lines("main table th code")
    assert actor().web.get("/admin/blocks").status_code == 404


def test_a_report_sent_again_after_its_post_is_gone(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    sent = {"type": "post", "id": post["id"], "reason": "x", "idempotency_key": "k" * 20}
    assert send(bob, "/report", **sent) == f"/post/{post['id']}?done=reported"
    body_of(alice.api.delete(f"/api/posts/{post['id']}"))

    assert send(bob, "/report", **sent) == "/?done=reported"
