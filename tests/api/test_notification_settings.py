"""An account chooses for each type of notification whether it is listed, mailed as well, or not written at all."""

import pytest

from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.notifications.schemas import EditNotificationSettings, NotificationSettings
from tests.api.actors import Actor, Json, body_of, field_errors, follow, nobody, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
PATH = "/api/notifications/settings"
USUAL = {
    each.value: "mail" if each in ("webhook.disabled", "key.revoked", "key.expiring", "draft.refused") else "app"
    for each in NotificationType
}


def change(who: Actor, **ways: str) -> Json:
    return body_of(who.web.patch(PATH, json={name.replace("_", "."): way for name, way in ways.items()}))


def types(who: Actor) -> list[str]:
    """The types of the account's notifications, newest first."""
    return [each["type"] for each in body_of(who.web.get("/api/notifications?limit=100"))["notifications"]]


def test_both_shapes_have_every_type() -> None:
    for shape in (NotificationSettings, EditNotificationSettings):
        assert list(shape.__struct_encode_fields__) == [each.value for each in NotificationType]


def test_usual_settings(alice: Actor) -> None:
    assert body_of(alice.web.get(PATH)) == USUAL


def test_change_keeps_types_that_are_not_given(alice: Actor) -> None:
    assert change(alice, like="off", follow_requested="mail") == {**USUAL, "like": "off", "follow.requested": "mail"}
    changed = {**USUAL, "like": "app", "follow.requested": "mail", "key.revoked": "app"}
    assert change(alice, like="app", key_revoked="app") == changed
    assert body_of(alice.web.get(PATH)) == changed
    assert change(alice, key_revoked="mail", follow_requested="app") == USUAL


def test_settings_are_of_one_account(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    change(alice, like="off")

    assert body_of(bob.web.get(PATH)) == USUAL


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, [("body", "required")]),
        ({"like": None}, [("body", "required")]),
        ({"likes": "off"}, [("likes", "unknown_field"), ("body", "required")]),
        ({"like": "sms", "follow.requested": 1}, [("like", "invalid_choice"), ("follow.requested", "type")]),
        ({"follow": {"requested": "off"}}, [("follow", "type")]),
    ],
)
def test_bad_change_is_refused_with_details(alice: Actor, body: Json, errors: list[tuple[str, str]]) -> None:
    assert field_errors(alice.web.patch(PATH, json=body)) == errors
    assert body_of(alice.web.get(PATH)) == USUAL


def test_settings_need_a_session(alice: Actor) -> None:
    for method in ("GET", "PATCH"):
        body = {"like": "off"} if method == "PATCH" else None
        assert refusal(alice.api.request(method, PATH, json=body)) == (403, "Session required")
        assert refusal(nobody.request(method, f"{alice.server.base_url}{PATH}", json=body)) == (401, "Not signed in")


def test_type_that_is_off_is_not_written(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    change(alice, follow="off", comment="off", mention="off", like="off", bounce="off", quote="off")
    post = publish(alice)

    follow(bob, alice)
    publish(bob, f"Ask @{alice.account.username}.")
    body_of(bob.api.post(f"/api/posts/{post['id']}/comments", json={"content": "No"}), 201)
    body_of(bob.web.post(f"/api/posts/{post['id']}/like"))
    body_of(bob.api.post(f"/api/posts/{post['id']}/bounce"), 201)
    body_of(bob.api.post(f"/api/posts/{post['id']}/bounce", json={"content": "No"}), 201)
    assert types(alice) == []

    change(alice, comment="app", mention="mail")
    body_of(bob.api.post(f"/api/posts/{post['id']}/comments", json={"content": "Yes"}), 201)
    publish(bob, f"Ask @{alice.account.username} again.")
    assert types(alice) == ["mention", "comment"]


def test_type_turned_off_keeps_earlier_notifications(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    body_of(bob.web.post(f"/api/posts/{post['id']}/like"))

    change(alice, like="off")
    body_of(carol.web.post(f"/api/posts/{post['id']}/like"))

    (told,) = body_of(alice.web.get("/api/notifications"))["notifications"]
    assert (told["actor"]["username"], told["others"]) == (bob.account.username, 1)
