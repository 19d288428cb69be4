"""The cost for an endpoint whose receiver is away, slow or ill, and its deliveries afterwards."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, SECOND, iso
from pressroom.domains.webhooks.models import LOGGED
from tests.api.actors import Actor, Json, body_of
from tests.harness.local import LocalServer
from tests.harness.receiver import Received, answer, hold
from tests.webhooks.clocked import later, pass_time, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint

SETTINGS = DELIVERING


def live_through(hook: Endpoint, minutes: int, every: int = 10) -> int:
    """Posts every so many seconds for so many minutes, with a worker that is always there; the number of posts."""
    server = hook.owner.server
    times = minutes * 60 // every
    for _ in range(times):
        post(hook.owner)
        server.deliver()
        pass_time(server, every * SECOND)
    return times


def ids(requests: list[Received]) -> list[str]:
    return [request.id for request in requests]


def notices(owner: Actor) -> list[Json]:
    """The owner's notifications of disabled endpoints."""
    told = body_of(owner.web.get("/api/notifications"))["notifications"]
    return [each for each in told if each["type"] == "webhook.disabled"]


def test_an_outage_of_ten_minutes_costs_a_busy_endpoint_four_failures_and_no_event(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500))
    posts = live_through(hook, 10)
    assert len(set(ids(hook.received))) == 1, "the oldest alone is tried"
    assert (len(hook.received), hook.show()["consecutiveFailures"], hook.show()["status"]) == (4, 4, "enabled")

    failed = len(hook.received)
    hook.behave(answer(200))
    pass_time(server, 10 * MINUTE)
    acknowledged = ids(hook.received[failed:])
    assert len(acknowledged) == len(set(acknowledged)) == posts
    assert set(hook.states()) == {"delivered"}
    assert (hook.show()["consecutiveFailures"], notices(alice)) == (0, [])
    attempts = hook.deliveries()[-1]["attempts"]
    assert [attempt["status"] for attempt in attempts] == ["failed"] * 4 + ["succeeded"]
    assert [attempt["number"] for attempt in attempts] == [1, 2, 3, 4, 5]


def test_an_outage_of_twenty_minutes_disables_and_redelivery_brings_everything(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(503))
    before = server.clock.now()
    posts = live_through(hook, 20, every=20)
    shown = hook.show()
    assert (shown["status"], shown["consecutiveFailures"]) == ("disabled", 5)
    assert (shown["disabledReason"], shown["disabledAt"] > iso(before)) == ("5 deliveries in a row failed.", True)
    assert ids(hook.received) == [hook.received[0].id] * 5
    *held, probe = hook.deliveries()
    assert (probe["state"], probe["id"], len(probe["attempts"])) == ("failed", hook.received[0].id, 5)
    assert {(each["state"], each["nextAttemptAt"], len(each["attempts"])) for each in held} == {("held", None, 0)}
    assert len(held) < posts - 1, "what happens while it is disabled is not queued"
    assert [notice["webhookId"] for notice in notices(alice)] == [hook.id]

    hook.behave(answer(200))
    pass_time(server, DAY)
    assert len(hook.received) == 5
    later(alice, 0)
    again = hook.again("post.created")
    assert again.redelivered(before) == (posts, 0)
    server.deliver()
    got = hook.received[5:]
    assert len(got) == len(set(ids(got))) == posts
    assert {request.envelope["created_at"] <= iso(before + 20 * MINUTE) for request in got} == {True}
    assert set(again.states()) == {"delivered"}
    assert len(notices(alice)) == 1


def test_failures_in_flight_together_count_as_one_and_oldest_is_the_probe(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    post(alice, 20)
    hook.behave(hold(500))
    with ThreadPoolExecutor(1) as pool:
        delivering = pool.submit(server.deliver)
        hook.receiver.wait(lambda receiver: receiver.in_flight[hook.path] == 8)
        hook.behave(answer(500))
        hook.receiver.release(hook.path)
        delivering.result(120)
    first = ids(hook.received)
    assert len(first) == 8
    assert hook.show()["consecutiveFailures"] == 1
    oldest = hook.deliveries()[-1]["id"]
    for failures, minutes in ((2, 1), (3, 2), (4, 4)):
        pass_time(server, minutes * 66 * SECOND)
        assert ids(hook.received)[len(first) :] == [oldest] * (failures - 1)
        assert hook.show()["consecutiveFailures"] == failures
    tried = [each for each in hook.deliveries() if each["attempts"]]
    assert {each["id"] for each in tried} == set(first)
    assert set(hook.states()) == {"pending"}


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_acknowledges(alice: Actor, server: LocalServer, endpoint: MakeEndpoint, status: int) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(status))
    post(alice)
    server.deliver()
    (delivery,) = hook.deliveries()
    (attempt,) = delivery["attempts"]
    assert (delivery["state"], attempt["status"], attempt["httpCode"]) == ("delivered", "succeeded", status)
    pass_time(server, DAY)
    assert len(hook.received) == 1


@pytest.mark.parametrize("status", [300, 301, 302, 304, 400, 401, 404, 409, 429, 500, 503, 599])
def test_response_other_than_2xx_is_a_failure_and_is_retried(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint, status: int
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(status, {"Location": hook.receiver.url("/elsewhere")}), answer(200))
    post(alice)
    server.deliver()
    (delivery,) = hook.deliveries()
    (attempt,) = delivery["attempts"]
    assert (delivery["state"], attempt["status"], attempt["httpCode"]) == ("pending", "failed", status)
    assert str(status) in attempt["error"]
    assert hook.show()["consecutiveFailures"] == 1
    pass_time(server, 66 * SECOND)
    assert hook.states() == ["delivered"]
    first, second = hook.received
    assert (first.body, first.id) == (second.body, second.id)
    assert hook.receiver.count("/elsewhere") == 0


def test_410_disables_at_once(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(410))
    post(alice, 20)
    server.deliver()
    shown = hook.show()
    assert (shown["status"], shown["disabledReason"]) == ("disabled", "The endpoint answered 410 Gone.")
    states = hook.states()
    assert set(states) == {"held", "failed"}
    assert states.count("failed") == len(hook.received) <= 8
    pass_time(server, DAY)
    assert len(hook.received) == states.count("failed")
    assert [notice["webhookId"] for notice in notices(alice)] == [hook.id]


@pytest.mark.parametrize("dated", [False, True])
def test_retry_after_lengthens_the_wait(alice: Actor, server: LocalServer, endpoint: MakeEndpoint, dated: bool) -> None:
    hook = endpoint("post.created")
    moment = datetime.fromtimestamp(server.clock.now() // SECOND + 300, UTC)
    hook.behave(answer(429, {"Retry-After": format_datetime(moment, usegmt=True) if dated else "300"}), answer(200))
    post(alice)
    server.deliver()
    assert hook.deliveries()[0]["nextAttemptAt"] >= iso(server.clock.now() + 299 * SECOND)
    pass_time(server, 298 * SECOND)
    assert len(hook.received) == 1
    pass_time(server, 2 * SECOND)
    assert hook.states() == ["delivered"]


@pytest.mark.parametrize("asked", ["0", "1", "-60", "Thu, 01 Jan 1970 00:00:00 GMT", "soon"])
def test_retry_after_never_shortens_the_wait(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint, asked: str
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(429, {"Retry-After": asked}), answer(200))
    post(alice)
    server.deliver()
    pass_time(server, 53 * SECOND)
    assert len(hook.received) == 1
    pass_time(server, 13 * SECOND)
    assert hook.states() == ["delivered"]


def test_retry_after_delays_at_most_a_day(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(503, {"Retry-After": "9" * 400}), answer(200))
    post(alice)
    server.deliver()
    pass_time(server, DAY - SECOND)
    assert len(hook.received) == 1
    pass_time(server, SECOND)
    assert hook.states() == ["delivered"]


def test_a_success_resets_the_count(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    for _ in range(2):
        hook.behave(answer(500), answer(500), answer(500), answer(500), answer(200))
        post(alice)
        server.deliver()
        for _ in range(4):
            pass_time(server, 10 * MINUTE)
        assert (hook.show()["consecutiveFailures"], hook.show()["status"]) == (0, "enabled")
    assert set(hook.states()) == {"delivered"}
    assert len(hook.received) == 10


def test_test_is_tried_once_and_does_not_count(server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500))
    for _ in range(6):
        body_of(hook.test(), 202)
        server.deliver()
    pass_time(server, DAY)
    assert hook.heard == ["webhook.test"] * 6
    assert len(set(ids(hook.received))) == 6
    assert set(hook.states()) == {"failed"}
    assert (hook.show()["consecutiveFailures"], hook.show()["status"]) == (0, "enabled")


def test_a_test_passes_the_queue(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    post(alice)
    server.deliver()
    post(alice, 20)
    body_of(hook.test(), 202)
    server.deliver()
    assert hook.heard[:2] == ["post.created", "webhook.test"], "a test does not wait for the probe"
    assert len(hook.heard) == 23, "and its success brings forward the deliveries that wait"
    assert set(hook.states()) == {"delivered"}


def test_failed_test_does_not_end_a_batch(alice: Actor, server: LocalServer, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    hook.behave(lambda request: answer(410 if request.event == "webhook.test" else 200))
    post(alice, 20)
    body_of(hook.test(), 202)
    server.deliver()
    assert "webhook.test" in hook.heard[:8]
    assert sorted(hook.states()) == ["delivered"] * 20 + ["failed"]
    assert hook.show()["status"] == "enabled"


def test_the_latest_attempts_are_shown_when_there_were_many(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    post(alice)
    for round_ in range(LOGGED + 5):
        hook.behave(answer(200, body=b"no. %d" % round_))
        server.deliver()
        assert hook.redelivered() == (1, 0)
    (delivery,) = hook.deliveries()
    assert [attempt["number"] for attempt in delivery["attempts"]] == list(range(6, LOGGED + 6))
    assert delivery["attempts"][-1]["responseBody"] == f"no. {LOGGED + 4}"
    assert len(set(ids(hook.received))) == 1
    hook.remove()


def test_new_events_of_a_failing_endpoint_wait_for_the_probe(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    post(alice)
    server.deliver()
    post(alice, 3)
    probe_at = hook.deliveries()[-1]["nextAttemptAt"]
    assert {each["nextAttemptAt"] for each in hook.deliveries()} == {probe_at}
    pass_time(server, 30 * SECOND)
    assert len(hook.received) == 1
    pass_time(server, HOUR)
    assert len(hook.received) == 5
