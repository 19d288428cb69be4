"""Which event goes to which endpoint, and what exactly arrives there."""

import json
import uuid
from collections.abc import Callable

import pytest
import stripe

from pressroom import __version__
from pressroom.clock import MINUTE, SECOND, iso
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import ApiKey, RevokedBy
from pressroom.receivers import verification
from tests.api.actors import Actor, Json, body_of, publish
from tests.api.conftest import MakeActor
from tests.harness.receiver import Received, Receiver, answer
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import CHOOSABLE, DELIVERING, Endpoint

SETTINGS = {**DELIVERING, "REQUESTS_PER_MINUTE": 1_000, "POSTS_PER_MINUTE": 12, "ABUSE_REFUSALS": 3}


def told(hook: Endpoint) -> list[Json]:
    """The envelopes that have arrived when all that is due was delivered, oldest event first."""
    hook.owner.server.deliver()
    return sorted((each.envelope for each in hook.received), key=lambda envelope: str(envelope["created_at"]))


def first_of(hook: Endpoint) -> Received:
    """The one request that arrives."""
    hook.owner.server.deliver()
    (request,) = hook.received
    return request


def comment(author: Actor, post_id: str, content: str = "Well set", **fields: str) -> Json:
    """A new comment."""
    return body_of(author.api.post(f"/api/posts/{post_id}/comments", json={"content": content, **fields}), 201)


def revoke(key: ApiKey, owner: Actor, by: RevokedBy, reason: str | None) -> ApiKey:
    """Takes a key back as the command line does; its record."""
    return owner.server.run(owner.server.runtime.db.transact(revoke_key, key.id, by, reason))


def test_the_envelope_is_four_fields(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    post = publish(alice)
    alice.server.clock.advance(1_234)

    (envelope,) = told(hook)

    assert list(envelope) == ["event", "id", "created_at", "data"]
    assert envelope["event"] == "post.created"
    assert len(envelope["id"]) == 40
    prefix, identifier = envelope["id"][:4], uuid.UUID(envelope["id"][4:])
    assert (prefix, identifier.version, str(identifier)) == ("evt_", 4, envelope["id"][4:])
    assert envelope["created_at"] == post["createdAt"] == iso(alice.server.clock.now() - 1_234)


def test_each_endpoint_gets_an_envelope_of_its_own(endpoint: MakeEndpoint, alice: Actor) -> None:
    hooks = [endpoint() for _ in range(4)]
    publish(alice)

    envelopes = [told(hook)[0] for hook in hooks]

    assert len({envelope["id"] for envelope in envelopes}) == 4
    assert len({json.dumps({**envelope, "id": ""}) for envelope in envelopes}) == 1


def test_the_request_is_a_post_of_json_with_three_headers(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    publish(alice, "Grüße 🦊 <&> \u2028")

    request = first_of(hook)

    assert (request.method, request.path, request.query) == ("POST", hook.path, "")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["content-length"] == str(len(request.body))
    assert request.headers["user-agent"] == f"Pressroom/{__version__}"
    assert request.headers["x-service-event"] == "post.created"
    assert request.headers["x-service-delivery-id"] == request.envelope["id"] == hook.deliveries()[0]["id"]
    assert request.headers["x-service-signature"].startswith(f"t={alice.server.clock.now() // SECOND},v1=")
    assert not {"authorization", "cookie", "referer"} & request.headers.keys()
    assert request.envelope["data"]["post"]["content"] == "Grüße 🦊 <&> \u2028"


def test_the_query_of_an_address_is_kept(alice: Actor, receiver: Receiver) -> None:
    Endpoint.add(alice, receiver, path="/in?token=a%20b&x")
    publish(alice)
    alice.server.deliver()

    assert [(each.path, each.query) for each in receiver.received] == [("/in", "token=a%20b&x")]


def test_others_verify_the_signature_as_they_verify_stripe_s(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    publish(alice, "Grüße 🦊")
    request = first_of(hook)

    assert stripe.WebhookSignature.verify_header(request.body, request.signature, hook.secret, 300)
    event = stripe.Webhook.construct_event(request.body, request.signature, hook.secret)
    assert event["id"] == request.id

    wrong = [
        (request.body + b" ", request.signature, hook.secret),
        (request.body, request.signature, hook.secret[:-1]),
        (request.body, request.signature, hook.secret.removeprefix("whsec_")),
        (request.body, request.signature.replace("t=1", "t=2"), hook.secret),
    ]
    for body, signature, secret in wrong:
        with pytest.raises(stripe.SignatureVerificationError):
            stripe.WebhookSignature.verify_header(body, signature, secret)


def test_our_own_receiver_verifies_the_signature(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook, other = endpoint("post.created"), endpoint()
    publish(alice)
    request = first_of(hook)
    now = alice.server.clock.now() / SECOND

    verification.verify(request.body, request.signature, hook.secret, now=now)
    for secret, at in ((other.secret, now), (hook.secret, now + 301), (hook.secret, now - 302)):
        with pytest.raises(verification.VerificationFailed):
            verification.verify(request.body, request.signature, secret, now=at)


def test_post_event_has_each_field_of_the_post(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Press", "slug": f"press-{hook.path[5:]}"}), 201)
    post = publish(alice, "Hello #world", visibility="PRIVATE", location={"name": "Köln"}, hubId=hub["id"])

    assert told(hook)[0]["data"] == {
        "post": {
            "id": post["id"],
            "authorId": alice.account.id,
            "content": "Hello #world",
            "type": "POST",
            "visibility": "PRIVATE",
            "isShare": False,
            "originalPostId": None,
            "hubId": hub["id"],
            "createdAt": post["createdAt"],
        }
    }


def test_bounces_are_posts_too(endpoint: MakeEndpoint, alice: Actor, actor: MakeActor) -> None:
    original = publish(actor())
    hook = endpoint("post.created")
    plain = body_of(alice.api.post(f"/api/posts/{original['id']}/bounce"), 201)
    alice.server.clock.advance(1)
    quote = body_of(alice.api.post(f"/api/posts/{original['id']}/bounce", json={"content": "So true"}), 201)

    shared = {
        "authorId": alice.account.id,
        "visibility": "PUBLIC",
        "isShare": True,
        "originalPostId": original["id"],
        "hubId": None,
    }
    assert [envelope["data"]["post"] for envelope in told(hook)] == [
        {**shared, "id": post["id"], "content": content, "type": kind, "createdAt": post["createdAt"]}
        for post, content, kind in ((plain, None, "SHARE"), (quote, "So true", "QUOTE"))
    ]


def test_comments_and_replies_are_events(endpoint: MakeEndpoint, alice: Actor, actor: MakeActor) -> None:
    post = publish(actor())
    hook = endpoint("comment.created")
    first = comment(alice, post["id"])
    alice.server.clock.advance(1)
    reply = comment(alice, post["id"], "And printed", parentId=first["id"])

    assert [envelope["data"] for envelope in told(hook)] == [
        {
            "comment": {
                "id": said["id"],
                "postId": post["id"],
                "authorId": alice.account.id,
                "parentId": parent_id,
                "content": content,
                "createdAt": said["createdAt"],
            }
        }
        for said, parent_id, content in ((first, None, "Well set"), (reply, first["id"], "And printed"))
    ]
    assert {envelope["event"] for envelope in told(hook)} == {"comment.created"}


def test_event_of_an_account_reaches_the_endpoints_of_all_its_keys(
    endpoint: MakeEndpoint, alice: Actor, actor: MakeActor
) -> None:
    other, other_secret = alice.server.key(alice.account)
    hooks = [endpoint(), endpoint(key_id=other.id)]
    post = publish(actor())
    sent = [
        alice.post("by key"),
        alice.web.post("/api/posts", json={"content": "on the web"}),
        alice.api.post(
            "/api/posts", json={"content": "by another key"}, headers={"Authorization": f"Bearer {other_secret}"}
        ),
        alice.web.post(f"/api/posts/{post['id']}/bounce"),
        alice.web.post(f"/api/posts/{post['id']}/comments", json={"content": "on the web"}),
    ]

    made = {body_of(answer, 201)["id"] for answer in sent}

    for hook in hooks:
        data = [envelope["data"] for envelope in told(hook)]
        assert {next(iter(each.values()))["id"] for each in data} == made
        assert len(data) == len(sent)


def test_endpoint_gets_no_event_of_other_accounts(endpoint: MakeEndpoint, alice: Actor, actor: MakeActor) -> None:
    bob = actor()
    hook, bobs = endpoint(), endpoint(owner=bob)
    post = publish(alice)
    body_of(bob.api.post(f"/api/posts/{post['id']}/bounce"), 201)
    comment(bob, post["id"])
    revoke(bob.record, bob, RevokedBy.SELF, None)

    assert [envelope["data"]["post"]["id"] for envelope in told(hook)] == [post["id"]]
    assert bobs.heard == ["apikey.revoked"]


@pytest.mark.parametrize("chosen", CHOOSABLE)
def test_endpoint_gets_chosen_events(endpoint: MakeEndpoint, alice: Actor, chosen: str) -> None:
    hook = endpoint(chosen)
    comment(alice, publish(alice)["id"])
    alice.server.deliver()
    revoke(alice.record, alice, RevokedBy.ADMIN, "test")
    alice.server.deliver()

    expected = [] if chosen == "postclip.created" else [chosen]
    assert hook.heard == expected
    assert [delivery["event"] for delivery in hook.deliveries()] == expected


def test_other_writes_emit_no_event(endpoint: MakeEndpoint, alice: Actor, actor: MakeActor) -> None:
    mine, bobs = publish(alice), publish(actor(), poll={"options": ["a", "b"]})
    hook = endpoint()
    for method, path, body in (
        ("PATCH", f"/api/posts/{mine['id']}", {"content": "Edited"}),
        ("POST", f"/api/posts/{bobs['id']}/like", None),
        ("POST", f"/api/posts/{bobs['id']}/poll/votes", {"choices": [0]}),
        ("PATCH", "/api/auth/me", {"bio": "Printer"}),
        ("POST", "/api/auth/api-keys", {"label": "another", "scopes": ["posts:write"]}),
        ("DELETE", f"/api/posts/{mine['id']}", None),
    ):
        assert alice.web.request(method, path, json=body).status_code in (200, 201)

    assert (told(hook), hook.deliveries()) == ([], [])


def test_failed_or_replayed_write_emits_at_most_one_event(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    post = body_of(alice.post("once", "k"), 201)
    assert [alice.post("once", "k").status_code for _ in range(2)] == [200, 200]
    bounce = f"/api/posts/{post['id']}/bounce"
    assert alice.web.post(bounce).status_code == 201
    refused = [
        alice.api.post("/api/posts", json={"content": ""}),
        alice.api.post("/api/posts", json={"content": "x", "hubId": "none"}),
        alice.api.post("/api/posts/none/comments", json={"content": "x"}),
        alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": "x", "parentId": "none"}),
        alice.web.post(bounce),
    ]

    assert [answer.status_code for answer in refused] == [400, 422, 404, 422, 409]
    assert sorted(envelope["data"]["post"]["type"] for envelope in told(hook)) == ["POST", "SHARE"]
    assert len(hook.deliveries()) == 2


def by_its_owner(owner: Actor) -> None:
    """The owner revokes the key, twice."""
    for _ in range(2):
        body_of(owner.web.delete(f"/api/auth/api-keys/{owner.record.id}"))


def by_the_operator(owner: Actor) -> None:
    """The operator revokes the key, twice, and the owner after that."""
    for _ in range(2):
        revoke(owner.record, owner, RevokedBy.ADMIN, "It was found in public.")
    by_its_owner(owner)


def by_itself(owner: Actor) -> None:
    """The key hammers on until it is refused for good."""
    while owner.post().status_code != 401:
        pass
    by_its_owner(owner)


ENDS = {
    "self": (by_its_owner, None),
    "admin": (by_the_operator, "It was found in public."),
    "auto": (by_itself, "3 refused requests within 600 seconds."),
}


@pytest.mark.parametrize(("by", "end", "reason"), [(by, *each) for by, each in ENDS.items()], ids=ENDS)
def test_revocation_reaches_the_key_s_own_endpoints_once(
    endpoint: MakeEndpoint, alice: Actor, by: str, end: Callable[[Actor], None], reason: str | None
) -> None:
    other, _ = alice.server.key(alice.account)
    hooks = [endpoint("apikey.revoked") for _ in range(2)]
    elsewhere = endpoint("apikey.revoked", key_id=other.id)

    end(alice)

    now = iso(alice.server.clock.now())
    for hook in hooks:
        (envelope,) = told(hook)
        assert (envelope["event"], envelope["created_at"]) == ("apikey.revoked", now)
        assert envelope["data"] == {
            "apiKey": {
                "id": alice.record.id,
                "label": "test key",
                "keyPrefix": alice.key[:15],
                "revokedAt": now,
                "revokedBy": by,
                "reason": reason,
            }
        }
        hook.verify(hook.received[0])
    assert (told(elsewhere), elsewhere.deliveries()) == ([], [])


def test_queued_deliveries_of_a_revoked_key_are_cancelled(endpoint: MakeEndpoint, alice: Actor) -> None:
    other, _ = alice.server.key(alice.account)
    hook, deaf, elsewhere = endpoint(), endpoint("post.created"), endpoint(key_id=other.id)
    for number in range(10):
        publish(alice, f"post {number}")
    body_of(hook.test(), 202)
    alice.server.clock.advance(1)
    by_its_owner(alice)
    alice.server.clock.advance(1)
    body_of(alice.web.post("/api/posts", json={"content": "afterwards"}), 201)

    alice.server.deliver()

    assert hook.heard == ["apikey.revoked"]
    assert hook.states() == ["delivered", *["cancelled"] * 11]
    assert [delivery["nextAttemptAt"] for delivery in hook.deliveries()] == [None] * 12
    assert (deaf.heard, deaf.states()) == ([], ["cancelled"] * 10)
    assert elsewhere.heard == ["post.created"] * 11


def test_only_the_revocation_is_retried_after_it(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint()
    hook.behave(answer(500), answer(500), answer(200))
    publish(alice)
    alice.server.deliver()
    by_its_owner(alice)

    for wait in (1.2, 2.4, 4.8):
        alice.server.clock.advance(int(wait * MINUTE))
        alice.server.deliver()

    assert hook.heard == ["post.created", "apikey.revoked", "apikey.revoked"]
    assert sorted(hook.states()) == ["cancelled", "delivered"]
    assert hook.received[1].body == hook.received[2].body


def test_endpoint_of_an_expired_key_gets_no_further_event(actor: MakeActor, receiver: Receiver, alice: Actor) -> None:
    owner = actor(expires_at=alice.server.clock.now() + 1_000)
    hook = Endpoint.add(owner, receiver)
    alice.server.clock.advance(999)
    last = body_of(owner.web.post("/api/posts", json={"content": "in time"}), 201)
    assert [envelope["data"]["post"]["id"] for envelope in told(hook)] == [last["id"]]

    alice.server.clock.advance(1)
    body_of(owner.web.post("/api/posts", json={"content": "too late"}), 201)

    assert len(told(hook)) == len(hook.deliveries()) == 1


def test_endpoint_gets_events_after_its_creation(endpoint: MakeEndpoint, alice: Actor) -> None:
    publish(alice, "before")
    hook = endpoint()
    publish(alice, "after")

    assert [envelope["data"]["post"]["content"] for envelope in told(hook)] == ["after"]
