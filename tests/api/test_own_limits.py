"""Limits of one account in place of those of the settings: rates, quotas and storage, until they end."""

from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, MINUTE, iso
from tests.api.actors import Actor, body_of, field_errors, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.media.uploads import upload

SETTINGS = {**ROOMY, "REQUESTS_PER_MINUTE": 5, "DAILY_CONTENT_QUOTA": 2, "SESSION_CONTENT_PER_DAY": 2}
WHY = "Moves its archive here."


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    return actor().become_admin()


def limit(admin: Actor, who: Actor, **limits: Any) -> dict[str, Any]:
    """Sets the limits of an account, and returns its record."""
    path = f"/api/admin/accounts/{who.account.username}/limits"
    return body_of(admin.web.put(path, json={"reason": WHY, **limits}))


def ask(who: Actor) -> httpx.Response:
    return who.api.get("/api/auth/me")


def published(who: Actor, times: int) -> list[int]:
    """The statuses of so many posts by key."""
    return [who.post().status_code for _ in range(times)]


def test_rate_of_an_account_is_raised_lowered_and_given_back(admin: Actor, actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    assert [ask(alice).status_code for _ in range(6)] == [200] * 5 + [429]

    assert limit(admin, alice, requestsPerMinute=8)["limits"] == {"requestsPerMinute": 8}
    answer = ask(alice)
    assert answer.headers["X-RateLimit-Limit"] == "8"
    assert '"requests_per_minute";q=8;w=60' in answer.headers["RateLimit-Policy"]
    assert answer.status_code == 200
    assert [ask(alice).status_code for _ in range(3)] == [200, 200, 429], "the latest five attempts count on"
    assert ask(bob).headers["X-RateLimit-Limit"] == "5"

    limit(admin, alice, requestsPerMinute=1)
    alice.server.clock.advance(MINUTE)
    assert [ask(alice).status_code for _ in range(2)] == [200, 429]
    assert "1 requests per minute" in body_of(ask(alice), 429)["message"]

    assert limit(admin, alice)["limits"] is None
    alice.server.clock.advance(MINUTE)
    assert [ask(alice).status_code for _ in range(6)] == [200] * 5 + [429]


def test_quota_is_raised_until_its_end(admin: Actor, actor: MakeActor) -> None:
    alice = actor()
    clock = alice.server.clock
    assert published(alice, 3) == [201, 201, 429]

    record = limit(admin, alice, contentPerDay=4, requestsPerMinute=100, endsAt=iso(clock.now() + 2 * DAY))
    assert record["limits"]["endsAt"] == iso(clock.now() + 2 * DAY)
    assert published(alice, 3) == [201, 201, 429]
    clock.advance(DAY)
    assert published(alice, 5) == [201] * 4 + [429]
    clock.advance(DAY)
    assert published(alice, 3) == [201, 201, 429]


def test_usage_of_a_key_shows_the_limits_of_its_account(admin: Actor, actor: MakeActor) -> None:
    alice = actor()
    limit(admin, alice, requestsPerMinute=50, contentPerDay=7)
    ask(alice)

    (key,) = body_of(alice.web.get("/api/auth/api-keys"))["apiKeys"]
    usage = body_of(alice.web.get(f"/api/auth/api-keys/{key['id']}/usage"))

    limits = usage["limits"]
    assert (limits["minute"]["limit"], limits["minute"]["remaining"]) == (50, 49)
    assert limits["content"]["limit"] == 7


def test_account_signed_in_and_its_storage_have_limits_of_their_own(admin: Actor, actor: MakeActor) -> None:
    alice = actor()
    limit(admin, alice, sessionContentPerDay=1, sessionWritesPerMinute=3, storageBytes=10, requestsPerMinute=100)

    assert upload(alice.api).status_code == 422
    assert [alice.web.post("/api/posts", json={"content": "a"}).status_code for _ in range(3)] == [201, 429, 429]
    refused = body_of(alice.web.post("/api/posts", json={"content": "a"}), 429)
    assert refused["limit"] == "session_writes_per_minute"
    assert "3 writes per minute" in refused["message"]


def test_setting_limits_is_in_the_log_and_bad_ones_are_refused(admin: Actor, actor: MakeActor) -> None:
    alice = actor()
    clock = alice.server.clock
    path = f"/api/admin/accounts/{alice.account.username}/limits"
    clock.advance(1)
    limit(admin, alice, contentPerDay=4, endsAt=iso(clock.now() + DAY))

    entry = body_of(admin.web.get("/api/admin/log"))["entries"][0]
    assert (entry["kind"], entry["username"]) == ("limits.set", alice.account.username)
    assert entry["detail"] == {"reason": WHY, "contentPerDay": 4, "until": iso(clock.now() + DAY)}

    bad = {"requestsPerMinute": 0, "contentPerDay": -1, "endsAt": iso(clock.now()), "reason": " "}
    assert dict(field_errors(admin.web.put(path, json=bad))) == {
        "requestsPerMinute": "out_of_range",
        "contentPerDay": "out_of_range",
        "endsAt": "out_of_range",
        "reason": "too_short",
    }
    assert refusal(admin.web.put("/api/admin/accounts/nobody_here/limits", json={"reason": WHY})) == (404, "Not found")
    assert publish(alice)
