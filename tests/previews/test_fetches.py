"""When and how often a page is fetched, and how long that is good (docs/previews.md#fetching)."""

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, SECOND
from pressroom.domains.previews import actions
from pressroom.domains.previews.models import FAILED_FOR, FRESH, LEASE
from tests.api.actors import Actor, body_of, objections, publish, refusal
from tests.api.conftest import MakeActor, one_engine
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.harness.roomy import ROOMY
from tests.previews.fetches import BUDGET, begin_and_die, impatient, shown, shown_in_time, status, title, waits

SETTINGS = {**ROOMY, "DEV": 1}

A = og("title", "A")
B = og("title", "B")


@one_engine
def test_an_answer_does_not_wait_for_a_site_that_hangs(
    alice: Actor, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.page("/a", A)
    site.hang("/a")

    with impatient(monkeypatch, budget=BUDGET):
        post = publish(alice, site.url("/a"))
    assert (post["linkPreview"], site.requests) == (None, {"/a": 1}), "answered while the site hangs"
    site.release("/a")

    assert shown_in_time(alice, post, "A")
    assert site.requests == {"/a": 1}, "the fetch went on"


def test_a_page_that_comes_late_is_shown_then(alice: Actor, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    server = alice.server
    site.page("/a", A)
    site.hang("/a")

    with impatient(monkeypatch):
        post = publish(alice, site.url("/a"))
    assert post["linkPreview"] is None
    assert status(server, site.url("/a")) == "FETCHING"
    site.release("/a")
    server.do_jobs()

    assert shown(alice, post) == "A"
    assert not waits(server, site.url("/a"))
    assert site.requests == {"/a": 1}


def test_a_page_that_fails_is_tried_again_later(alice: Actor, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    server = alice.server
    site.page("/a", A)
    site.hang("/a")
    with impatient(monkeypatch, fetch=0.3):
        post = publish(alice, site.url("/a"))
        server.do_jobs()
    assert status(server, site.url("/a")) == "FAILED"
    site.release("/a")

    server.clock.advance(FAILED_FOR - SECOND)
    server.do_jobs()
    assert (shown(alice, post), site.requests["/a"]) == (None, 1)
    server.clock.advance(2 * SECOND)
    server.do_jobs()
    assert (shown(alice, post), site.requests["/a"]) == ("A", 2)
    assert not waits(server, site.url("/a"))


@one_engine
def test_a_page_that_keeps_failing_is_left_alone_in_the_end(alice: Actor, site: Site) -> None:
    server = alice.server
    publish(alice, site.url("/a"))

    for wait in (10 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, DAY):
        server.clock.advance(wait)
        server.do_jobs()

    assert site.requests == {"/a": 5}
    site.page("/a", A)
    assert title(publish(alice, site.url("/a"))) == "A", "a new post asks anew"


def test_a_card_is_kept_for_a_day(alice: Actor, site: Site) -> None:
    server = alice.server
    site.page("/a", A)
    first = publish(alice, site.url("/a"))
    site.page("/a", B)

    server.clock.advance(FRESH - SECOND)
    assert title(publish(alice, site.url("/a"))) == "A"
    assert site.requests == {"/a": 1}
    server.clock.advance(SECOND)
    assert title(publish(alice, site.url("/a"))) == "B"
    assert shown(alice, first) == "B"
    assert site.requests == {"/a": 2}


def test_a_failure_is_kept_for_ten_minutes(alice: Actor, site: Site) -> None:
    server = alice.server
    first = publish(alice, site.url("/a"))
    site.page("/a", A)

    server.clock.advance(FAILED_FOR - SECOND)
    assert publish(alice, site.url("/a"))["linkPreview"] is None
    assert site.requests == {"/a": 1}
    server.clock.advance(SECOND)
    assert title(publish(alice, site.url("/a"))) == "A"
    assert shown(alice, first) == "A"
    assert site.requests == {"/a": 2}
    server.do_jobs()
    assert site.requests == {"/a": 2}, "the job finds it done"


def test_a_card_that_was_good_stays_when_its_page_fails(alice: Actor, site: Site) -> None:
    server = alice.server
    site.page("/a", A)
    publish(alice, site.url("/a"))
    site.page("/a", status=500)
    server.clock.advance(FRESH)

    post = publish(alice, site.url("/a"))

    assert (title(post), site.requests["/a"]) == ("A", 2)
    assert status(server, site.url("/a")) == "FAILED"
    server.clock.advance(2 * DAY)
    server.run(server.runtime.db.transact(actions.purge_failures, 500))
    assert shown(alice, post) == "A"


def test_failures_are_forgotten_after_a_day(alice: Actor, site: Site) -> None:
    server, url = alice.server, site.url("/a")
    publish(alice, url)

    server.clock.advance(DAY - SECOND)
    server.run(server.runtime.db.transact(actions.purge_failures, 500))
    assert status(server, url) == "FAILED"
    server.clock.advance(SECOND)
    server.run(server.runtime.db.transact(actions.purge_failures, 500))
    assert status(server, url) is None


def test_fetch_under_way_is_joined(alice: Actor, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    server = alice.server
    site.page("/a", A)
    begin_and_die(server, site.url("/a"), server.clock.now() + LEASE)

    with impatient(monkeypatch):
        assert publish(alice, site.url("/a"))["linkPreview"] is None
    assert not site.requests


def test_the_lease_of_who_was_killed_runs_out(alice: Actor, site: Site) -> None:
    server = alice.server
    site.page("/a", A)
    begin_and_die(server, site.url("/a"), server.clock.now() + LEASE)

    server.clock.advance(LEASE)

    assert title(publish(alice, site.url("/a"))) == "A"


def test_a_job_that_meets_a_dead_fetcher_takes_over(alice: Actor, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    server, url = alice.server, site.url("/a")
    site.page("/a", A)
    begin_and_die(server, url, server.clock.now() + LEASE)
    with impatient(monkeypatch):
        post = publish(alice, url)

    server.clock.advance(LEASE)
    server.do_jobs()

    assert shown(alice, post) == "A"


def test_a_replay_fetches_nothing(alice: Actor, site: Site) -> None:
    first = body_of(alice.post(site.url("/a"), "same"), 201)
    site.page("/a", A)
    alice.server.clock.advance(FAILED_FOR)

    assert body_of(alice.post(site.url("/a"), "same")) == first
    assert site.requests == {"/a": 1}


def test_a_refused_post_fetches_nothing(actor: MakeActor, site: Site) -> None:
    alice, bob = actor(), actor()
    post = publish(bob, "Bob's")
    hidden = publish(bob, "For me", visibility="PRIVATE")
    body, paths = {"content": site.url("/a")}, [f"/api/posts/{each['id']}" for each in (post, hidden)]

    assert objections(alice.api.post("/api/posts", json={**body, "hubId": "absent"})) == [("hubId", "not_allowed")]
    assert refusal(alice.api.patch(paths[0], json=body)) == (404, "Not found")
    assert refusal(alice.api.post(f"{paths[1]}/bounce", json=body)) == (404, "Not found")

    assert not site.requests


def test_a_post_beyond_the_quota_fetches_nothing(alice: Actor, site: Site) -> None:
    server = alice.server
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.runtime.settings, "daily_content_quota", 0)
        answer = alice.post(site.url("/a"))

    assert refusal(answer) == (429, "Daily content quota exceeded")
    assert not site.requests


@one_engine
def test_a_malformed_post_fetches_nothing(alice: Actor, site: Site) -> None:
    for body in ({"content": site.url("/a"), "visibility": "NOBODY"}, {"content": site.url("/a") + " x" * 2_600}):
        assert alice.api.post("/api/posts", json=body).status_code == 400
    assert not site.requests
