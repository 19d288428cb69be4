"""Notifications: who hears of being mentioned, and how often; and who hears of a key that was taken back."""

import pytest

from pressroom.clock import MINUTE, iso
from pressroom.db import Query
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from tests.api.actors import Actor, Json, body_of, field_errors, follow, nobody, publish, refusal, rows
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY

TOLD = Query(str, "SELECT account_id FROM notifications WHERE post_id = :post_id")


def heard(who: Actor) -> list[Json]:
    """The account's notifications, newest first."""
    notifications: list[Json] = body_of(who.web.get("/api/notifications?limit=100"))["notifications"]
    return notifications


def posts_heard_of(who: Actor) -> list[str]:
    return [notification["postId"] for notification in heard(who) if notification["type"] == "mention"]


def at(who: Actor) -> str:
    return f"@{who.account.username}"


def edit(author: Actor, post: Json, **changes: str) -> None:
    body_of(author.api.patch(f"/api/posts/{post['id']}", json=changes))


def set_audience(author: Actor, post: Json, *readers: Actor) -> None:
    usernames = [reader.account.username for reader in readers]
    body_of(author.web.put(f"/api/posts/{post['id']}/audience", json={"usernames": usernames}))


def test_mention_notifies_the_mentioned_account(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    post = publish(alice, f"Ask {at(bob)}.")

    assert heard(bob) == [
        {
            "id": heard(bob)[0]["id"],
            "type": "mention",
            "createdAt": iso(alice.server.clock.now()),
            "readAt": None,
            "postId": post["id"],
            "commentId": None,
            "webhookId": None,
            "keyId": None,
            "caseId": None,
            "draftId": None,
            "actor": post["author"],
            "others": 0,
        }
    ]
    assert post["author"]["id"] == alice.account.id
    assert heard(alice) == []


def test_mention_in_post_of_a_session_notifies_too(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    post = body_of(alice.web.post("/api/posts", json={"content": f"Ask {at(bob)}."}), 201)

    assert posts_heard_of(bob) == [post["id"]]


def test_a_mention_names_an_account_in_any_case(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    body_of(carol.web.patch("/api/auth/me", json={"username": f"{carol.account.username}_Aa"}))

    post = publish(alice, f"{at(bob).upper()} and {at(carol).upper()}_AA")

    assert posts_heard_of(bob) == posts_heard_of(carol) == [post["id"]]


def test_a_post_is_heard_of_once(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()

    post = publish(alice, f"{at(bob)}, {at(bob).upper()} and {at(bob)} again")
    for content in (f"{at(bob)} still", "nobody", f"{at(bob)} anew, and {at(carol)}"):
        edit(alice, post, content=content)

    assert posts_heard_of(bob) == posts_heard_of(carol) == [post["id"]]


def test_mentions_follow_the_new_text(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice, f"Ask {at(bob)}.")
    assert heard(carol) == []

    alice.server.clock.advance(MINUTE)
    edit(alice, post, content=f"Ask {at(carol)}.")

    assert posts_heard_of(bob) == posts_heard_of(carol) == [post["id"]]
    assert heard(carol)[0]["createdAt"] == iso(alice.server.clock.now())


def test_own_post_causes_no_notification(alice: Actor) -> None:
    post = publish(alice, f"It is me, {at(alice)}.")
    edit(alice, post, content=f"Still me, {at(alice).upper()}.")

    assert heard(alice) == []


def test_lookalikes_of_mentions_are_none(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    name = bob.account.username

    publish(alice, f"x@{name} https://example.org/@{name} @{name}_ @no_such_account @ {name} {bob.account.email}")

    assert heard(bob) == []


def test_fifty_accounts_hear_of_a_post_at_most(actor: MakeActor) -> None:
    alice = actor()
    accounts = [alice.server.account() for _ in range(53)]
    names = [f"@{account.username}" for account in accounts]

    post = publish(alice, " ".join([at(alice), "@no_such_account", names[0], *names[:52]]))
    first = rows(alice.server, TOLD, post_id=post["id"])
    edit(alice, post, content=" ".join(names[51:]))
    after = rows(alice.server, TOLD, post_id=post["id"])
    other = publish(alice, names[52])

    assert sorted(first) == sorted(account.id for account in accounts[:50]), "the first fifty of the text"
    assert sorted(after) == sorted(first), "an edit begins no new count"
    assert rows(alice.server, TOLD, post_id=other["id"]) == [accounts[52].id]


def test_an_edit_fills_up_to_fifty(actor: MakeActor) -> None:
    alice = actor()
    accounts = [alice.server.account() for _ in range(60)]
    names = [f"@{account.username}" for account in accounts]

    post = publish(alice, " ".join(names[:30]))
    edit(alice, post, content=" ".join(names[20:]))

    assert sorted(rows(alice.server, TOLD, post_id=post["id"])) == sorted(account.id for account in accounts[:50])


HEARD_BY = {
    "PUBLIC": ["stranger", "follower", "followed", "mutual"],
    "FOLLOWERS": ["follower", "mutual"],
    "CONNECTIONS": ["mutual"],
    "PRIVATE": [],
    "CUSTOM": [],
}


def acquaintances(actor: MakeActor) -> tuple[Actor, dict[str, Actor]]:
    """An author, and others by their relation to the author."""
    author, people = actor(), {kind: actor() for kind in HEARD_BY["PUBLIC"]}
    for kind in ("follower", "mutual"):
        follow(people[kind], author)
    for kind in ("followed", "mutual"):
        follow(author, people[kind])
    return author, people


@pytest.mark.parametrize("visibility", HEARD_BY)
def test_those_hear_of_a_post_who_may_see_it(actor: MakeActor, visibility: str) -> None:
    author, people = acquaintances(actor)

    post = publish(author, " ".join(map(at, people.values())), visibility=visibility)

    hearing = {kind: posts_heard_of(who) for kind, who in people.items()}
    assert hearing == {kind: [post["id"]] if kind in HEARD_BY[visibility] else [] for kind in people}


@pytest.mark.parametrize("visibility", HEARD_BY)
def test_edit_notifies_newly_admitted_accounts(actor: MakeActor, visibility: str) -> None:
    author, people = acquaintances(actor)
    post = publish(author, " ".join(map(at, people.values())), visibility="PRIVATE")
    assert rows(author.server, TOLD, post_id=post["id"]) == []

    for change in (visibility, "PRIVATE", visibility):
        edit(author, post, visibility=change)

    hearing = {kind: posts_heard_of(who) for kind, who in people.items()}
    assert hearing == {kind: [post["id"]] if kind in HEARD_BY[visibility] else [] for kind in people}
    edit(author, post, visibility="PUBLIC")
    assert [posts_heard_of(who) for who in people.values()] == [[post["id"]]] * len(people)


def test_allowlist_notifies_newly_admitted_accounts(actor: MakeActor) -> None:
    alice, bob, carol, dave = (actor() for _ in range(4))
    post = publish(alice, f"{at(bob)} {at(carol)} {at(alice)}", visibility="CUSTOM")
    hearing = [posts_heard_of(who) for who in (bob, carol)]

    for audience in ((bob, dave), (alice, bob), (), (bob, carol)):
        set_audience(alice, post, *audience)
        hearing += [posts_heard_of(who) for who in (bob, carol)]

    once: list[str] = [post["id"]]
    # Told once, of a post that is named while it can be seen.
    assert hearing == [[], [], once, [], once, [], [None], [], once, once]
    assert heard(dave) == heard(alice) == []


def test_allowlist_of_another_visibility_notifies_no_account(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice, f"{at(bob)} {at(carol)}", visibility="PRIVATE")

    set_audience(alice, post, bob)
    assert heard(bob) == []
    edit(alice, post, visibility="CUSTOM")

    assert posts_heard_of(bob) == [post["id"]]
    assert heard(carol) == []


def test_a_quote_mentions_and_can_be_edited_to_mention_others(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    original = publish(alice, f"Ask {at(carol)}.")

    body_of(bob.web.post(f"/api/posts/{original['id']}/bounce"), 201)
    quote = body_of(bob.api.post(f"/api/posts/{original['id']}/bounce", json={"content": f"{at(alice)}?"}), 201)
    edit(bob, quote, content=f"{at(alice)}? {at(carol)}?")

    assert [(each["type"], each["postId"]) for each in heard(alice)] == [
        ("quote", quote["id"]),
        ("mention", quote["id"]),
        ("bounce", original["id"]),
    ]
    assert sorted(posts_heard_of(carol)) == sorted([original["id"], quote["id"]])


def test_a_refused_post_is_heard_of_by_nobody(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    refused = alice.api.post("/api/posts", json={"content": at(bob), "hubId": "no-such-hub"})

    assert refused.status_code == 422
    assert heard(bob) == []


def test_a_repeated_post_is_heard_of_once(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    statuses = [alice.post(at(bob), "k").status_code for _ in range(2)]

    assert statuses == [201, 200]
    assert len(heard(bob)) == 1


def test_notifications_are_listed_newest_first_page_by_page(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    posts: list[Json] = []
    for number in range(7):
        posts.append(publish(alice, f"{number} {at(bob)}"))
        alice.server.clock.advance(MINUTE)

    pages: list[Json] = []
    cursor = ""
    while cursor is not None:
        pages.append(body_of(bob.web.get(f"/api/notifications?limit=3{cursor}")))
        cursor = pages[-1]["nextCursor"] and f"&cursor={pages[-1]['nextCursor']}"

    assert [len(page["notifications"]) for page in pages] == [3, 3, 1]
    shown = [each for page in pages for each in page["notifications"]]
    assert [each["postId"] for each in shown] == [post["id"] for post in posts[::-1]]
    assert shown == heard(bob)
    assert body_of(bob.web.get("/api/notifications?limit=7"))["nextCursor"] is None


@pytest.mark.parametrize("revoked_by", [RevokedBy.ADMIN, RevokedBy.AUTO])
def test_an_owner_hears_of_a_key_that_was_taken_back(actor: MakeActor, revoked_by: RevokedBy) -> None:
    alice, bob = actor(), actor()
    transact = alice.server.runtime.db.transact

    for _ in range(2):
        alice.server.run(transact(revoke_key, alice.record.id, revoked_by, "a test"))

    assert heard(alice) == [
        {
            "id": heard(alice)[0]["id"],
            "type": "key.revoked",
            "createdAt": iso(alice.server.clock.now()),
            "readAt": None,
            "postId": None,
            "commentId": None,
            "webhookId": None,
            "keyId": alice.record.id,
            "caseId": None,
            "draftId": None,
            "actor": None,
            "others": 0,
        }
    ]
    assert heard(bob) == []


def test_owner_gets_no_notification_of_own_acts(alice: Actor) -> None:
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))
    alice.server.run(alice.server.runtime.db.transact(revoke_key, alice.record.id, RevokedBy.ADMIN, "too late"))

    assert heard(alice) == []


def test_notifications_are_for_the_account_alone(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    publish(alice, at(bob))

    assert refusal(bob.api.get("/api/notifications")) == (403, "Session required")
    assert refusal(nobody.get(f"{bob.server.base_url}/api/notifications")) == (401, "Not signed in")
    assert body_of(carol.web.get("/api/notifications")) == {"notifications": [], "nextCursor": None}


@one_engine
def test_a_page_is_asked_for_properly(alice: Actor) -> None:
    assert field_errors(alice.web.get("/api/notifications?limit=x&cursor=x")) == [
        ("limit", "out_of_range"),
        ("cursor", "invalid_format"),
    ]
