"""Notifications that an account wants by mail are bundled, and one click stops such mail."""

import re
from collections.abc import Iterator
from typing import Final

import httpx
import pytest

from pressroom.clock import DAY, MINUTE, iso
from pressroom.db import Command, Query
from pressroom.domains.home.actions import read_queued
from pressroom.domains.home.models import MAILED
from pressroom.domains.keys.actions import revoke_key, warn_of_expiry
from pressroom.domains.keys.models import RevokedBy
from pressroom.domains.mail.messages import Mail
from pressroom.domains.notifications.actions import MAIL_JOB, finish_mail, notify, queue_mails
from pressroom.domains.notifications.models import Bundle, NotificationType
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.sweeps import run_batches
from pressroom.jobs.worker import LEASE
from tests.api.actors import Actor, body_of, new_client, publish, rows
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "DEV": 1}
CONFIRM: Final = Command("UPDATE accounts SET email_verified = :verified WHERE id = :id")
WAITING: Final = Query(str, "SELECT id FROM notifications WHERE mail IS NOT NULL AND account_id = :id")
CHOICES: Final = "/api/notifications/settings"


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A mail program: no session, no cookies."""
    with new_client() as made:
        yield made


def confirm(who: Actor, *, verified: bool = True) -> Actor:
    """The same with a confirmed e-mail address."""
    db = who.server.runtime.db
    who.server.run(db.transact(lambda tx: tx.run(CONFIRM, id=who.account.id, verified=verified)))
    return who


def work(server: LocalServer) -> None:
    """The work of the sweep of each minute and of the worker."""
    server.run(run_batches(server.runtime.db, queue_mails))
    server.do_jobs()


def mails(who: Actor) -> list[Mail]:
    """Sends due mails; returns those to the account, oldest first."""
    work(who.server)
    kept = who.server.runtime.mailer.kept
    assert kept is not None
    return [each.mail for each in reversed(kept) if each.mail.to == who.account.email]


def comment(who: Actor, post_id: str) -> str:
    return str(body_of(who.api.post(f"/api/posts/{post_id}/comments", json={"content": "Well said."}), 201)["id"])


def want(who: Actor, *types: str) -> None:
    body_of(who.web.patch(CHOICES, json=dict.fromkeys(types, "mail")))


def test_revoked_key_is_mailed_unless_it_is_turned_off(actor: MakeActor) -> None:
    for way, expected in (("mail", 1), ("app", 0), ("off", 0)):
        alice = confirm(actor())
        body_of(alice.web.patch(CHOICES, json={"key.revoked": way}))
        alice.server.run(alice.server.runtime.db.transact(revoke_key, alice.record.id, RevokedBy.ADMIN, "leaked"))

        found = mails(alice)

        assert len(found) == expected
        assert rows(alice.server, WAITING, id=alice.account.id) == []
    assert all('Your API key "test key" was revoked, not by you.' in each.text for each in found)


def test_mail_names_actors_and_links_subjects_without_their_text(actor: MakeActor) -> None:
    alice, bob = confirm(actor()), actor()
    want(alice, "comment", "like")
    post = publish(alice, "A secret plan")
    comment_id = comment(bob, post["id"])
    body_of(bob.web.post(f"/api/posts/{post['id']}/like"))

    (mail,) = mails(alice)

    name = f"{bob.account.display_name} (@{bob.account.username})"
    assert mail.subject == f"2 notifications at 127.0.0.1:{alice.server.port}"
    assert f"- {name} liked your post.\n  {alice.server.base_url}/post/{post['id']}\n" in mail.text
    assert f"- {name} commented on your post.\n  {alice.server.base_url}/post/{post['id']}?after=" in mail.text
    assert f"#comment-{comment_id}\n" in mail.text
    assert "secret" not in mail.text
    assert "Well said" not in mail.text
    assert mail.unsubscribe is not None
    assert mail.text.endswith(mail.unsubscribe)


def test_one_notification_is_the_subject(actor: MakeActor) -> None:
    alice, bob = confirm(actor()), actor()
    want(alice, "comment")
    comment(bob, publish(alice)["id"])

    (mail,) = mails(alice)

    assert mail.subject == f"{bob.account.display_name} (@{bob.account.username}) commented on your post."


def test_mails_are_bundled_to_one_in_fifteen_minutes(actor: MakeActor) -> None:
    alice, bob = confirm(actor()), actor()
    want(alice, "comment")
    clock, post_id = alice.server.clock, publish(alice)["id"]
    comment(bob, post_id)
    assert len(mails(alice)) == 1

    for _ in range(14):
        clock.advance(MINUTE)
        comment(bob, post_id)
        assert len(mails(alice)) == 1
    clock.advance(MINUTE)

    _, second = mails(alice)
    assert second.text.count("commented on your post") == 14
    clock.advance(15 * MINUTE)
    assert len(mails(alice)) == 2
    comment(bob, post_id)
    assert len(mails(alice)) == 3, "nothing was mailed for 15 minutes"


def test_notification_that_is_read_before_its_mail_is_left_out(actor: MakeActor) -> None:
    alice, bob = confirm(actor()), actor()
    want(alice, "comment")
    clock, post_id = alice.server.clock, publish(alice)["id"]
    comment(bob, post_id)
    assert len(mails(alice)) == 1
    comment(bob, post_id)
    comment(bob, post_id)
    newest, older, _ = body_of(alice.web.get("/api/notifications"))["notifications"]
    work(alice.server)
    body_of(alice.web.post(f"/api/notifications/{newest['id']}/read"))

    clock.advance(15 * MINUTE)

    _, second = mails(alice)
    assert second.text.count("commented on your post") == 1
    body_of(alice.web.post("/api/notifications/read", json={"upTo": older["id"]}))
    clock.advance(15 * MINUTE)
    assert len(mails(alice)) == 2


def test_further_like_of_a_mailed_group_is_mailed_again(actor: MakeActor) -> None:
    alice, bob, carol = confirm(actor()), actor(), actor()
    want(alice, "like")
    post_id = publish(alice)["id"]
    body_of(bob.web.post(f"/api/posts/{post_id}/like"))
    assert len(mails(alice)) == 1
    body_of(carol.web.post(f"/api/posts/{post_id}/like"))
    alice.server.clock.advance(15 * MINUTE)

    _, second = mails(alice)

    assert f"{carol.account.display_name} (@{carol.account.username}) and 1 other liked your post." in second.text


@pytest.mark.parametrize("how", ["unconfirmed", "suspended", "deleted comment"])
def test_unwanted_mail_is_dropped(actor: MakeActor, how: str) -> None:
    alice, bob = confirm(actor(), verified=how != "unconfirmed"), actor()
    want(alice, "comment")
    comment_id = comment(bob, publish(alice)["id"])
    if how == "suspended":
        suspend = Command("UPDATE accounts SET suspended_at = 1 WHERE id = :id")
        alice.server.run(alice.server.runtime.db.transact(lambda tx: tx.run(suspend, id=alice.account.id)))
    if how == "deleted comment":
        body_of(bob.web.delete(f"/api/comments/{comment_id}"))

    assert mails(alice) == []
    assert rows(alice.server, WAITING, id=alice.account.id) == []


def test_mail_lists_fifty_and_mentions_the_rest(actor: MakeActor) -> None:
    alice = confirm(actor())
    want(alice, "moderation")
    db = alice.server.runtime.db
    for _ in range(MAILED + 7):
        alice.server.run(db.transact(lambda tx: notify(tx, alice.account.id, NotificationType.MODERATION)))

    (mail,) = mails(alice)

    assert mail.subject.startswith("50 and more notifications")
    assert mail.text.count("An admin has made a decision") == 50
    assert "- And more.\n" in mail.text
    assert rows(alice.server, WAITING, id=alice.account.id) == []


def begin(who: Actor) -> tuple[Job, Bundle]:
    """Begins the job that mails to somebody, as a worker does that is killed later; the job and its bundle."""
    server, db = who.server, who.server.runtime.db
    server.run(run_batches(db, queue_mails))
    until = server.clock.now() + LEASE
    jobs: list[Job] = server.run(db.transact(queue.claim, MAIL_JOB, token="killed", until=until, limit=10))
    (job,) = [each for each in jobs if each.subject == who.account.id]
    bundle, _ = server.run(db.read(read_queued, who.account.id))
    return job, bundle


def test_mail_of_a_killed_worker_is_sent_by_another_one(actor: MakeActor) -> None:
    alice, bob = confirm(actor()), actor()
    want(alice, "comment")
    comment(bob, publish(alice)["id"])
    begin(alice)
    assert mails(alice) == []

    alice.server.clock.advance(LEASE + 1)

    assert len(mails(alice)) == 1
    assert len(mails(alice)) == 1


def test_worker_that_lost_its_lease_neither_loses_nor_doubles_the_next_mail(actor: MakeActor) -> None:
    alice, bob = confirm(actor()), actor()
    want(alice, "comment")
    post_id = publish(alice)["id"]
    comment(bob, post_id)
    job, bundle = begin(alice)
    alice.server.clock.advance(LEASE + 1)
    assert len(mails(alice)) == 1
    comment(bob, post_id)

    db = alice.server.runtime.db
    alice.server.run(db.transact(finish_mail, job, "killed", bundle, was_sent=True))

    assert len(mails(alice)) == 1
    alice.server.clock.advance(15 * MINUTE)
    _, second = mails(alice)
    assert second.text.count("commented on your post") == 1


def test_notification_that_arrives_during_a_mail_is_in_the_next(actor: MakeActor) -> None:
    alice, bob = confirm(actor()), actor()
    want(alice, "comment")
    post_id = publish(alice)["id"]
    comment(bob, post_id)
    job, bundle = begin(alice)
    comment(bob, post_id)
    db = alice.server.runtime.db
    alice.server.run(run_batches(db, queue_mails))

    alice.server.run(db.transact(finish_mail, job, "killed", bundle, was_sent=False))

    (mail,) = mails(alice)
    assert mail.text.count("commented on your post") == 1


def test_key_that_expires_is_mailed_once_seven_days_before(actor: MakeActor) -> None:
    alice = confirm(actor())
    server, clock, db = alice.server, alice.server.clock, alice.server.runtime.db
    in_days = {days: server.key(alice.account, expires_at=clock.now() + days * DAY)[0] for days in (8, 9, 30)}
    brief, _ = server.key(confirm(actor()).account, expires_at=clock.now() + 6 * DAY)
    server.run(db.transact(revoke_key, in_days[9].id, RevokedBy.SELF, None))

    def told() -> list[str]:
        server.run(run_batches(db, warn_of_expiry))
        found = rows(server, Query(str, "SELECT key_id FROM notifications WHERE type = 'key.expiring'"))
        return [each for each in found if each in {brief.id, *(key.id for key in in_days.values())}]

    assert told() == []
    clock.advance(DAY - 1)
    assert told() == []
    clock.advance(1)
    assert told() == [in_days[8].id]
    (mail,) = mails(alice)
    assert 'Your API key "test key" expires' in mail.text
    clock.advance(3 * DAY)
    assert told() == [in_days[8].id]
    (note,) = body_of(alice.web.get("/api/notifications"))["notifications"]
    assert (note["type"], note["keyId"]) == ("key.expiring", in_days[8].id)
    assert iso(clock.now()) > note["createdAt"]


def unsubscribe_address(who: Actor, author: Actor) -> str:
    """The address in the header of a mail to somebody."""
    want(who, "comment", "like")
    comment(author, publish(who)["id"])
    mail = mails(who)[-1]
    assert mail.unsubscribe is not None
    assert re.fullmatch(rf"{who.server.base_url}/unsubscribe/[\w-]{{59}}", mail.unsubscribe)
    return mail.unsubscribe


def by_mail(who: Actor) -> set[str]:
    return {each for each, way in body_of(who.web.get(CHOICES)).items() if way == "mail"}


@pytest.mark.parametrize("multipart", [False, True])
def test_one_click_stops_all_mail_without_a_session(actor: MakeActor, client: httpx.Client, multipart: bool) -> None:
    alice, bob = confirm(actor()), actor()
    address = unsubscribe_address(alice, bob)
    fields = {"List-Unsubscribe": "One-Click"}

    for _ in range(2):
        answer = client.post(
            address,
            data=None if multipart else fields,
            files={name: (None, text) for name, text in fields.items()} if multipart else None,
        )
        assert answer.status_code == 200, answer.text
        assert by_mail(alice) == set()
    choices = body_of(alice.web.get(CHOICES))
    assert set(choices.values()) == {"app"}


def test_opening_the_address_changes_nothing(actor: MakeActor, client: httpx.Client) -> None:
    alice, bob = confirm(actor()), actor()
    address = unsubscribe_address(alice, bob)

    page = client.get(address)

    assert page.status_code == 200
    assert page.headers["referrer-policy"] == "origin"
    assert "A comment on your post" in page.text
    assert "comment" in by_mail(alice)
    body_of(alice.web.patch(CHOICES, json={"like": "off"}))
    assert client.post(address, data={"only": "comment"}).status_code == 200
    assert by_mail(alice) == {"key.revoked", "key.expiring", "webhook.disabled", "draft.refused"}
    assert body_of(alice.web.get(CHOICES))["like"] == "off"


def test_other_addresses_are_404(actor: MakeActor, client: httpx.Client) -> None:
    alice, bob, carol = confirm(actor()), actor(), actor()
    address = unsubscribe_address(alice, bob)
    start, _, token = address.rpartition("/")
    forged = [
        token[:-1] + ("0" if token[-1] != "0" else "1"),
        token.replace(alice.account.id, carol.account.id),
        token.lower(),
        token[:-1],
        "x",
        "%00",
        "\u0661" * 59,
    ]

    for each in forged:
        for method in ("GET", "POST"):
            assert client.request(method, f"{start}/{each}").status_code == 404, each
    move = Command("UPDATE accounts SET email = :email WHERE id = :id")
    db = alice.server.runtime.db
    alice.server.run(db.transact(lambda tx: tx.run(move, id=alice.account.id, email="new@example.org")))
    assert client.post(address).status_code == 404
    assert "comment" in by_mail(alice)


def test_wrong_type_is_refused_on_the_page(actor: MakeActor, client: httpx.Client) -> None:
    alice, bob = confirm(actor()), actor()
    address = unsubscribe_address(alice, bob)

    answer = client.post(address, data={"only": "everything"})

    assert answer.status_code == 400
    assert "Choose from what is offered." in answer.text
    assert "comment" in by_mail(alice)
