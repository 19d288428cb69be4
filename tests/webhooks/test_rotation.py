"""A signing secret is replaced: signed with the new one from then on, accepted by either for a day."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from pressroom.clock import DAY, MINUTE, SECOND, iso
from pressroom.receivers.verification import VerificationFailed, verify
from tests.api.actors import Actor, body_of, publish
from tests.harness.receiver import Received, answer, hold
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING, Endpoint

SETTINGS = DELIVERING


def signed_with(hook: Endpoint, request: Received, secret: str) -> bool:
    """Whether the request, sent at this moment, bears the signature of this secret alone."""
    try:
        hook.verify(request, secret)
    except VerificationFailed:
        return False
    return True


def deliver(hook: Endpoint) -> Received:
    """Publishes; what arrives of it."""
    publish(hook.owner)
    hook.owner.server.deliver()
    return hook.received[-1]


def test_a_new_secret_is_shown_once_and_the_old_one_stays_valid_for_a_day(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")

    answer = hook.rotate()

    rotated = body_of(answer)
    assert rotated.keys() == {"id", "secret", "secretPrefix", "previousSecretExpiresAt"}
    assert re.fullmatch("whsec_[0-9A-Za-z]{32}", rotated["secret"])
    assert rotated["secret"] != hook.secret
    assert rotated["secretPrefix"] == rotated["secret"][:12]
    assert rotated["id"] == hook.id
    assert rotated["previousSecretExpiresAt"] == iso(alice.server.clock.now() + DAY)
    unchanged = {name: value for name, value in hook.created.items() if name != "secret"}
    assert hook.show() == {
        **unchanged,
        "secretPrefix": rotated["secretPrefix"],
        "previousSecretExpiresAt": rotated["previousSecretExpiresAt"],
    }


def test_after_a_day_there_is_no_previous_secret(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    until = body_of(hook.rotate())["previousSecretExpiresAt"]

    alice.server.clock.advance(DAY - 1)
    assert hook.show()["previousSecretExpiresAt"] == until
    alice.server.clock.advance(1)
    assert hook.show()["previousSecretExpiresAt"] is None


def test_deliveries_after_a_rotation_use_the_new_secret_only(endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    before = deliver(hook)
    assert signed_with(hook, before, hook.secret)

    secret = body_of(hook.rotate())["secret"]
    after = deliver(hook)

    assert (signed_with(hook, after, secret), signed_with(hook, after, hook.secret)) == (True, False)
    assert signed_with(hook, before, secret) is False
    assert after.signature.count("v1=") == 1


def test_receiver_with_both_secrets_accepts_deliveries_before_and_after_rotation(
    endpoint: MakeEndpoint, alice: Actor
) -> None:
    hook = endpoint("post.created")
    before = deliver(hook)
    secret = body_of(hook.rotate())["secret"]
    after = deliver(hook)

    for request in (before, after):
        for secrets in ([secret, hook.secret], [hook.secret, secret]):
            verify(request.body, request.signature, secrets, now=alice.server.clock.now() / SECOND)


def test_a_delivery_that_is_tried_again_after_a_rotation_has_the_same_bytes_and_a_new_signature(
    endpoint: MakeEndpoint, alice: Actor
) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(500), answer(200))
    first = deliver(hook)
    assert signed_with(hook, first, hook.secret)
    secret = body_of(hook.rotate())["secret"]

    alice.server.clock.advance(int(1.2 * MINUTE))
    alice.server.deliver()

    _, second = hook.received
    assert (second.body, second.id) == (first.body, first.id)
    assert (signed_with(hook, second, secret), signed_with(hook, second, hook.secret)) == (True, False)
    assert second.signature != first.signature


def test_queued_delivery_is_signed_at_sending(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    publish(alice)
    secret = body_of(hook.rotate())["secret"]

    alice.server.deliver()

    assert signed_with(hook, hook.received[0], secret)


def test_a_rotation_while_a_delivery_is_under_way_does_not_disturb_it(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(hold(200), answer(200))
    publish(alice)
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(alice.server.deliver)
        hook.receiver.wait(lambda receiver: receiver.count(hook.path) == 1)
        secret = body_of(hook.rotate())["secret"]
        hook.receiver.release(hook.path)
        sending.result(120)

    assert signed_with(hook, hook.received[0], hook.secret)
    assert hook.states() == ["delivered"]
    assert signed_with(hook, deliver(hook), secret)


def test_second_of_two_rotations_counts(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    first = body_of(hook.rotate())
    alice.server.clock.advance(MINUTE)
    second = body_of(hook.rotate())

    assert second["previousSecretExpiresAt"] == iso(alice.server.clock.now() + DAY)
    assert hook.show()["secretPrefix"] == second["secretPrefix"]
    request = deliver(hook)
    assert [signed_with(hook, request, each["secret"]) for each in (first, second)] == [False, True]


@pytest.mark.parametrize("body", [b"", b"{}", b'{"secret":"whsec_mine"}', b"no JSON"])
def test_a_rotation_takes_no_body(endpoint: MakeEndpoint, alice: Actor, body: bytes) -> None:
    hook = endpoint()

    rotated = body_of(alice.web.post(f"{hook.base}/rotate", content=body))

    assert rotated["secret"] not in (hook.secret, "whsec_mine")


def test_endpoints_are_rotated_one_by_one(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook, other = endpoint("post.created"), endpoint("post.created")
    body_of(hook.rotate())

    deliver(other)

    assert signed_with(other, other.received[0], other.secret)
    assert not signed_with(hook, hook.received[0], hook.secret)
    assert other.show()["previousSecretExpiresAt"] is None
    assert alice.web.get(other.base).json()["secretPrefix"] == other.secret[:12]
