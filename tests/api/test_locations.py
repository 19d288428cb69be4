"""Every 201 names the address of the created resource, and there it is."""

import httpx
import pytest

from pressroom.server.routes import API_ROUTES
from tests.api.actors import Actor, body_of, new_client
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.harness.writes import SETTINGS as TAKING
from tests.harness.writes import WRITES, People

SETTINGS = {**ROOMY, **TAKING}
CREATING = [
    *("create_post", "bounce_post", "create_comment", "create_key", "create_webhook", "replace_webhook", "create_hub"),
]
ELSEWHERE = [
    "upload_post",
    "publish_clip",
    "sign_up",
    "set_up",
    "make_invitation",
    "create_block",
    "exclude_from_explore",
    "create_draft",
]
WITHOUT = ["upload_draft_media", "add_passkey"]
"""Routes that make something without an address of its own."""


def test_every_route_that_makes_something_names_its_place() -> None:
    assert {route.name for route in API_ROUTES if route.status == 201} == {*CREATING, *ELSEWHERE, *WITHOUT}
    assert {route.name for route in API_ROUTES if route.location} == {*CREATING, *ELSEWHERE}


@pytest.mark.parametrize("name", CREATING)
def test_location_leads_to_the_created_resource(actor: MakeActor, name: str) -> None:
    alice, bob = actor(), actor()
    write = WRITES[name](People(alice.web, bob.web))

    answer = alice.web.request(write.method, write.path, json=write.body)

    assert answer.status_code == 201
    place = answer.headers["Location"]
    assert place.startswith(f"{alice.server.base_url}/api/")
    found = body_of(alice.web.get(place))
    if name == "create_comment":  # A comment has no address of its own: it stands in the post's list.
        found = found["comments"][-1]
    assert found["id"] == answer.json()["id"]


def test_an_account_is_at_its_place(alice: Actor) -> None:
    body = {"username": "dora", "email": "dora@example.org", "password": "correct horse"}
    answer = httpx.post(f"{alice.server.base_url}/api/auth/signup", json=body)

    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    with new_client(headers={"Cookie": cookie}) as dora:
        assert body_of(dora.get(answer.headers["Location"]))["id"] == answer.json()["id"]


def test_changes_have_no_location(alice: Actor) -> None:
    post = body_of(alice.web.post("/api/posts", json={"content": "Hello"}), 201)["id"]

    for answer in (
        alice.web.patch(f"/api/posts/{post}", json={"content": "Hi"}),
        alice.web.post(f"/api/posts/{post}/like"),
        alice.web.post("/api/posts", json={}),
    ):
        assert "Location" not in answer.headers
