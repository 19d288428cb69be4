"""E-mail addresses and domains that nobody can sign up with."""

import httpx
import pytest

from pressroom.domains.accounts import blocks
from tests.api.actors import Actor, Json, body_of, field_errors, nobody, objections, refusal
from tests.api.conftest import MakeActor
from tests.api.people import PASSWORD, new_address, next_number
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page

SETTINGS = {**ROOMY, "SIGNUP": "open", "TRUSTED_PROXIES": "127.0.0.0/8"}


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    """Somebody with the rights of an admin."""
    return actor().become_admin()


def block(admin: Actor, text: str) -> Json:
    body = {"pattern": text, "reason": "Nothing but spam came from there."}
    return body_of(admin.web.post("/api/admin/blocks", json=body), 201)


def sign_up(server: LocalServer, email: str, address: str | None = None) -> httpx.Response:
    body = {"username": f"blocked{next_number()}", "email": email, "password": PASSWORD}
    headers = {"X-Forwarded-For": address or new_address()}
    return nobody.post(f"{server.base_url}/api/auth/signup", json=body, headers=headers)


@pytest.mark.parametrize(
    ("blocked", "email"),
    [
        ("spam.example", "ada@spam.example"),
        ("@Spam2.Example", "ada@SPAM2.example"),
        ("spam3.example", "ada@mail.de.spam3.example"),
        ("grace@press.example", "Grace@Press.example"),
        ("bücher.example", "ada@xn--bcher-kva.example"),
        ("xn--mnchen-3ya.example", "ada@münchen.example"),
    ],
)
def test_blocked_address_is_refused(server: LocalServer, admin: Actor, blocked: str, email: str) -> None:
    block(admin, blocked)

    assert objections(sign_up(server, email)) == [("email", "not_allowed")]


@pytest.mark.parametrize(
    ("blocked", "inside", "outside"),
    [
        ("203.0.113.0/24", "203.0.113.200", "203.0.114.1"),
        ("198.51.100.77/16", "198.51.7.7", "198.52.0.1"),
        ("192.0.2.9", "192.0.2.9", "192.0.2.8"),
        ("2001:db8:7::/48", "2001:db8:7:9::1", "2001:db8:8::1"),
        ("2001:db8:5:6::1", "2001:db8:5:6::2", "2001:db8:5:7::1"),
    ],
)
def test_client_in_a_blocked_network_cannot_sign_up(
    server: LocalServer, admin: Actor, blocked: str, inside: str, outside: str
) -> None:
    block(admin, blocked)

    assert objections(sign_up(server, f"ada{next_number()}@example.org", inside)) == [("body", "not_allowed")]
    assert sign_up(server, f"ada{next_number()}@example.org", outside).status_code == 201


@pytest.mark.parametrize("email", ["ada@notspam4.example", "ada@spam4.example.org", "spam4.example@press2.example"])
def test_nothing_beside_it_is_refused(server: LocalServer, admin: Actor, email: str) -> None:
    for text in ("spam4.example", "bob@press2.example"):
        answer = admin.web.post("/api/admin/blocks", json={"pattern": text, "reason": "x"})
        assert answer.status_code in (201, 409), answer.text

    assert sign_up(server, email).status_code == 201


def test_a_block_is_taken_off(server: LocalServer, admin: Actor) -> None:
    block_id = block(admin, "spam5.example")["id"]
    assert objections(sign_up(server, "ada@spam5.example")) == [("email", "not_allowed")]

    said = body_of(admin.web.delete(f"/api/admin/blocks/{block_id}"))["message"]
    assert "spam5.example" in said
    assert refusal(admin.web.delete(f"/api/admin/blocks/{block_id}")) == (404, "Not found")

    assert sign_up(server, "ada@spam5.example").status_code == 201


@pytest.mark.parametrize("text", ["10.0.0.0/7", "0.0.0.0/0", "::/0", "2001:db8::/15"])
def test_network_too_large_is_refused(text: str) -> None:
    assert blocks.pattern_of(text) is None


@pytest.mark.parametrize("text", ["", "@", "a b@example.org", "exa mple", "-@-@", "x" * 400, "example..org", "a@b@"])
def test_pattern_neither_address_nor_domain_is_refused(text: str) -> None:
    assert blocks.pattern_of(text) is None


def test_bad_blocks_name_every_fault(admin: Actor) -> None:
    answer = admin.web.post("/api/admin/blocks", json={"pattern": "exa mple", "reason": "x" * 501})
    assert sorted(field_errors(answer)) == [("pattern", "invalid_format"), ("reason", "too_long")]


def test_a_repeated_block_is_one(admin: Actor) -> None:
    once, body = {"Idempotency-Key": "once"}, {"pattern": "spam6.example", "reason": "Once."}
    first = admin.web.post("/api/admin/blocks", json=body, headers=once)
    again = admin.web.post("/api/admin/blocks", json=body, headers=once)
    path = f"/api/admin/blocks/{first.json()['id']}"

    assert (first.status_code, again.status_code, again.json()) == (201, 200, first.json())
    assert refusal(admin.web.post("/api/admin/blocks", json=body)) == (409, "Conflict")
    gone = [admin.web.delete(path, headers=once) for _ in range(2)]
    assert [answer.status_code for answer in gone] == [200, 200]


def test_change_to_a_blocked_address_is_refused(actor: MakeActor, admin: Actor) -> None:
    block(admin, "spam8.example")
    alice = actor()

    answer = alice.web.post("/api/auth/email", json={"email": "alice@spam8.example"})

    assert objections(answer) == [("email", "not_allowed")]
    assert body_of(alice.web.get("/api/auth/me"))["email"] == alice.account.email


def test_log_names_the_blocked_pattern(admin: Actor) -> None:
    made = block(admin, "spam9.example")
    body_of(admin.web.delete(f"/api/admin/blocks/{made['id']}"))

    lines = [" ".join(row.text().split()) for row in Page(admin.web.get("/admin/log").text).tree.css("tbody tr")]
    assert len([line for line in lines if " spam9.example " in line]) == 2, lines
