"""An empty body is no body, whatever type it claims to be: `curl -d ''` says application/x-www-form-urlencoded."""

import pytest

from tests.api.actors import Actor, body_of, publish, refusal
from tests.api.conftest import MakeActor
from tests.api.sockets import exchange
from tests.harness.roomy import ROOMY
from tests.harness.writes import SETTINGS as TAKING
from tests.harness.writes import WRITES, People

SETTINGS = {**ROOMY, **TAKING}
KINDS = (
    *("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "application/json"),
    *("application/octet-stream", "nonsense", ""),
)
WITHOUT_BODY = [
    *("bounce_post", "delete_post", "like_post", "unlike_post", "save_post", "unsave_post", "revoke_key"),
    *("remove_webhook", "send_test", "rotate_webhook", "join_hub", "leave_hub", "follow", "unfollow"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_bounce_with_an_empty_body_is_a_plain_bounce(alice: Actor, kind: str) -> None:
    post = publish(alice)

    answer = alice.api.post(f"/api/posts/{post['id']}/bounce", content=b"", headers={"Content-Type": kind})

    assert body_of(answer, 201)["type"] == "SHARE"


@pytest.mark.parametrize("lines", [("Transfer-Encoding: chunked",), ("Content-Length: 0",), ()], ids=str)
def test_an_empty_body_may_come_in_no_chunk_at_all(alice: Actor, lines: tuple[str, ...]) -> None:
    post = publish(alice)
    head = (alice.bearer, "Content-Type: text/plain", "Content-Encoding: gzip", *lines)

    body = b"0\r\n\r\n" if "Transfer-Encoding: chunked" in lines else b""
    reply = exchange(alice.server, "POST", f"/api/posts/{post['id']}/bounce", *head, body=body)

    assert (reply.status, reply.json()["type"]) == (201, "SHARE")


@pytest.mark.parametrize("lines", [("Transfer-Encoding: chunked",), ("Content-Length: 1",)], ids=str)
def test_a_body_that_is_not_empty_needs_its_type(alice: Actor, lines: tuple[str, ...]) -> None:
    post = publish(alice)
    body = b"1\r\nx\r\n0\r\n\r\n" if "Transfer-Encoding: chunked" in lines else b"x"

    head = (alice.bearer, "Content-Type: text/plain", *lines)
    reply = exchange(alice.server, "POST", f"/api/posts/{post['id']}/bounce", *head, body=body)

    assert (reply.status, reply.json()["error"]) == (415, "Unsupported media type")


@pytest.mark.parametrize("name", WITHOUT_BODY)
def test_no_route_that_needs_no_body_minds_an_empty_one(actor: MakeActor, name: str) -> None:
    alice, bob = actor(), actor()
    write = WRITES[name](People(alice.web, bob.web))

    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = alice.web.request(write.method, write.path, content=b"", headers=headers)

    assert answer.status_code == write.status, answer.text


def test_where_a_body_is_needed_an_empty_one_of_another_type_is_refused(alice: Actor) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}

    assert refusal(alice.api.post("/api/posts", content=b"", headers=headers)) == (415, "Unsupported media type")
