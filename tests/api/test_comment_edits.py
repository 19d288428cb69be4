"""Comments are edited for a while, and deleted by their authors and by those whose posts they stand under."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from pressroom.clock import MINUTE, iso
from tests.api.actors import Actor, Json, body_of, events, follow, nobody, objections, publish, read, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, visit

SETTINGS = ROOMY
NOT_FOUND = (404, "Not found")


def say(who: Actor, post: Json, content: str = "Hm", **fields: object) -> Json:
    """A new comment, made signed in."""
    return body_of(who.web.post(f"/api/posts/{post['id']}/comments", json={"content": content, **fields}), 201)


def at(comment: Json) -> str:
    """Where a comment is edited and deleted."""
    return f"/api/comments/{comment['id']}"


def said(reader: Actor, post: Json) -> list[str]:
    """The texts of the comments on a post."""
    return [each["content"] for each in body_of(reader.web.get(f"/api/posts/{post['id']}/comments"))["comments"]]


def test_an_edit_within_fifteen_minutes(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    comment = say(bob, post, "Teh heron", media={"type": "gif", "url": "https://images.example.org/heron.gif"})
    bob.server.clock.advance(15 * MINUTE - 1)

    edited = body_of(bob.web.patch(at(comment), json={"content": " The heron "}))

    assert comment["editedAt"] is None
    assert edited == comment | {"content": " The heron ", "editedAt": iso(bob.server.clock.now())}
    assert said(alice, post) == [" The heron "]
    bob.server.clock.advance(1)
    assert objections(bob.web.patch(at(comment), json={"content": "A fox"})) == [("body", "not_allowed")]
    assert [len(events(bob, kind)) for kind in ("comment.created", "post.created")] == [1, 0]


def test_edit_and_delete_need_the_author_or_owner(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    comment = say(bob, post)

    for who in (alice, carol):
        assert refusal(who.web.patch(at(comment), json={"content": "No"})) == NOT_FOUND
    assert refusal(carol.web.delete(at(comment))) == NOT_FOUND
    for client in (bob.api, alice.api):
        assert refusal(client.patch(at(comment), json={"content": "No"})) == (403, "Session required")
        assert refusal(client.delete(at(comment))) == (403, "Session required")
    assert nobody.delete(bob.server.base_url + at(comment)).status_code == 401
    assert said(carol, post) == ["Hm"]

    assert body_of(alice.web.delete(at(comment))) == {"message": "Comment deleted", "id": comment["id"]}
    for who in (alice, bob):
        assert refusal(who.web.delete(at(comment))) == NOT_FOUND
    assert refusal(bob.web.patch(at(comment), json={"content": "No"})) == NOT_FOUND


def test_a_deleted_comment_leaves_the_lists_and_its_replies_stay(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    first = say(bob, post, "The heron")
    reply = say(alice, post, "The fox", parentId=first["id"])

    body_of(bob.web.delete(at(first)))

    assert read(alice, post["id"])["stats"]["comments"] == 1
    assert said(alice, post) == ["The fox"]
    again = bob.web.post(f"/api/posts/{post['id']}/comments", json={"content": "Hm", "parentId": first["id"]})
    assert objections(again) == [("parentId", "not_allowed")]
    page = visit(alice.server, f"/post/{post['id']}", alice)
    assert page.lines(".comment.deleted") == ["This comment was deleted."]
    assert page.lines(".comment .text") == ["The fox"]
    assert page.has(f"#comment-{reply['id']}.depth-1")
    assert "The heron" not in page.html
    assert bob.account.username not in page.html

    body_of(alice.web.delete(at(reply)))
    assert visit(alice.server, f"/post/{post['id']}").lines("#comments .empty") == ["No comments yet."]


def test_a_post_that_one_sees_no_more(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    follow(bob, alice)
    post = publish(alice, visibility="FOLLOWERS")
    comment = say(bob, post)
    body_of(bob.web.delete(f"/api/accounts/{alice.account.username}/follow"))

    assert refusal(bob.web.patch(at(comment), json={"content": "No"})) == NOT_FOUND
    assert bob.web.get(f"/comment/{comment['id']}/edit").status_code == 404
    body_of(bob.web.delete(at(comment)))
    assert read(alice, post["id"])["stats"]["comments"] == 0


def test_two_deletions_at_once_count_once(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    comments = [say(bob, post) for _ in range(8)]
    senders = [(who, each) for each in comments for who in (alice, bob)]

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda pair: pair[0].web.delete(at(pair[1])).status_code, senders))

    assert sorted(answers) == [200] * 8 + [404] * 8
    assert read(alice, post["id"])["stats"]["comments"] == 0


@pytest.mark.parametrize("deletes", [False, True])
def test_the_pages(actor: MakeActor, deletes: bool) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    comment = say(bob, post, "Teh heron")
    links = dict(visit(bob.server, f"/post/{post['id']}", bob).links(".comment-acts"))
    assert set(links) == {"Reply", "Edit", "Delete"}
    others = dict(visit(bob.server, f"/post/{post['id']}", alice).links(".comment-acts"))
    assert set(others) == {"Reply", "Delete", "Report"}
    assert visit(bob.server, links["Edit"], bob).texts("textarea") == ["Teh heron"]
    assert "Teh heron" in visit(bob.server, links["Delete"], alice).line("blockquote")

    if deletes:
        answer = alice.web.post(links["Delete"])
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            f"/post/{post['id']}?done=comment-deleted#comments",
        )
        assert said(bob, post) == []
    else:
        refused = bob.web.post(links["Edit"], data={"content": "x" * 501})
        assert (refused.status_code, Page(refused.text).texts("textarea")) == (400, ["x" * 501])
        answer = bob.web.post(links["Edit"], data={"content": "The heron"})
        assert answer.status_code == 303
        place, _, anchor = answer.headers["location"].partition("#")
        page = visit(bob.server, place, alice)
        assert page.lines(f"#{anchor} .text") == ["The heron"]
        assert "edited" in page.line(f"#{anchor} .when")
        bob.server.clock.advance(15 * MINUTE)
        assert bob.web.get(links["Edit"]).status_code == 422
        assert bob.web.post(links["Edit"], data={"content": "A fox"}).status_code == 422
        assert comment["id"] in anchor
