"""Comments, replies, likes, bounces, quotes, accepted requests and reports notify the accounts that they concern."""

from collections.abc import Callable

import pytest

from pressroom.clock import MINUTE
from pressroom.db import Command, Query
from pressroom.domains.follows.queries import insert_block, insert_mute
from pressroom.domains.moderation.actions import delete_account, suspend_account
from tests.api.actors import Actor, Json, body_of, publish, rows
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY

ROWS = Query(str, "SELECT id FROM notifications WHERE account_id = :account_id")
RESTORE = Command("UPDATE accounts SET suspended_at = NULL WHERE id = :account_id")


def heard(who: Actor) -> list[Json]:
    """The account's notifications, newest first."""
    found: list[Json] = body_of(who.web.get("/api/notifications?limit=100"))["notifications"]
    assert body_of(who.web.get("/api/notifications/unread"))["unread"] == sum(each["readAt"] is None for each in found)
    return found


def brief(who: Actor) -> list[tuple[str, str | None]]:
    """Type and actor of each, newest first."""
    return [(each["type"], each["actor"] and each["actor"]["username"]) for each in heard(who)]


def comment(who: Actor, post: Json, parent: Json | None = None, text: str = "Well said.") -> Json:
    body = {"content": text, **({"parentId": parent["id"]} if parent else {})}
    return body_of(who.api.post(f"/api/posts/{post['id']}/comments", json=body), 201)


def like(who: Actor, post: Json) -> None:
    assert body_of(who.web.post(f"/api/posts/{post['id']}/like")) == {"liked": True}


def unlike(who: Actor, post: Json) -> None:
    assert body_of(who.web.delete(f"/api/posts/{post['id']}/like")) == {"liked": False}


def bounce(who: Actor, post: Json, text: str | None = None) -> Json:
    body = {} if text is None else {"content": text}
    return body_of(who.api.post(f"/api/posts/{post['id']}/bounce", json=body), 201)


def delete(who: Actor, post: Json) -> None:
    body_of(who.api.delete(f"/api/posts/{post['id']}"))


def block(who: Actor, other: Actor) -> None:
    """Blocks without ending follows."""
    db = who.server.runtime.db
    pair = {"account_id": who.account.id, "other_id": other.account.id}
    who.server.run(db.transact(lambda tx: insert_block(tx, **pair)))


def mute(who: Actor, other: Actor) -> None:
    db = who.server.runtime.db
    pair = {"account_id": who.account.id, "muted_id": other.account.id}
    who.server.run(db.transact(lambda tx: insert_mute(tx, **pair)))


def name(who: Actor) -> str:
    return who.account.username


def test_comment_notifies_author_of_post(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    made = comment(bob, post)

    (told,) = heard(alice)
    assert (told["type"], told["postId"], told["commentId"]) == ("comment", post["id"], made["id"])
    assert told["actor"] == made["author"]
    assert heard(bob) == []


def test_reply_notifies_author_of_comment_and_author_of_post(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    first = comment(bob, post)

    reply = comment(carol, post, first)

    assert brief(alice) == [("comment", name(carol)), ("comment", name(bob))]
    (told,) = heard(bob)
    assert (told["type"], told["postId"], told["commentId"]) == ("reply", post["id"], reply["id"])


def test_reply_to_author_of_post_notifies_once(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    own = comment(alice, post)

    comment(bob, post, own)

    assert brief(alice) == [("reply", name(bob))]


def test_reply_to_own_comment_notifies_author_of_post_alone(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    comment(bob, post, comment(bob, post))

    assert brief(alice) == [("comment", name(bob))] * 2
    assert heard(bob) == []


def test_own_acts_notify_nobody(actor: MakeActor) -> None:
    alice = actor()
    post = publish(alice)

    comment(alice, post, comment(alice, post))
    like(alice, post)
    bounce(alice, post)
    bounce(alice, post, "Once more.")

    assert heard(alice) == []


def test_reply_on_post_that_was_narrowed_notifies_nobody_shut_out(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    first = comment(bob, post)
    body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"visibility": "PRIVATE"}))

    comment(alice, post, first)

    assert heard(bob) == []


def test_post_that_was_narrowed_later_is_not_named(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    comment(carol, post, comment(bob, post))
    body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"visibility": "PRIVATE"}))

    (told,) = heard(bob)

    assert (told["type"], told["postId"], told["commentId"]) == ("reply", None, None)


def test_likes_of_a_post_share_one_notification(actor: MakeActor) -> None:
    alice, bob, carol, dave = (actor() for _ in range(4))
    post, other = publish(alice), publish(alice)
    like(bob, post)
    like(dave, other)
    (_, first) = heard(alice)
    body_of(alice.web.post("/api/notifications/read", json={"upTo": heard(alice)[0]["id"]}))
    alice.server.clock.advance(MINUTE)

    like(carol, post)

    newest, older = heard(alice)
    assert (newest["type"], newest["postId"], newest["actor"]["username"]) == ("like", post["id"], name(carol))
    assert (newest["others"], newest["readAt"]) == (1, None)
    assert newest["id"] > older["id"] > first["id"]
    assert (older["postId"], older["others"]) == (other["id"], 0)
    assert older["readAt"] is not None


def test_own_like_and_bounce_are_not_counted_among_others(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    like(alice, post)
    bounce(alice, post)

    for who in (bob, carol):
        like(who, post)
        bounce(who, post)

    assert [(each["type"], each["others"]) for each in heard(alice)] == [("bounce", 1), ("like", 1)]


def test_repeated_like_notifies_once(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    like(bob, post)
    body_of(alice.web.post("/api/notifications/read", json={"upTo": heard(alice)[0]["id"]}))

    like(bob, post)

    (told,) = heard(alice)
    assert told["readAt"] is not None


def test_like_taken_back_names_another_account(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    like(bob, post)
    like(carol, post)
    (before,) = heard(alice)

    unlike(carol, post)

    (told,) = heard(alice)
    assert (told["id"], told["actor"]["username"], told["others"]) == (before["id"], name(bob), 0)
    unlike(bob, post)
    assert rows(alice.server, ROWS, account_id=alice.account.id) == []


def test_like_of_another_account_taken_back_is_not_counted(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    like(bob, post)
    like(carol, post)

    unlike(bob, post)

    (told,) = heard(alice)
    assert (told["actor"]["username"], told["others"]) == (name(carol), 0)


def test_like_taken_back_names_no_account_that_is_muted_blocked_or_suspended(actor: MakeActor) -> None:
    alice, bob, carol, dave, erin = (actor() for _ in range(5))
    post = publish(alice)
    for who in (bob, carol, dave, erin):
        like(who, post)
    block(bob, alice)
    mute(alice, carol)
    dave.server.run(dave.server.runtime.db.transact(suspend_account, name(dave)))

    unlike(erin, post)

    assert rows(alice.server, ROWS, account_id=alice.account.id) == []


def test_bounces_of_a_post_share_one_notification(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    bounce(bob, post)
    last = bounce(carol, post)

    (told,) = heard(alice)
    assert (told["type"], told["postId"], told["others"]) == ("bounce", post["id"], 1)
    assert told["actor"]["username"] == name(carol)

    delete(carol, last)
    assert brief(alice) == [("bounce", name(bob))]
    body_of(bob.web.post(f"/api/posts/{post['id']}/bounce"), 409)
    bob.web.post(f"/post/{post['id']}/unbounce")
    assert brief(alice) == []


def test_bounce_of_a_bounce_notifies_author_of_original(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)

    bounce(carol, bounce(bob, post))

    assert brief(alice) == [("bounce", name(carol))]
    assert heard(bob) == []


def test_likes_and_bounces_of_a_deleted_account_name_another_one(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    both, alone = publish(alice), publish(alice)
    for post, people in ((both, (bob, carol)), (alone, (carol,))):
        for who in people:
            like(who, post)
            bounce(who, post)
    comment(carol, both)

    carol.server.run(carol.server.runtime.db.transact(delete_account, name(carol)))
    carol.server.do_jobs()

    assert [(each["type"], each["postId"], each["actor"]["username"], each["others"]) for each in heard(alice)] == [
        ("bounce", both["id"], name(bob), 0),
        ("like", both["id"], name(bob), 0),
    ]
    assert len(rows(alice.server, ROWS, account_id=alice.account.id)) == 2


def test_quotes_notify_one_by_one(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    quotes = [bounce(bob, post, f"Number {number}") for number in range(2)]

    assert [(each["type"], each["postId"], each["others"]) for each in heard(alice)] == [
        ("quote", quotes[1]["id"], 0),
        ("quote", quotes[0]["id"], 0),
    ]
    delete(bob, quotes[1])
    assert [each["postId"] for each in heard(alice)] == [quotes[0]["id"]]


def test_deleted_comment_notifies_no_longer(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    made = comment(bob, post)

    body_of(bob.web.delete(f"/api/comments/{made['id']}"))

    assert heard(alice) == []


def test_deleted_post_notifies_no_longer(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    comment(bob, post, comment(carol, post))
    like(bob, post)
    bounce(bob, post)

    delete(alice, post)

    assert heard(alice) == heard(carol) == []


ACTS: list[Callable[[Actor, Json], object]] = [
    like,
    bounce,
    comment,
    lambda who, post: bounce(who, post, "Look at this."),
    lambda who, post: publish(who, f"Ask @{post['author']['username']}."),
]


@pytest.mark.parametrize("act", ACTS, ids=["like", "bounce", "comment", "quote", "mention"])
def test_muted_account_notifies_nobody(actor: MakeActor, act: Callable[[Actor, Json], object]) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    mute(alice, bob)

    act(bob, post)
    assert rows(alice.server, ROWS, account_id=alice.account.id) == []
    act(carol, post)
    act_again = rows(alice.server, ROWS, account_id=alice.account.id)

    assert len(act_again) == 1
    assert [actor for _, actor in brief(alice)] == [name(carol)]


@pytest.mark.parametrize("by_recipient", [True, False])
@pytest.mark.parametrize("act", ACTS, ids=["like", "bounce", "comment", "quote", "mention"])
def test_later_block_hides_earlier_notifications(
    actor: MakeActor, act: Callable[[Actor, Json], object], by_recipient: bool
) -> None:
    alice, bob, carol = actor(), actor(), actor()
    act(bob, publish(alice))
    act(carol, publish(alice))
    assert len(heard(alice)) == 2

    block(*((alice, bob) if by_recipient else (bob, alice)))

    assert [actor for _, actor in brief(alice)] == [name(carol)]


def test_later_mute_hides_earlier_notifications(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    comment(bob, publish(alice))

    mute(alice, bob)

    assert heard(alice) == []


def test_reply_of_muted_account_notifies_author_of_post_alone(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    first = comment(bob, post)
    mute(bob, carol)

    comment(carol, post, first)

    assert heard(bob) == []
    assert brief(alice)[0] == ("comment", name(carol))


def test_accepted_request_notifies_the_account_that_asked(actor: MakeActor) -> None:
    alice, bob, carol, dave = (actor() for _ in range(4))
    body_of(alice.web.patch("/api/auth/me", json={"isPrivate": True}))
    for who in (bob, carol, dave):
        body_of(who.web.post(f"/api/accounts/{name(alice)}/follow"))

    for _ in range(2):
        body_of(alice.web.post(f"/api/follow-requests/{name(bob)}/accept"))
    assert brief(bob) == [("follow.accepted", name(alice))]
    assert heard(carol) == []
    newest = body_of(alice.web.get("/api/follow-requests"))["followRequests"][-1]["requestId"]
    body_of(alice.web.post("/api/follow-requests/accept", json={"upTo": newest}))
    body_of(alice.web.patch("/api/auth/me", json={"isPrivate": False}))
    alice.server.do_jobs()

    assert [brief(who) for who in (carol, dave)] == [[("follow.accepted", name(alice))]] * 2
    body_of(bob.web.delete(f"/api/accounts/{name(alice)}/follow"))
    assert heard(bob) == []


def test_rejected_request_notifies_nobody(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    body_of(alice.web.patch("/api/auth/me", json={"isPrivate": True}))
    body_of(bob.web.post(f"/api/accounts/{name(alice)}/follow"))

    body_of(alice.web.post(f"/api/follow-requests/{name(bob)}/reject"))

    assert heard(bob) == []


def report(who: Actor, post: Json) -> None:
    body_of(who.web.post("/api/reports", json={"type": "post", "id": post["id"], "reason": "An address."}), 202)


def decide(admin: Actor, case_id: str, decision: str) -> None:
    body = {"decision": decision, "reason": "Addresses are not for everybody."}
    body_of(admin.web.post(f"/api/admin/reports/{case_id}/decision", json=body))
    admin.server.do_jobs()


def test_report_notifies_admins_until_it_is_decided(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    admin, reporting = actor().become_admin(), actor().become_admin()
    post = publish(alice)

    report(bob, post)
    (first,) = heard(admin)
    body_of(admin.web.post(f"/api/notifications/{first['id']}/read"))
    report(reporting, post)
    report(carol, post)
    report(carol, post)

    (told,) = heard(admin)
    assert (told["type"], told["readAt"], told["actor"]) == ("report.made", None, None)
    assert told["id"] > first["id"]
    assert body_of(admin.web.get(f"/api/admin/reports/{told['caseId']}"))["subjectId"] == post["id"]
    assert [each["type"] for each in heard(reporting)] == ["report.made"], "of the report of another account"
    assert heard(alice) == heard(bob) == []

    decide(admin, told["caseId"], "dismissed")

    assert heard(admin) == []
    for who in (bob, carol, reporting):
        (told,) = heard(who)
        assert (told["type"], told["postId"], told["actor"]) == ("report.decided", post["id"], None)
    assert heard(alice) == []


def test_admin_hears_of_no_report_about_own_post(actor: MakeActor) -> None:
    admin, bob = actor().become_admin(), actor()

    report(bob, publish(admin))

    assert heard(admin) == []


def test_second_decision_notifies_no_reporter_again(actor: MakeActor) -> None:
    alice, bob, admin = actor(), actor(), actor().become_admin()
    report(bob, publish(alice))
    case_id = heard(admin)[0]["caseId"]

    decide(admin, case_id, "hidden")
    decide(admin, case_id, "shown")

    assert [each["type"] for each in heard(bob)] == ["report.decided"]
    assert [each["type"] for each in heard(alice)] == ["moderation"] * 2


def set_filter(who: Actor, text: str, *places: str) -> None:
    body = {"filters": [{"text": text, "wholeWord": True, "places": list(places)}]}
    body_of(who.web.put("/api/filters", json=body))


def test_filtered_text_notifies_nobody(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    first = comment(carol, post)
    set_filter(alice, "election", "notifications", "timeline")
    set_filter(carol, "election", "timeline")

    def write(word: str) -> None:
        comment(bob, post, first, f"The {word} is near.")
        bounce(bob, post, f"The {word} is near.")
        publish(bob, f"The {word} is near, @{name(alice)} and @{name(carol)}.")

    write("Élection")
    assert brief(alice) == [("comment", name(carol))]
    assert brief(carol) == [("mention", name(bob)), ("reply", name(bob))]

    write("selection")
    assert [kind for kind, _ in brief(alice)] == ["mention", "quote", "comment", "comment"]


def test_mention_that_an_edit_frees_of_a_filtered_word_notifies(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    set_filter(alice, "election", "notifications")
    post = publish(bob, f"The election, @{name(alice)}.")
    assert heard(alice) == []

    body_of(bob.api.patch(f"/api/posts/{post['id']}", json={"content": f"The weather, @{name(alice)}."}))

    assert [each["postId"] for each in heard(alice)] == [post["id"]]
