"""Every id in a path or a body: absent, deleted, hidden and malformed ones get one answer, and write nothing."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import msgspec
import pytest

from pressroom.domains.accounts.models import Caller
from pressroom.ids import new_id
from pressroom.server.routes import API_ROUTES
from pressroom.web.access import Anyone, Keyed
from pressroom.web.routing import Route
from tests.api.actors import Actor, body_of, field_errors, follow, new_client, objections, publish
from tests.api.bad_endpoints import PUBLIC
from tests.api.bad_ids import MALFORMED, STRINGS
from tests.api.conftest import one_engine
from tests.api.sockets import Reply, exchange
from tests.api.tables import held
from tests.harness.local import LocalServer

SETTINGS = {
    "REQUESTS_PER_MINUTE": 1_000_000,
    "REQUESTS_PER_DAY": 1_000_000,
    "POSTS_PER_MINUTE": 1_000_000,
    "DAILY_CONTENT_QUOTA": 1_000_000,
}

NO_POST = {"error": "Not found", "message": "There is no such post."}
NO_DRAFT = {"error": "Not found", "message": "There is no such draft."}
NO_HUB = {"error": "Not found", "message": "There is no such hub."}
NO_KEY = {"error": "Not found", "message": "There is no such key."}
NO_WEBHOOK = {"error": "Not found", "message": "There is no such webhook endpoint."}
NO_NOTIFICATION = {"error": "Not found", "message": "There is no such notification."}
NO_SESSION = {"error": "Not found", "message": "There is no such session."}
NO_DELIVERY = {"error": "Not found", "message": "There is no such delivery to this endpoint."}
NO_INVITATION = {"error": "Not found", "message": "There is no such invitation."}
NO_JOB = {"error": "Not found", "message": "There is no such dead job."}
CLIP = b"\0\0\0\x18ftypisom\0\0\0\0isommp42"
"""As much of a clip as its publication looks at."""

OF_THE_AUTHOR = {"edit_post", "delete_post", "set_audience", "show_audience"}
"""Operations on the caller's own posts alone."""


def routes() -> list[Route[Caller]]:
    """Every route with an id in its path. Uploads have tests of their own."""
    return [route for route in API_ROUTES if "{" in route.path and route.form is None]


ROUTES = routes()
POST_ROUTES = [route for route in ROUTES if route.path.startswith("/api/posts/{id}")]
HUB_ROUTES = [route for route in ROUTES if route.path.startswith("/api/hubs/{id}")]
KEY_ROUTES = [route for route in ROUTES if route.path.removesuffix("/usage") == "/api/auth/api-keys/{keyId}"]
OWN_KEY_ROUTES = [route for route in ROUTES if route.path == "/api/auth/api-keys/{keyId}/webhooks"]
DELIVERY_ROUTES = [route for route in ROUTES if "{deliveryId}" in route.path]
OWNED_ROUTES = [route for route in ROUTES if route.path.startswith("/api/admin/accounts/{username}/keys/")]
"""What admins do to one thing of an account: each wrong part is tried in test_admin_belongings.py."""

WEBHOOK_ROUTES = [
    route for route in ROUTES if "{webhookId}" in route.path and route not in (*DELIVERY_ROUTES, *OWNED_ROUTES)
]
DRAFT_ROUTES = [route for route in ROUTES if route.path.startswith("/api/drafts/{id}")]
CLIP_ROUTES = [route for route in ROUTES if route.path == "/api/clips/{id}"]
INVITATION_ROUTES = [route for route in ROUTES if route.path == "/api/admin/invitations/{id}"]
JOB_ROUTES = [route for route in ROUTES if route.path.startswith("/api/admin/jobs/{id}")]
NOTIFICATION_ROUTES = [route for route in ROUTES if "{notificationId}" in route.path]
COMMENT_ROUTES = [route for route in ROUTES if route.path == "/api/comments/{id}"]
SESSION_ROUTES = [route for route in ROUTES if "{sessionId}" in route.path]
PASSKEY_ROUTES = [route for route in ROUTES if "{passkeyId}" in route.path]
"""Routes of the caller's passkeys: test_passkeys.py asks for those of another account."""
CASE_ROUTES = [route for route in ROUTES if route.path.startswith("/api/admin/reports/{id}")]
BLOCK_ROUTES = [route for route in ROUTES if route.path.startswith("/api/admin/blocks/{id}")]
EXCLUSION_ROUTES = [route for route in ROUTES if route.path.startswith("/api/admin/explore/{id}")]
TEXT_ROUTES = [route for route in ROUTES if route.path == "/api/admin/texts/{name}"]
OF_ADMINS = {"report": CASE_ROUTES, "block": BLOCK_ROUTES, "exclusion": EXCLUSION_ROUTES, "text": TEXT_ROUTES}
NAME_ROUTES = [route for route in ROUTES if "{username}" in route.path and route not in OWNED_ROUTES]


def path_of(route: Route[Caller], part: str) -> str:
    """The route's path with `part` in the place of its last parameter."""
    before, _, rest = route.path.rpartition("{")
    return before + part + rest.partition("}")[2]


def body_for(route: Route[Caller]) -> bytes:
    """The body that the reference shows for the route."""
    return msgspec.json.encode(route.example) if route.example else b""


class World:
    """Alice, who calls, and others with posts that she sees, saw, or never saw."""

    def __init__(self, server: LocalServer) -> None:
        for username in ("mira_press", "otto"):
            server.account(username)
        self.server = server
        self.alice, self.bob, self.carol = Actor(server).become_admin(), Actor(server), Actor(server)
        self.nobody = new_client(base_url=server.base_url)
        follow(self.alice, self.carol)
        self.hub, self.own_hub = self.make_hub(self.bob, "of-bob"), self.make_hub(self.alice, "of-alice")
        self.own_post = publish(self.alice, poll={"options": ["a", "b"]})["id"]
        self.own_comment = comment(self.alice, self.own_post)
        self.own_webhook, self.bobs_webhook = self.add_webhook(self.alice), self.add_webhook(self.bob)
        self.own_delivery, self.bobs_delivery = (self.send_test(self.alice), self.send_test(self.bob))
        self.own_notification, self.bobs_notification = self.notify(self.alice), self.notify(self.bob)
        clip = {"video": ("clip.mp4", CLIP, "video/mp4")}
        self.own_clip = body_of(self.alice.web.post("/api/clips", files=clip), 201)["id"]
        self.own_draft, self.bobs_draft = self.write(self.alice), self.write(self.bob)
        self.own_session = session_of(self.alice)
        self.invitation = body_of(self.alice.web.post("/api/admin/invitations", json={}), 201)["id"]
        reported = {"type": "account", "id": self.carol.account.id, "reason": "Look at it."}
        body_of(self.bob.web.post("/api/reports", json=reported), 202)
        self.case = body_of(self.alice.web.get("/api/admin/reports"))["reports"][0]["id"]
        self.unseen = {kind: find(self) for kind, find in UNSEEN.items()}

    def close(self) -> None:
        """Everybody hangs up."""
        for client in (*self.alice.clients(), *self.bob.clients(), *self.carol.clients(), self.nobody):
            client.close()

    def make_hub(self, owner: Actor, slug: str) -> str:
        """A new hub's id."""
        hub_id: str = body_of(owner.web.post("/api/hubs", json={"name": slug, "slug": slug}), 201)["id"]
        return hub_id

    def add_webhook(self, owner: Actor) -> str:
        """A new endpoint's id."""
        path, body = f"/api/auth/api-keys/{owner.record.id}/webhooks", {"url": PUBLIC, "events": ["post.created"]}
        return str(body_of(owner.web.post(path, json=body), 201)["id"])

    def send_test(self, owner: Actor) -> str:
        """The id of a new delivery to an endpoint."""
        webhook_id = self.own_webhook if owner is self.alice else self.bobs_webhook
        path = f"/api/auth/api-keys/{owner.record.id}/webhooks/{webhook_id}/test"
        return str(body_of(owner.web.post(path), 202)["id"])

    def write(self, owner: Actor) -> str:
        """The id of a new draft, made by key."""
        return str(body_of(owner.api.post("/api/drafts", json={"content": "Not yet"}), 201)["id"])

    def notify(self, owner: Actor) -> str:
        """The id of a new notification of somebody."""
        publish(self.carol, f"@{owner.account.username}")
        return str(body_of(owner.web.get("/api/notifications"))["notifications"][0]["id"])

    def path(self, route: Route[Caller], part: str) -> str:
        """The route's path with `part` in the place of its last parameter, below alice's key if it is below one."""
        return path_of(route, part).replace("{keyId}", self.alice.record.id).replace("{webhookId}", self.own_webhook)

    def right(self, route: Route[Caller]) -> str:
        """What stands in the route's path when alice's call succeeds."""
        if route in DELIVERY_ROUTES:
            return self.own_delivery
        if route in WEBHOOK_ROUTES:
            return self.own_webhook
        if route in POST_ROUTES:
            return self.own_post
        if route in HUB_ROUTES:
            return self.own_hub
        if route in NOTIFICATION_ROUTES:
            return self.own_notification
        if route in CLIP_ROUTES:
            return self.own_clip
        if route in DRAFT_ROUTES:
            return self.own_draft
        if route in COMMENT_ROUTES:
            return self.own_comment
        if route in SESSION_ROUTES:
            return self.own_session
        if route in CASE_ROUTES:
            return self.case
        if route in INVITATION_ROUTES:
            return self.invitation
        return self.bob.account.username if route in NAME_ROUTES else self.alice.record.id

    def callers(self, route: Route[Caller]) -> list[httpx.Client]:
        """Everybody as whom somebody other than an author may call the route."""
        match route.access:
            case Keyed(anyone=True):
                return [self.nobody, self.alice.api, self.alice.web]
            case Keyed():
                return [self.alice.api, self.alice.web]
            case Anyone():
                return [self.nobody, self.alice.web]
            case _:
                return [self.alice.web]

    def answers(self, route: Route[Caller], part: str) -> list[httpx.Response]:
        """The answers to each of them, none of which may have written anything."""
        before = held(self.server)
        headers = {"Idempotency-Key": "again", "Content-Type": "application/json"}
        answers = [
            caller.request(route.method, self.path(route, part), content=body_for(route), headers=headers)
            for caller in self.callers(route)
        ]
        assert held(self.server) == before
        return answers

    def sent(self, route: Route[Caller], part: str) -> Reply:
        """What alice is answered to a path that no client would send."""
        body = body_for(route)
        lines = [self.alice.bearer if isinstance(route.access, Keyed) else f"Cookie: {self.alice.cookie}"]
        if route.takes is not None:
            lines.append(f"Content-Length: {len(body)}")
        return exchange(self.server, route.method, self.path(route, part), *lines, body=body)


def session_of(actor: Actor) -> str:
    """The id of the session that the actor is signed in with."""
    return str(body_of(actor.web.get("/api/auth/sessions"))["sessions"][0]["id"])


def deleted(actor: Actor, **fields: Any) -> str:
    """The id of a post that stands no more."""
    post_id: str = publish(actor, **fields)["id"]
    body_of(actor.api.delete(f"/api/posts/{post_id}"))
    return post_id


def listed_once(world: World) -> str:
    """The id of a post whose allowlist alice was on, and is no longer."""
    post_id: str = publish(world.bob, visibility="CUSTOM")["id"]
    for usernames in ([world.alice.account.username], []):
        body_of(world.bob.web.put(f"/api/posts/{post_id}/audience", json={"usernames": usernames}))
    return post_id


def followed_once(world: World) -> str:
    """The id of a post that alice saw while she followed its author."""
    post_id: str = publish(world.bob, visibility="FOLLOWERS")["id"]
    follow(world.alice, world.bob)
    body_of(world.alice.web.get(f"/api/posts/{post_id}"))
    body_of(world.alice.web.delete(f"/api/accounts/{world.bob.account.username}/follow"))
    return post_id


UNSEEN: dict[str, Callable[[World], str]] = {
    "absent": lambda world: new_id(world.server.clock.now()),
    "deleted": lambda world: deleted(world.bob),
    "deleted by herself": lambda world: deleted(world.alice),
    "deleted and private": lambda world: deleted(world.bob, visibility="PRIVATE"),
    "for followers": lambda world: publish(world.bob, visibility="FOLLOWERS")["id"],
    "for followers, she was one": followed_once,
    "for connections, not followed back": lambda world: publish(world.carol, visibility="CONNECTIONS")["id"],
    "private": lambda world: publish(world.carol, visibility="PRIVATE")["id"],
    "custom, without a list": lambda world: publish(world.carol, visibility="CUSTOM")["id"],
    "custom, struck off the list": listed_once,
    "private, with a poll": lambda world: publish(
        world.bob, visibility="PRIVATE", poll={"options": ["a", "b"], "multiple": True}
    )["id"],
    "no post but a hub": lambda world: world.hub,
    "no post but her own account": lambda world: world.alice.account.id,
    "no post but her own key": lambda world: world.alice.record.id,
}


@pytest.fixture(scope="module")
def world(server: LocalServer) -> Iterator[World]:
    """The same for all tests."""
    world = World(server)
    yield world
    world.close()


def test_no_route_is_forgotten() -> None:
    assert {route.name for route in ROUTES} == {
        route.name
        for group in (
            POST_ROUTES,
            HUB_ROUTES,
            KEY_ROUTES,
            OWN_KEY_ROUTES,
            WEBHOOK_ROUTES,
            DELIVERY_ROUTES,
            NAME_ROUTES,
            CLIP_ROUTES,
            DRAFT_ROUTES,
            JOB_ROUTES,
            INVITATION_ROUTES,
            NOTIFICATION_ROUTES,
            COMMENT_ROUTES,
            SESSION_ROUTES,
            PASSKEY_ROUTES,
            CASE_ROUTES,
            BLOCK_ROUTES,
            EXCLUSION_ROUTES,
            TEXT_ROUTES,
            OWNED_ROUTES,
        )
        for route in group
    }


@pytest.mark.parametrize("route", POST_ROUTES, ids=lambda route: route.name)
def test_own_post_is_accepted_by_every_route(world: World, route: Route[Caller]) -> None:
    for caller in world.callers(route)[-1:]:
        post = publish(world.alice, poll={"options": ["a", "b"]})
        answer = caller.request(route.method, path_of(route, post["id"]), content=body_for(route))
        assert answer.status_code == route.status, answer.text


@pytest.mark.parametrize("kind", UNSEEN)
def test_a_post_that_is_not_to_be_seen_is_one_that_never_was(world: World, kind: str) -> None:
    for route in POST_ROUTES:
        absent = world.answers(route, world.unseen["absent"])
        answers = world.answers(route, world.unseen[kind])

        assert [(answer.status_code, answer.json()) for answer in answers] == [(404, NO_POST)] * len(answers), route
        assert [answer.content for answer in answers] == [answer.content for answer in absent]
        assert [sorted(answer.headers) for answer in answers] == [sorted(answer.headers) for answer in absent]


@pytest.mark.parametrize("route", POST_ROUTES, ids=lambda route: route.name)
def test_somebody_else_s_post_is_not_to_be_changed(world: World, route: Route[Caller]) -> None:
    post = publish(world.bob, poll={"options": ["a", "b"]})
    if route.name in OF_THE_AUTHOR:
        answers = world.answers(route, post["id"])
        assert [(answer.status_code, answer.json()) for answer in answers] == [(404, NO_POST)] * len(answers)
    else:
        answer = world.callers(route)[-1].request(route.method, path_of(route, post["id"]), content=body_for(route))
        assert answer.status_code == route.status, answer.text


def test_bounce_of_a_deleted_post_cannot_be_bounced(world: World) -> None:
    post = publish(world.bob)
    plain = body_of(world.carol.api.post(f"/api/posts/{post['id']}/bounce"), 201)
    body_of(world.bob.api.delete(f"/api/posts/{post['id']}"))
    before = held(world.server)

    for body in ({}, {"content": "a quote"}):
        assert body_of(world.alice.api.post(f"/api/posts/{plain['id']}/bounce", json=body), 404) == NO_POST

    assert held(world.server) == before
    assert body_of(world.nobody.get(f"/api/posts/{plain['id']}"))["originalPost"] is None


@pytest.mark.parametrize("route", HUB_ROUTES, ids=lambda route: route.name)
def test_unknown_hub_is_404(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], world.unseen["deleted"], "of-bob", world.alice.account.id):
        assert [answer.json() for answer in world.answers(route, other)] == [NO_HUB] * len(world.callers(route))

    joined = world.make_hub(world.bob, route.name.replace("_", "-"))
    assert world.callers(route)[-1].request(route.method, path_of(route, joined)).status_code == 200


@pytest.mark.parametrize("route", KEY_ROUTES + OWN_KEY_ROUTES, ids=lambda route: route.name)
def test_somebody_else_s_key_is_one_that_never_was(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], world.bob.record.id, world.bob.key[:15], world.alice.account.id):
        assert [answer.json() for answer in world.answers(route, other)] == [NO_KEY]

    if route in KEY_ROUTES and route.name not in ("show_usage", "edit_key"):
        own = (somebody := Actor(world.server)).web.request(route.method, path_of(route, somebody.record.id))
        assert body_of(own)["id"] == somebody.record.id


@pytest.mark.parametrize("route", WEBHOOK_ROUTES, ids=lambda route: route.name)
def test_somebody_else_s_webhook_is_one_that_never_was(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], world.bobs_webhook, world.alice.record.id, world.alice.account.id):
        assert [answer.json() for answer in world.answers(route, other)] == [NO_WEBHOOK]
    webhook_id = world.add_webhook(world.alice)
    body = body_for(route).replace(b"https://hooks.example.org/pressroom", PUBLIC.encode())
    own = world.alice.web.request(route.method, world.path(route, webhook_id), content=body)
    assert own.status_code == route.status, own.text
    left = own.json()["id"] if route.name == "replace_webhook" else webhook_id
    world.alice.web.delete(f"/api/auth/api-keys/{world.alice.record.id}/webhooks/{left}")


@pytest.mark.parametrize("route", DELIVERY_ROUTES, ids=lambda route: route.name)
def test_somebody_else_s_delivery_is_one_that_never_was(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], world.bobs_delivery, world.own_webhook, world.own_delivery.upper()):
        assert [answer.json() for answer in world.answers(route, other)] == [NO_DELIVERY]
    own = world.alice.web.request(route.method, world.path(route, world.own_delivery))
    assert own.status_code == route.status, own.text


@pytest.mark.parametrize("route", JOB_ROUTES, ids=lambda route: route.name)
def test_unknown_dead_job_is_404(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], world.alice.account.id):
        assert [answer.json() for answer in world.answers(route, other)] == [NO_JOB]


@pytest.mark.parametrize("route", NOTIFICATION_ROUTES, ids=lambda route: route.name)
def test_somebody_else_s_notification_is_one_that_never_was(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], world.bobs_notification, world.own_notification.lower()):
        assert [answer.json() for answer in world.answers(route, other)] == [NO_NOTIFICATION]
    own = world.alice.web.request(route.method, world.path(route, world.own_notification))
    assert own.status_code == route.status, own.text


@pytest.mark.parametrize("route", DRAFT_ROUTES, ids=lambda route: route.name)
def test_somebody_else_s_draft_is_one_that_never_was(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], world.bobs_draft, world.own_draft.lower(), world.own_post):
        answers = [answer.json() for answer in world.answers(route, other)]
        assert answers == [NO_DRAFT] * len(world.callers(route))
    own = world.alice.api.request(route.method, path_of(route, world.write(world.alice)), content=body_for(route))
    assert own.status_code == route.status, own.text


@pytest.mark.parametrize("route", SESSION_ROUTES, ids=lambda route: route.name)
def test_somebody_else_s_session_is_one_that_never_was(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], session_of(world.bob), world.alice.account.id):
        assert [answer.json() for answer in world.answers(route, other)] == [NO_SESSION]


@pytest.mark.parametrize(
    "route", [route for group in OF_ADMINS.values() for route in group], ids=lambda route: route.name
)
def test_unknown_report_block_exclusion_or_text_is_404(world: World, route: Route[Caller]) -> None:
    (what,) = (what for what, group in OF_ADMINS.items() if route in group)
    for other in (world.unseen["absent"], world.alice.account.id):
        answers = [answer.json() for answer in world.answers(route, other)]
        assert answers == [{"error": "Not found", "message": f"There is no such {what}."}]


@pytest.mark.parametrize("route", INVITATION_ROUTES, ids=lambda route: route.name)
def test_unknown_invitation_is_404(world: World, route: Route[Caller]) -> None:
    for other in (world.unseen["absent"], world.alice.account.id, world.invitation.lower()):
        assert [answer.json() for answer in world.answers(route, other)] == [NO_INVITATION]


@pytest.mark.parametrize("route", NAME_ROUTES, ids=lambda route: route.name)
def test_unknown_account_is_404(world: World, route: Route[Caller]) -> None:
    for other in ("nobody_at_all", world.bob.account.id, "@" + world.bob.account.username, "bob@example.org"):
        answers = [answer.json() for answer in world.answers(route, other)]
        assert answers == [{"error": "Not found", "message": f"There is no account {other}."}]


@pytest.mark.parametrize("malformed", MALFORMED.values(), ids=MALFORMED)
def test_invalid_id_is_404(world: World, malformed: Callable[[str], str]) -> None:
    before = held(world.server)
    parts = [(route, world.right(route), malformed(world.right(route))) for route in ROUTES]

    answers = {route.name: refusal_of(world.sent(route, part)) for route, right, part in parts if part != right}

    assert answers == dict.fromkeys(answers, (404, "Not found"))
    assert held(world.server) == before


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_bytes_that_belong_in_no_address(world: World, route: Route[Caller]) -> None:
    before = held(world.server)

    for part in ("caf\xe9", "\xff\xfe", "\xed\xa0\x80", "\xf0\x9f\xa6\x8a", "a\x7fb", "<script>", '"', "{id}", "^`|"):
        assert world.sent(route, part).status in (400, 404), part

    assert held(world.server) == before


def refusal_of(reply: Reply) -> tuple[int, str]:
    """Status and label of an answer that refuses."""
    return reply.status, reply.json()["error"]


def into_hub(world: World, hub_id: object, key: str = "again") -> httpx.Response:
    """Alice publishes into a hub."""
    return world.alice.api.post("/api/posts", json={"content": "a", "hubId": hub_id}, headers={"Idempotency-Key": key})


def reply_to(world: World, post_id: str, parent_id: object, key: str = "again") -> httpx.Response:
    """Alice replies to a comment."""
    return world.alice.api.post(
        f"/api/posts/{post_id}/comments",
        json={"content": "a", "parentId": parent_id},
        headers={"Idempotency-Key": key},
    )


def comment(actor: Actor, post_id: str) -> str:
    """The id of a new comment."""
    comment_id: str = body_of(actor.api.post(f"/api/posts/{post_id}/comments", json={"content": "a"}), 201)["id"]
    return comment_id


def test_a_hub_without_her_is_to_alice_as_none(world: World) -> None:
    left = world.make_hub(world.bob, "alice-left")
    for method in ("POST", "DELETE"):
        body_of(world.alice.web.request(method, f"/api/hubs/{left}/membership"))
    absent, before = into_hub(world, world.unseen["absent"]), held(world.server)

    for hub_id in (left, world.hub, "of-bob", world.unseen["deleted"], world.alice.account.id):
        answer = into_hub(world, hub_id)
        assert objections(answer) == [("hubId", "not_allowed")]
        assert answer.content == absent.content

    assert held(world.server) == before


@pytest.mark.parametrize("string", STRINGS.values(), ids=STRINGS)
def test_a_string_that_names_no_hub(world: World, string: Callable[[str], str]) -> None:
    absent, before = into_hub(world, world.unseen["absent"]), held(world.server)

    answer = into_hub(world, string(world.own_hub))

    assert objections(answer) == [("hubId", "not_allowed")]
    assert answer.content == absent.content
    assert held(world.server) == before


def test_a_parent_that_stands_elsewhere_is_as_none(world: World) -> None:
    here, elsewhere, gone, hidden = (publish(world.bob)["id"] for _ in range(4))
    elsewhere_said, gone_said, hidden_said = (comment(world.alice, post_id) for post_id in (elsewhere, gone, hidden))
    body_of(world.bob.api.delete(f"/api/posts/{gone}"))
    body_of(world.bob.api.patch(f"/api/posts/{hidden}", json={"visibility": "PRIVATE"}))
    absent, before = reply_to(world, here, world.unseen["absent"]), held(world.server)

    for parent_id in (elsewhere_said, gone_said, hidden_said, here, elsewhere, world.alice.account.id):
        answer = reply_to(world, here, parent_id)
        assert objections(answer) == [("parentId", "not_allowed")]
        assert answer.content == absent.content
    for post_id, parent_id in ((gone, gone_said), (hidden, hidden_said), (gone, "x"), (hidden, "x")):
        assert body_of(reply_to(world, post_id, parent_id), 404) == NO_POST

    assert held(world.server) == before


@pytest.mark.parametrize("string", STRINGS.values(), ids=STRINGS)
def test_a_string_that_names_no_comment(world: World, string: Callable[[str], str]) -> None:
    post_id = world.right(POST_ROUTES[0])
    absent, before = reply_to(world, post_id, world.unseen["absent"]), held(world.server)

    answer = reply_to(world, post_id, string(world.own_comment))

    assert objections(answer) == [("parentId", "not_allowed")]
    assert answer.content == absent.content
    assert held(world.server) == before


def test_the_ids_that_these_are_near_to_are_right(world: World) -> None:
    post_id = world.right(POST_ROUTES[0])

    assert body_of(into_hub(world, world.own_hub, "right"), 201)["hub"]["id"] == world.own_hub
    assert body_of(reply_to(world, post_id, world.own_comment, "right"), 201)["parentId"] == world.own_comment
    for route in ROUTES:
        if route.method == "GET":
            assert world.sent(route, world.right(route)).status == 200


@one_engine
@pytest.mark.parametrize("code", ["\0", "A\0B"])
def test_nul_in_an_id_is_a_fault_of_the_body(world: World, code: str) -> None:
    before = held(world.server)

    assert field_errors(into_hub(world, code)) == [("hubId", "invalid_format")]
    assert field_errors(reply_to(world, world.right(POST_ROUTES[0]), code)) == [("parentId", "invalid_format")]

    assert held(world.server) == before
