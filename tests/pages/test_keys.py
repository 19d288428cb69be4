"""The pages on which an account's keys are listed, made, watched, replaced and revoked; without script."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom.clock import DAY, MINUTE
from pressroom.db import Command, Query
from pressroom.domains.keys.models import Scope
from pressroom.domains.sign_in.sessions import begin_session
from tests.api.actors import Actor, body_of, new_client, nobody, rows
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.services import redis
from tests.services.process import wait_until

KEYS = "/settings/keys"
SETTINGS = {"REQUESTS_PER_MINUTE": 20}
STORED = Query(str, "SELECT body FROM idempotent_answers")
RELABEL = Command("UPDATE api_keys SET label = :label WHERE id = :id")
KEY = re.compile(r"svc_live_[0-9A-Za-z]{38}")


@pytest.fixture
def newcomer(server: LocalServer) -> Iterator[httpx.Client]:
    """Somebody signed in who has no key yet."""
    account = server.account()
    token = server.run(server.runtime.db.transact(begin_session, account.id))
    with new_client(base_url=server.base_url, headers={"Cookie": f"session={token}"}) as client:
        yield client


def page(who: httpx.Client, path: str = KEYS, status: int = 200) -> LexborHTMLParser:
    """A page, which may not be stored."""
    answer = who.get(path)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    return LexborHTMLParser(answer.text)


def said(tree: LexborHTMLParser | LexborNode, selector: str = "") -> str:
    """The words of a part of a page, or of a page's main part."""
    node = one(tree, selector or "main") if selector or isinstance(tree, LexborHTMLParser) else tree
    return " ".join(node.text(separator=" ").split())


def one(tree: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """The first part of a page that there must be."""
    node = tree.css_first(selector)
    assert node is not None
    return node


def filled(tree: LexborHTMLParser) -> dict[str, Any]:
    """The fields of the page's form as it stands."""
    form = one(tree, "main form")
    fields: dict[str, Any] = {}
    for node in form.css("input, textarea"):
        name, kind = str(node.attributes["name"]), node.attributes.get("type")
        if kind in ("checkbox", "radio"):
            if "checked" in node.attributes:
                fields.setdefault(name, []).append(node.attributes["value"])
        else:
            fields[name] = node.text() if node.tag == "textarea" else node.attributes.get("value") or ""
    return fields


def make(who: httpx.Client, path: str = f"{KEYS}/new", **changed: Any) -> httpx.Response:
    """Sends the form of a new key, with these fields changed."""
    return who.post(path, data={**filled(page(who, path)), "label": "Night desk", "scopes": "posts:write", **changed})


def keys_of(who: httpx.Client) -> list[dict[str, Any]]:
    return list(body_of(who.get("/api/auth/api-keys"))["apiKeys"])


def test_account_without_keys_reads_an_introduction(newcomer: httpx.Client) -> None:
    tree = page(newcomer)

    assert "No keys yet" in said(tree)
    assert "lets a program of yours act for this account" in said(tree)
    assert [link.attributes["href"] for link in tree.css("main a")] == [f"{KEYS}/new"]
    assert "of 5 active" not in said(tree)


def test_list_shows_the_state_of_each_key(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_WRITE, Scope.CLIPS_WRITE)
    clock = alice.server.clock
    body_of(alice.web.post("/api/auth/api-keys", json={"label": "<b>soon</b>", "scopes": ["bounces:write"]}), 201)
    soon = alice.web.post(
        "/api/auth/api-keys",
        json={"label": "soon over", "scopes": ["bounces:write"], "expiry": "2099-01-01T00:00:00Z"},
    ).json()
    short, _ = alice.server.key(alice.account, Scope.MEDIA_WRITE, expires_at=clock.now() + 7 * DAY)
    gone, _ = alice.server.key(alice.account, Scope.MEDIA_WRITE)
    body_of(alice.web.delete(f"/api/auth/api-keys/{gone.id}"))

    tree = page(alice.web)

    assert "4 of 5 active" in said(tree)
    cards = {one(card, "a").attributes["href"]: said(card) for card in tree.css("li.card")}
    assert len(cards) == 4
    own = cards[f"{KEYS}/{alice.record.id}"]
    assert "Active" in own
    assert f"{alice.record.key_prefix}…" in own
    assert "Publish and edit posts, Publish clips" in own
    assert "Last used never" in own
    assert [name for name, words in cards.items() if "Expires soon" in words] == [f"{KEYS}/{short.id}"]
    assert "Expires soon" not in cards[f"{KEYS}/{soon['id']}"]
    assert "<b>soon</b>" in said(tree), "as text"
    ended = one(tree, "table.rows tbody")
    assert [link.attributes["href"] for link in ended.css("a")] == [f"{KEYS}/{gone.id}"]
    assert "Revoked" in ended.text()

    clock.advance(7 * DAY)
    assert "3 of 5 active" in said(page(alice.web))
    assert "Expired" in said(page(alice.web), "table.rows tbody")


def test_ended_keys_come_in_pages(alice: Actor) -> None:
    for _ in range(23):
        alice.server.clock.advance(1)
        record, _key = alice.server.key(alice.account)
        body_of(alice.web.delete(f"/api/auth/api-keys/{record.id}"))

    first = page(alice.web)
    assert len(first.css("table.rows tbody tr")) == 20
    assert len(first.css("li.card")) == 1
    older = str(one(first, "a[rel=next]").attributes["href"])
    rest = page(alice.web, older)
    assert len(rest.css("table.rows tbody tr")) == 3
    assert rest.css_first("a[rel=next]") is None


def test_a_key_is_shown_once_and_made_once(server: LocalServer, newcomer: httpx.Client) -> None:
    tree = page(newcomer, f"{KEYS}/new")
    fields = filled(tree)
    assert "scopes" not in fields, "none is preset"
    assert fields["expiry"] == ["90d"]
    sent = {
        **fields,
        "label": "Night desk",
        "scopes": ["posts:write", "media:write"],
        "ipAllowlist": "127.0.0.1\n ::1 ",
    }

    answer = newcomer.post(f"{KEYS}/new", data=sent)

    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    key = KEY.findall(answer.text)[0]
    assert set(KEY.findall(answer.text)) == {key}
    shown = LexborHTMLParser(answer.text)
    command = one(shown, "pre code").text()
    assert command.startswith("curl -X POST")
    assert f'"Authorization: Bearer {key}"' in command
    assert command in [button.attributes["data-copy"] for button in shown.css("[data-copy]")]
    assert "Waiting for the first request" in answer.text
    (made,) = keys_of(newcomer)
    assert (made["label"], made["scopes"]) == ("Night desk", ["posts:write", "media:write"])
    assert made["ipAllowlist"] == ["127.0.0.1/32", "::1/128"]
    assert made["expiresAt"] is not None
    bearer = {"Authorization": f"Bearer {key}"}
    assert nobody.get(f"{newcomer.base_url}/api/auth/me", headers=bearer).status_code == 200
    assert key not in server.stream.getvalue(), "it is in no log"
    assert key[9:] not in "".join(rows(server, STORED)), "nor in a stored answer"

    again = newcomer.post(f"{KEYS}/new", data=sent)

    assert again.status_code == 200
    assert KEY.findall(again.text) == []
    assert "was shown once" in again.text
    assert len(keys_of(newcomer)) == 1


def test_the_expiry_of_ones_own_choice(newcomer: httpx.Client) -> None:
    answer = make(newcomer, expiry="other", expiryAt="2099-12-31T10:00", expiryAt_zone="+02:00")
    assert answer.status_code == 200
    assert keys_of(newcomer)[0]["expiresAt"] == "2099-12-31T08:00:00.000Z"

    assert make(newcomer, expiry="never").status_code == 200
    assert keys_of(newcomer)[0]["expiresAt"] is None


FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "no label": ({"label": ""}, "f-label", "Label"),
    "a blank label": ({"label": "  "}, "f-label", "Label"),
    "a long label": ({"label": "x" * 61}, "f-label", "Label"),
    "no scope": ({"scopes": []}, "f-scopes", "Permissions"),
    "an unknown scope": ({"scopes": "likes:write"}, "f-scopes", "Permissions"),
    "a scope twice": ({"scopes": ["posts:write", "posts:write"]}, "f-scopes", "Permissions"),
    "no time of expiry": ({"expiry": "other"}, "f-expiry", "Expiry"),
    "a past expiry": ({"expiry": "other", "expiryAt": "2001-01-01T00:00"}, "f-expiry", "Expiry"),
    "an expiry that is none": ({"expiry": "soon"}, "f-expiry", "Expiry"),
    "a bad network": ({"ipAllowlist": "10.0.0.0/8\n10.0.0.1/8"}, "f-ipAllowlist", "Allowed addresses"),
}


@pytest.mark.parametrize(("changed", "field", "label"), FAULTS.values(), ids=FAULTS)
def test_errors_stand_beside_their_fields(
    newcomer: httpx.Client, changed: dict[str, Any], field: str, label: str
) -> None:
    answer = make(newcomer, **changed)

    assert answer.status_code == 400
    tree = LexborHTMLParser(answer.text)
    link = one(tree, f'#errors a[href="#{field}"]')
    assert link is not None
    assert link.text().startswith((f"{label}: ", f"{label}, 1: ", f"{label}, 2: "))
    assert one(tree, f"#{field}-error").text().strip()
    kept = filled(tree)
    assert kept["label"] == changed.get("label", "Night desk")
    assert kept["ipAllowlist"].strip() == changed.get("ipAllowlist", "")
    assert keys_of(newcomer) == []


def test_at_five_active_keys_there_is_no_sixth(alice: Actor) -> None:
    fields = {**filled(page(alice.web, f"{KEYS}/new")), "label": "sixth", "scopes": "posts:write"}
    for _ in range(4):
        alice.server.key(alice.account)

    tree = page(alice.web)
    assert "5 of 5 active" in said(tree)
    button = one(tree, ".page-head button")
    assert "disabled" in button.attributes
    assert "at most 5 active keys" in said(tree, f"#{button.attributes['aria-describedby']}")
    assert "disabled" in one(page(alice.web, f"{KEYS}/new"), "main form button[type=submit]").attributes

    answer = alice.web.post(f"{KEYS}/new", data=fields)
    assert answer.status_code == 409
    assert "at most 5 active keys" in said(LexborHTMLParser(answer.text), "#errors")
    assert filled(LexborHTMLParser(answer.text))["label"] == "sixth"


class Waiting:
    """The part of a page that asks for itself again and again, as the page's script does."""

    def __init__(self, who: httpx.Client, made: LexborHTMLParser) -> None:
        part = one(made, "#first-use")
        self._who, self._address = who, str(part.attributes["hx-get"])
        self._version = str(part.attributes["data-version"])

    def asks(self) -> httpx.Response:
        """The answer to it."""
        return self._who.get(self._address, headers={"If-None-Match": f'"{self._version}"'})

    def changes(self) -> str:
        """The text once that has changed."""
        assert wait_until(lambda: self.asks().status_code == 200)
        answer = self.asks()
        self._version = answer.headers["etag"].removeprefix("W/").strip('"')
        return said(LexborHTMLParser(answer.text), "section")


def test_the_wait_for_the_first_request_ends_with_its_outcome(newcomer: httpx.Client) -> None:
    shown = LexborHTMLParser(make(newcomer, scopes="media:write").text)
    key, waiting = KEY.findall(said(shown))[0], Waiting(newcomer, shown)
    assert waiting.asks().status_code == 204, "nothing new"

    bearer = {"Authorization": f"Bearer {key}"}
    nobody.post(f"{newcomer.base_url}/api/posts", json={"content": "x"}, headers=bearer)
    refused = waiting.changes()
    assert "403 Missing required scope" in refused
    assert "POST /api/posts from 127.0.0.1" in refused
    assert waiting.asks().status_code == 204

    nobody.get(f"{newcomer.base_url}/api/auth/me", headers=bearer)
    assert "Your key works" in waiting.changes()
    nobody.get(f"{newcomer.base_url}/api/auth/me", headers=bearer)
    assert waiting.asks().status_code == 204, "that is all it says"


def test_a_key_s_page_shows_its_usage(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_WRITE, ips=("127.0.0.0/8",))
    assert "No request came with this key" in said(page(alice.web, f"{KEYS}/{alice.record.id}"))
    for _ in range(3):
        alice.post()
    request_id = alice.api.delete("/api/posts/x").headers["x-request-id"]
    path = f"{KEYS}/{alice.record.id}"
    assert wait_until(lambda: request_id in said(page(alice.web, path)))

    tree = page(alice.web, path)

    hours, days = (said(figure, "tbody tr:last-child") for figure in tree.css("figure.bars"))
    assert hours.split()[-4:] == ["3", "0", "1", "0"]
    assert days.split()[-4:] == ["3", "0", "1", "0"]
    assert [len(figure.css("tbody tr")) for figure in tree.css("figure.bars")] == [24, 30]
    limits = [said(row) for row in tree.css("table.limits tbody tr")]
    assert limits[0].startswith("Requests in any minute 16 16 20")
    assert limits[1].startswith("Requests in any 24 hours 9,996 9,996 10,000")
    assert limits[2].startswith("Posts and clips today, all keys 997 997 1,000")
    text = said(tree)
    assert "403 Missing required scope DELETE /api/posts/{id} 127.0.0.1" in text
    assert "Allowed from 127.0.0.0/8" in text
    assert alice.key not in str(tree.html)


def test_replacing_a_key(alice: Actor) -> None:
    old = alice.record
    path = f"{KEYS}/new?replace={old.id}"
    assert f'href="{path}"' in (page(alice.web, f"{KEYS}/{old.id}").html or "")

    tree = page(alice.web, path)
    assert filled(tree)["label"] == old.label
    assert filled(tree)["scopes"] == old.scopes.split()

    answer = alice.web.post(path, data=filled(tree))
    assert answer.status_code == 200
    shown = LexborHTMLParser(answer.text)
    assert "was never used" in said(shown, "#first-use")
    assert shown.css_first(f'#first-use a[href="{KEYS}/{old.id}/revoke"]') is not None

    waiting = Waiting(alice.web, shown)
    assert alice.post().status_code == 201
    assert "never" not in waiting.changes()
    assert one(page(alice.web, f"{KEYS}/new?replace=x"), "h1").text() == "Create an API key"


def test_revoking_takes_the_label(alice: Actor) -> None:
    webhook = body_of(
        alice.web.post(
            f"/api/auth/api-keys/{alice.record.id}/webhooks",
            json={"url": "https://93.184.216.34/hook", "events": ["post.created"]},
        ),
        201,
    )
    path = f"{KEYS}/{alice.record.id}/revoke"
    tree = page(alice.web, path)
    assert webhook["url"] in said(tree)
    assert alice.record.label in said(tree)

    for label in ("", "another", alice.record.label.upper()):
        answer = alice.web.post(path, data={**filled(tree), "label": label})
        assert answer.status_code == 400
        assert LexborHTMLParser(answer.text).css_first('#errors a[href="#f-label"]') is not None
    assert alice.post().status_code == 201

    answer = alice.web.post(path, data={**filled(tree), "label": f" {alice.record.label} "})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{KEYS}/{alice.record.id}?done=key-revoked")
    tree = page(alice.web, answer.headers["location"])
    assert "The key is revoked" in said(tree, "#done")
    assert "Revoked by you" in said(tree)
    assert tree.css_first("a.danger") is None
    assert alice.post().json()["error"] == "API key revoked"
    assert "revoked already" in said(page(alice.web, path))


@pytest.mark.parametrize("label", ["CI  bot\t2", "night\u200b desk", "\u200b"])
def test_a_label_is_typed_as_it_is_shown(server: LocalServer, newcomer: httpx.Client, label: str) -> None:
    made = body_of(newcomer.post("/api/auth/api-keys", json={"label": "k", "scopes": ["posts:write"]}), 201)
    # From the time when a label was not kept to one line.
    server.run(server.runtime.db.transact(lambda tx: tx.run(RELABEL, label=label, id=made["id"])))
    path = f"{KEYS}/{made['id']}/revoke"
    shown = " ".join(label.replace("\u200b", "").split())

    answer = newcomer.post(path, data={**filled(page(newcomer, path)), "label": shown or made["keyPrefix"]})

    assert answer.status_code == 303


PATHS = ["", "/new?replace={id}", "/{id}", "/{id}/revoke", "/{id}/first-use"]


@pytest.mark.parametrize("path", PATHS[1:])
def test_somebody_else_s_key_is_not_there(actor: MakeActor, alice: Actor, path: str) -> None:
    bob, target = actor(), KEYS + path.format(id=alice.record.id)

    assert said(page(bob.web, target, 404), "h1") == "Not found"
    answer = bob.web.post(target.replace("/first-use", "/revoke").replace("//", "/"), data={"label": "test key"})
    assert answer.status_code in (404, 405)
    assert alice.post().status_code == 201


@pytest.mark.parametrize("path", PATHS)
def test_signed_out_visitor_signs_in_first(alice: Actor, path: str) -> None:
    target = KEYS + path.format(id=alice.record.id)

    answer = nobody.get(alice.server.base_url + target, follow_redirects=False)

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=%2Fsettings%2Fkeys")


def test_a_form_from_elsewhere_does_nothing(alice: Actor) -> None:
    sent = {"label": alice.record.label, "scopes": "posts:write"}
    for path in (f"{KEYS}/new", f"{KEYS}/{alice.record.id}/revoke"):
        answer = alice.web.post(path, data=sent, headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 403
    assert [key["status"] for key in keys_of(alice.web)] == ["active"]


def test_the_page_of_a_key_while_time_passes(alice: Actor) -> None:
    record, key = alice.server.key(alice.account, expires_at=alice.server.clock.now() + DAY)
    path = f"{KEYS}/{record.id}"
    assert "Expires soon" in said(page(alice.web, path))
    alice.server.clock.advance(DAY + MINUTE)

    tree = page(alice.web, path)
    assert "Expired" in said(tree)
    assert tree.css_first("table.limits") is None
    bearer = {"Authorization": f"Bearer {key}"}
    assert nobody.get(f"{alice.server.base_url}/api/auth/me", headers=bearer).status_code == 401


def test_page_without_the_limiter_shows_a_notice(tmp_path: Path) -> None:
    if reason := redis.available():
        pytest.skip(reason)
    with redis.RedisServer.start(tmp_path / "redis") as limits:
        server = LocalServer(tmp_path / "server", REDIS_URL=limits.url).start()
        alice = Actor(server)
        path = f"{KEYS}/{alice.record.id}"
        assert page(alice.web, path).css_first("table.limits") is not None

        limits.kill()

        assert "cannot be shown right now" in said(page(alice.web, path))
        assert alice.web.get(f"/api/auth/api-keys/{alice.record.id}/usage").status_code == 503
        for client in alice.clients():
            client.close()
        server.stop()
