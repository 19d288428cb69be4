"""Notifications are counted and marked as read: one, or all up to the newest that was shown."""

from pressroom.db import Command
from tests.api.actors import Actor, Json, body_of, publish
from tests.api.conftest import MakeActor

FILL = Command(
    "INSERT INTO notifications (id, account_id, type, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1005)"
    " SELECT '01KW2F3B6E' || substr(CAST(1000000000000000 + i AS TEXT), 1, 16), :account_id, 'mention', 1 FROM n"
)
FLOOD = Command(
    "INSERT INTO notifications (id, account_id, type, actor_id, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)"
    " SELECT '01KW2F3B6E' || substr(CAST(1000000000000000 + i AS TEXT), 1, 16), :account_id, 'mention',"
    " CASE WHEN i = 1 THEN CAST(:friend_id AS TEXT) ELSE CAST(:actor_id AS TEXT) END, 1 FROM n"
)
"""The oldest is the friend's."""


def mention(author: Actor, whom: Actor, times: int = 1) -> None:
    """Publishes posts that name somebody."""
    for number in range(times):
        publish(author, f"{number}: @{whom.account.username}, see this")


def listed(actor: Actor) -> list[Json]:
    """The actor's notifications, newest first."""
    found: list[Json] = body_of(actor.web.get("/api/notifications?limit=100"))["notifications"]
    return found


def unread(actor: Actor) -> int:
    """How many are unread."""
    return int(body_of(actor.web.get("/api/notifications/unread"))["unread"])


def test_all_up_to_the_newest_shown(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    mention(bob, alice, 3)
    shown = listed(alice)
    mention(bob, alice)

    answer = alice.web.post("/api/notifications/read", json={"upTo": shown[0]["id"]})

    assert body_of(answer) == {"unread": 1}
    later = listed(alice)
    assert [each["readAt"] is None for each in later] == [True, False, False, False]
    assert unread(alice) == 1
    read_at = later[1]["readAt"]
    body_of(alice.web.post("/api/notifications/read", json={"upTo": shown[0]["id"]}))
    assert listed(alice)[1]["readAt"] == read_at, "once read, the time stays"


def test_one(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    mention(bob, alice, 3)
    first, second, third = listed(alice)
    for _ in range(2):
        assert body_of(alice.web.post(f"/api/notifications/{second['id']}/read")) == {"unread": 2}
    assert [each["readAt"] is None for each in listed(alice)] == [True, False, True]
    assert alice.web.post(f"/api/notifications/{bob.account.id}/read").status_code == 404
    assert bob.web.post(f"/api/notifications/{first['id']}/read").status_code == 404
    assert unread(alice) == 2
    body_of(bob.web.post("/api/notifications/read", json={"upTo": third["id"]}))
    assert unread(alice) == 2, "nobody else's are touched"


def test_acts_of_a_suspended_account_are_not_counted(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    mention(bob, alice, 2)
    mention(carol, alice)
    db = alice.server.runtime.db
    suspend = Command("UPDATE accounts SET suspended_at = 1 WHERE id = :id")
    alice.server.run(db.transact(lambda tx: tx.run(suspend, id=bob.account.id)))
    assert unread(alice) == 1 == len(listed(alice))


def test_a_post_that_cannot_be_seen_any_more_is_not_named(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    stays, narrowed = (publish(bob, f"{number} @{alice.account.username}")["id"] for number in range(2))
    body_of(bob.web.patch(f"/api/posts/{narrowed}", json={"visibility": "PRIVATE"}))

    assert [each["postId"] for each in listed(alice)] == [None, stays]


def test_notification_of_a_deleted_post_is_left_out(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    stays, deleted = (publish(bob, f"{number} @{alice.account.username}")["id"] for number in range(2))

    body_of(bob.web.delete(f"/api/posts/{deleted}"))

    assert [each["postId"] for each in listed(alice)] == [stays]
    assert unread(alice) == 1


def test_pages_skip_notifications_of_suspended_accounts(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    db = alice.server.runtime.db
    values = {"account_id": alice.account.id, "actor_id": bob.account.id, "friend_id": carol.account.id}
    alice.server.run(db.transact(lambda tx: tx.run(FLOOD, **values)))
    mention(carol, alice, 1)
    suspend = Command("UPDATE accounts SET suspended_at = 1 WHERE id = :id")
    alice.server.run(db.transact(lambda tx: tx.run(suspend, id=bob.account.id)))

    path, shown, pages = "/api/notifications?limit=3", list[str](), 0
    while path:
        page = body_of(alice.web.get(path))
        shown += [each["actor"]["username"] for each in page["notifications"]]
        pages += 1
        path = page["nextCursor"] and f"/api/notifications?limit=3&cursor={page['nextCursor']}"

    assert shown == [carol.account.username] * 2
    assert pages <= 5, "a page looks at hundreds"


def test_there_may_be_thousands(actor: MakeActor) -> None:
    alice = actor()
    db = alice.server.runtime.db
    alice.server.run(db.transact(lambda tx: tx.run(FILL, account_id=alice.account.id)))
    assert unread(alice) == 100, "stands for more than 99"
    newest = listed(alice)[0]["id"]
    assert body_of(alice.web.post("/api/notifications/read", json={"upTo": newest})) == {"unread": 5}
    assert body_of(alice.web.post("/api/notifications/read", json={"upTo": newest})) == {"unread": 0}


def test_pages_of_the_list_repeat_none(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    mention(bob, alice, 5)
    path, ids = "/api/notifications?limit=2", list[str]()
    while path:
        page = body_of(alice.web.get(path))
        ids += [each["id"] for each in page["notifications"]]
        assert len(ids) <= 5
        path = page["nextCursor"] and f"/api/notifications?limit=2&cursor={page['nextCursor']}"

    assert ids == [each["id"] for each in listed(alice)]
