"""Scheduled drafts are published at their time, or stay with the reason; their owner hears of it."""

from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, MINUTE, iso
from pressroom.db import Query
from pressroom.domains.drafts.jobs import publish_due
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.moderation.actions import suspend_account
from pressroom.jobs.queue import Job
from tests.api.actors import Actor, Json, body_of, events, rows
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.media.uploads import image

SETTINGS = {**ROOMY, "DAILY_CONTENT_QUOTA": 3, "SESSION_CONTENT_PER_DAY": 3}
JOBS = Query(str, "SELECT subject FROM jobs WHERE kind = 'scheduled post' AND subject = :draft_id")


def scheduled(client: httpx.Client, actor: Actor, ahead: int = MINUTE, **fields: object) -> Json:
    """A draft that is due so many milliseconds from now."""
    at = iso(actor.server.clock.now() + ahead)
    return body_of(client.post("/api/drafts", json={"content": "At its time", "publishAt": at, **fields}), 201)


def shown(actor: Actor, draft: Json) -> Json:
    """The draft as it is now."""
    return body_of(actor.web.get(f"/api/drafts/{draft['id']}"))


def pass_time(actor: Actor, milliseconds: int = MINUTE) -> None:
    """Lets so much time pass, and the worker do what is due then."""
    actor.server.clock.advance(milliseconds)
    actor.server.do_jobs()


def test_draft_is_published_at_its_time_with_its_event(alice: Actor) -> None:
    draft = scheduled(alice.web, alice)

    pass_time(alice, MINUTE - 1)
    assert shown(alice, draft) == draft
    pass_time(alice, 1)

    published = shown(alice, draft)
    post = body_of(alice.web.get(f"/api/posts/{published['postId']}"))
    assert (published["state"], post["content"]) == ("published", "At its time")
    assert post["createdAt"] == draft["publishAt"]
    assert [each["post"]["id"] for each in events(alice, "post.created")] == [post["id"]]
    pass_time(alice, DAY)
    assert len(events(alice, "post.created")) == 1


def test_draft_that_was_moved_is_published_at_its_new_time(alice: Actor) -> None:
    draft = scheduled(alice.web, alice)
    later = iso(alice.server.clock.now() + 2 * MINUTE)
    body_of(alice.web.patch(f"/api/drafts/{draft['id']}", json={"version": 1, "publishAt": later}))

    pass_time(alice)
    assert shown(alice, draft)["state"] == "scheduled"
    pass_time(alice)
    assert shown(alice, draft)["state"] == "published"


@pytest.mark.parametrize("how", ["deleted", "taken off", "published"])
def test_draft_that_left_the_schedule_is_not_published(alice: Actor, how: str) -> None:
    draft = scheduled(alice.web, alice)
    path = f"/api/drafts/{draft['id']}"
    match how:
        case "deleted":
            body_of(alice.web.delete(path))
        case "taken off":
            body_of(alice.web.patch(path, json={"version": 1, "publishAt": None}))
        case _:
            body_of(alice.web.post(f"{path}/publish"))

    assert rows(alice.server, JOBS, draft_id=draft["id"]) == []
    pass_time(alice)
    assert len(events(alice, "post.created")) == (how == "published")


def test_draft_with_files_is_published_with_them(alice: Actor) -> None:
    draft = scheduled(alice.web, alice)
    files = {"media": ("a.jpg", image(), "image/jpeg")}
    draft = body_of(alice.web.post(f"/api/drafts/{draft['id']}/media", files=files), 201)

    pass_time(alice)

    post = body_of(alice.web.get(f"/api/posts/{shown(alice, draft)['postId']}"))
    assert [(each["id"], each["processingStatus"]) for each in post["media"]] == [(draft["mediaIds"][0], "READY")]


def test_quota_counts_when_it_is_published_and_the_owner_hears_of_a_refusal(alice: Actor) -> None:
    drafts = [scheduled(alice.web, alice) for _ in range(4)]

    pass_time(alice)

    states = [shown(alice, draft) for draft in drafts]
    (refused,) = [each for each in states if each["state"] == "refused"]
    assert sorted(each["state"] for each in states) == ["published"] * 3 + ["refused"]
    assert "a day" in refused["refusal"] or "day" in refused["refusal"]
    assert refused["publishAt"] is not None
    (heard,) = body_of(alice.web.get("/api/notifications"))["notifications"]
    assert (heard["type"], heard["draftId"], heard["actor"]) == ("draft.refused", refused["id"], None)
    assert len(events(alice, "post.created")) == 3

    alice.server.clock.advance(DAY)
    assert body_of(alice.web.post(f"/api/drafts/{refused['id']}/publish"))["state"] == "published"


def test_refused_draft_keeps_the_reason_until_it_is_scheduled_anew(alice: Actor) -> None:
    draft = scheduled(alice.web, alice, content=" ", hubId="no_such_hub")

    pass_time(alice)

    refused = shown(alice, draft)
    assert refused["state"] == "refused"
    assert refused["refusal"] == "A post needs some text that is not white space, or a file."
    path = f"/api/drafts/{draft['id']}"
    mended = body_of(alice.web.patch(path, json={"version": refused["version"], "content": "Text", "hubId": None}))
    assert (mended["state"], mended["refusal"]) == ("refused", refused["refusal"])
    at = iso(alice.server.clock.now() + MINUTE)
    again = body_of(alice.web.patch(path, json={"version": mended["version"], "publishAt": at}))
    assert (again["state"], again["refusal"]) == ("scheduled", None)
    pass_time(alice)
    assert shown(alice, draft)["state"] == "published"


def test_hub_that_was_left_meanwhile_refuses(alice: Actor) -> None:
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Press", "slug": f"h{alice.account.id.lower()}"}), 201)
    draft = scheduled(alice.web, alice, hubId=hub["id"])
    body_of(alice.web.delete(f"/api/hubs/{hub['id']}/membership"))

    pass_time(alice)

    assert "not a member" in shown(alice, draft)["refusal"]


def test_audience_and_mentions_count_when_it_is_published(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    draft = scheduled(alice.web, alice, content=f"For @{bob.account.username}", visibility="FOLLOWERS")
    body_of(bob.web.post(f"/api/accounts/{alice.account.username}/follow"))

    pass_time(alice)

    heard: list[Any] = body_of(bob.web.get("/api/notifications"))["notifications"]
    assert [(each["type"], each["postId"]) for each in heard] == [("mention", shown(alice, draft)["postId"])]


def test_draft_that_a_key_scheduled_bears_the_key_and_counts_by_key(alice: Actor) -> None:
    draft = scheduled(alice.api, alice)

    pass_time(alice)

    post = body_of(alice.web.get(f"/api/posts/{shown(alice, draft)['postId']}"))
    assert post["sourceApiKey"]["id"] == alice.record.id


def test_revoked_key_publishes_nothing_that_it_scheduled(alice: Actor) -> None:
    db = alice.server.runtime.db
    of_key, taken_over = scheduled(alice.api, alice), scheduled(alice.api, alice)
    path = f"/api/drafts/{taken_over['id']}"
    body_of(alice.web.patch(path, json={"version": 1, "content": "By a person"}))
    alice.server.run(db.transact(revoke_key, alice.record.id, RevokedBy.SELF, None))

    pass_time(alice)

    refused = shown(alice, of_key)
    assert (refused["state"], "no longer active" in refused["refusal"]) == ("refused", True)
    assert shown(alice, taken_over)["state"] == "published"


def test_suspended_account_publishes_nothing(actor: MakeActor) -> None:
    alice, admin = actor(), actor().become_admin()
    draft = scheduled(alice.web, alice)
    db = alice.server.runtime.db
    alice.server.run(db.transact(suspend_account, alice.account.username, "Spam."))

    pass_time(alice)

    query = Query(str, "SELECT state || ': ' || refusal FROM drafts WHERE id = :draft_id")
    assert rows(alice.server, query, draft_id=draft["id"]) == ["refused: The account was suspended at that time."]
    assert admin.account.id


def test_worker_whose_job_another_one_has_publishes_nothing(alice: Actor) -> None:
    draft = scheduled(alice.web, alice)
    db = alice.server.runtime.db
    job = Job("01M7WVE9SS0371E5H43QNHTMZJ", "scheduled post", draft["id"], alice.account.id, 1, 0, 0)
    alice.server.clock.advance(MINUTE)

    alice.server.run(db.transact(publish_due, job, "another token", allowance_of(alice.server.settings)))

    assert shown(alice, draft)["state"] == "scheduled"
    alice.server.do_jobs()
    assert shown(alice, draft)["state"] == "published"
