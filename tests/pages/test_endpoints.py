"""The pages of webhook endpoints: adding, testing, rotating, replacing and removing them in the browser."""

import re
from collections.abc import Callable

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from pressroom.clock import HOUR, MINUTE, iso
from pressroom.db import Command, Query
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.domains.webhooks.models import CHOOSABLE
from tests.api.actors import Actor, body_of, new_client, rows
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.receiver import Receiver, answer
from tests.pages.endpoint_pages import attributes_of, fields_of, page_of, path_of, read, send, text_of
from tests.webhooks.clocked import fail_until_disabled, pass_time, post
from tests.webhooks.conftest import MakeEndpoint, endpoint, receiver
from tests.webhooks.endpoints import DELIVERING, Endpoint, webhooks_of

__all__ = ["endpoint", "receiver"]

SETTINGS = DELIVERING

STORED = Query(str, "SELECT CAST(body AS TEXT) FROM idempotent_answers WHERE account_id = :account_id")
SECRET = re.compile("whsec_[0-9A-Za-z]{32}")
PUBLIC = "https://192.0.2.1/"
ACTS = ("", "rotate", "replace", "remove", "head")


def new_of(owner: Actor) -> str:
    """The page on which an endpoint is added to the owner's key."""
    return path_of(owner.record.id, "new")


def page_path(hook: Endpoint, act: str = "") -> str:
    """The page of an endpoint, or of an act."""
    return path_of(hook.key_id, hook.id, act)


def listed(owner: Actor) -> list[dict[str, str]]:
    """The endpoints of the owner's key."""
    return body_of(owner.web.get(webhooks_of(owner.record.id)))["webhooks"]  # type: ignore[no-any-return]  # JSON


def revoke(owner: Actor) -> None:
    """The operator takes the owner's key back."""
    owner.server.run(owner.server.runtime.db.transact(revoke_key, owner.record.id, RevokedBy.ADMIN, "test"))


def secret_on(page: LexborHTMLParser) -> str:
    """The secret that a page shows to be copied."""
    found = SECRET.findall(text_of(page, ".copyable code"))
    assert len(found) == 1
    return str(found[0])


def test_development_mode_asks_for_no_https(local_server: Callable[..., LocalServer]) -> None:
    server = local_server(DEV=1)
    account = server.account("Mira")
    token = server.run(server.runtime.db.transact(begin_session, account.id))
    with new_client(base_url=server.base_url, headers={"Cookie": f"session={token}"}) as web:
        key = body_of(web.post("/api/auth/api-keys", json={"label": "Bot", "scopes": ["posts:write"]}), 201)
        page = page_of(web.get(path_of(key["id"], "new")))

    assert "https" not in text_of(page, "#f-url-hint")
    assert attributes_of(page, "#f-url")["placeholder"] == "http://127.0.0.1:9000/"


def test_every_event_has_its_words(alice: Actor) -> None:
    page = read(alice, new_of(alice))

    assert [box.attributes["value"] for box in page.css("input[name=events]")] == list(CHOOSABLE)
    assert all(box.text() for box in page.css(".choice label"))


def test_an_endpoint_is_added_and_its_secret_shown_once(
    alice: Actor, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = {"url": receiver.url("/added"), "events": ["post.created", "apikey.revoked"]}
    fields = {**fields_of(read(alice, new_of(alice))), **typed}

    first = page_of(alice.web.post(new_of(alice), data=fields))
    again = page_of(alice.web.post(new_of(alice), data=fields))

    added = listed(alice)[0]
    assert (added["url"], added["events"]) == (typed["url"], typed["events"])
    assert len(listed(alice)) == 1, "the same form sent twice adds one endpoint"
    secret = secret_on(first)
    assert added["secretPrefix"] == secret[:12]
    assert not SECRET.search(again.html or "")
    assert "was shown once" in text_of(again)
    assert not [stored for stored in rows(alice.server, STORED, account_id=alice.account.id) if secret in stored]
    for path in (path_of(alice.record.id, added["id"]), path_of(alice.record.id, added["id"], "rotate")):
        assert not SECRET.search(read(alice, path).html or "")
    assert secret not in "".join(capsys.readouterr())

    post(alice)
    alice.server.deliver()
    hook = Endpoint(alice, receiver, "/added", {**added, "secret": secret}, alice.record.id)
    hook.verify(hook.received[0], secret)


def test_form_sent_again_with_other_input_is_not_performed(alice: Actor, receiver: Receiver) -> None:
    path, hooks = new_of(alice), [receiver.url(end) for end in ("/one", "/two")]
    fields: dict[str, object] = {**fields_of(read(alice, path)), "events": ["post.created"]}
    page_of(alice.web.post(path, data={**fields, "url": hooks[0]}))

    changed = page_of(alice.web.post(path, data={**fields, "url": hooks[1]}), 409)

    assert "sent already" in text_of(changed, "#errors")
    assert "Your changes since were not applied" in text_of(changed, "#errors")
    assert attributes_of(changed, "[name=url]")["value"] == hooks[1]
    assert [each["url"] for each in listed(alice)] == hooks[:1]
    assert "shown once" in text_of(page_of(alice.web.post(path, data={**fields, "url": hooks[0]}))), (
        "the same is a reload"
    )
    made = page_of(alice.web.post(path, data={**fields_of(changed), "url": hooks[1], "events": ["post.created"]}))
    assert secret_on(made)
    assert sorted(each["url"] for each in listed(alice)) == hooks


BAD = {
    "nothing": ({}, {"url", "events"}),
    "no address": ({"url": "", "events": ["post.created"]}, {"url"}),
    "no https": ({"url": "ftp://example.org/", "events": ["post.created"]}, {"url"}),
    "user": ({"url": "https://a:b@example.org/", "events": ["post.created"]}, {"url"}),
    "no event": ({"url": PUBLIC, "events": []}, {"events"}),
    "reserved": ({"url": PUBLIC, "events": ["post.deleted"]}, {"events"}),
    "twice": ({"url": PUBLIC, "events": ["post.created", "post.created"]}, {"events"}),
    "hostile": ({"url": '"><script>alert(1)</script>', "events": ["<b>"]}, {"url", "events"}),
    "endless": ({"url": "https://example.org/" + "x" * 5_000, "events": ["post.created"]}, {"url"}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_form_comes_back_with_typed_values(alice: Actor, case: str) -> None:
    typed, wrong = BAD[case]
    page = page_of(alice.web.post(new_of(alice), data=typed), 400)

    assert {each.attributes["id"] for each in page.css("p.error")} == {f"f-{name}-error" for name in wrong}
    assert attributes_of(page, "[role=alert]").get("tabindex") == "-1"
    for name in wrong:
        assert page.css_first(f"a[href='#f-{name}']") is not None
        assert page.css_first(f"#f-{name}") is not None
    assert attributes_of(page, "input[name=url]").get("value") == typed.get("url", "")
    assert page.css("script:not([src])") == []
    assert listed(alice) == []


def test_a_form_of_another_site_or_of_ten_megabytes_adds_nothing(alice: Actor) -> None:
    good = {"url": PUBLIC, "events": "post.created"}

    assert alice.web.post(new_of(alice), data=good, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert alice.web.post(new_of(alice), data={**good, "url": "x" * 10_000_000}).status_code == 413
    assert listed(alice) == []


def test_a_sixth_endpoint_is_refused_and_the_button_is_off(alice: Actor, endpoint: MakeEndpoint) -> None:
    hooks = [endpoint() for _ in range(5)]
    before = fields_of(read(alice, new_of(alice)))
    page = read(alice, new_of(alice))

    assert "disabled" in attributes_of(page, "main form button[type=submit]")
    assert "5 of 5" in text_of(page, "#why-not")
    typed = {**before, "url": hooks[0].receiver.url("/sixth"), "events": ["post.created"]}
    refused = page_of(alice.web.post(new_of(alice), data=typed), 409)
    assert "at most 5" in text_of(refused, "#errors")
    assert fields_of(refused)["url"] == [typed["url"]]
    assert len(listed(alice)) == 5


def test_under_a_key_that_has_ended_nothing_is_added_rotated_replaced_or_tested(
    alice: Actor, endpoint: MakeEndpoint
) -> None:
    hook = endpoint()
    typed = {"url": hook.created["url"], "events": ["post.created"]}
    revoke(alice)

    for path, sent in {
        new_of(alice): typed,
        page_path(hook, "rotate"): {},
        page_path(hook, "replace"): typed,
        page_path(hook, "test"): {},
    }.items():
        page = page_of(alice.web.post(path, data=sent), 422)
        assert "revoked or has expired" in text_of(page, "#errors")
        if not path.endswith("/test"):
            assert "revoked or has expired" in text_of(read(alice, path))
            assert read(alice, path).css("main form") == [], path
    assert [each["id"] for each in listed(alice)] == [hook.id]
    assert hook.show()["secretPrefix"] == hook.secret[:12]


@pytest.mark.parametrize("ends", ["revoked", "expired"])
def test_under_a_key_that_has_ended_pages_say_why_in_place_of_buttons(
    alice: Actor, endpoint: MakeEndpoint, ends: str
) -> None:
    hook = endpoint()
    post(alice)
    alice.server.deliver()
    delivered = hook.deliveries()[0]
    parts = [
        page_path(hook, "head"),
        page_path(hook, "deliveries"),
        page_path(hook, f"deliveries/{delivered['id']}/state"),
    ]
    before = [alice.web.get(part).headers["etag"] for part in parts]
    if ends == "revoked":
        revoke(alice)
        alice.server.deliver()
    else:
        expire(alice)

    for path in ("", "redeliver", f"deliveries/{delivered['id']}"):
        shown = read(alice, page_path(hook, path))
        assert "revoked or has expired" in text_of(shown), path
        assert [each.attributes.get("action") for each in shown.css("main form[method=post]")] == [], path
        assert shown.css("[data-live]") == [], path
    assert [
        each.attributes["href"]
        for each in read(alice, page_path(hook)).css("main a")
        if "remove" in (each.attributes["href"] or "")
    ]
    for part, version in zip(parts, before, strict=True):
        answer = alice.web.get(part, headers={"If-None-Match": version})
        assert page_of(answer).css("[data-live-over]"), part
    used = read(alice, f"/settings/keys/{alice.record.id}/first-use")
    assert f"This key is {ends}" in text_of(used, "section")
    assert used.css("[data-live-over]")


def expire(owner: Actor) -> None:
    """Lets the owner's key expire."""
    ending = Command("UPDATE api_keys SET expires_at = :now WHERE id = :id")
    server = owner.server
    server.run(server.runtime.db.transact(lambda tx: tx.run(ending, now=server.clock.now(), id=owner.record.id)))


def test_page_of_an_endpoint_shows_its_health(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created", "comment.created")
    post(alice, 3)
    alice.server.deliver()
    page = read(alice, page_path(hook))

    facts = text_of(page, "#endpoint-head")
    assert hook.created["url"] in text_of(page, "h1")
    assert text_of(page, "title") == f"{hook.created['url']} · Endpoint · Pressroom"
    assert "Sent when A post is published · A comment is posted ( samples )" in facts
    assert "Delivered 3 of 3" in facts
    assert "Waiting nothing" in facts
    assert "Failures in a row 0 of 5" in facts
    assert hook.secret[:12] in facts


def test_disabled_endpoint_shows_time_and_reason(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    hook.behave(answer(503), answer(410))
    post(alice)
    alice.server.deliver()
    post(alice, 4)
    assert "The last attempt failed" in text_of(read(alice, page_path(hook)), "#endpoint-head")
    pass_time(alice.server, 2 * MINUTE)
    page = read(alice, page_path(hook))

    said = text_of(page, ".notice.bad")
    assert "The endpoint answered 410 Gone. It receives no more events, and 4 deliveries are held." in said
    assert attributes_of(page, ".notice.bad time")["datetime"] == iso(alice.server.clock.now())
    assert page.css("main form[action$='/test']") == []
    assert "disabled endpoint receives no events" in text_of(page, "#why-no-test")
    refused = page_of(alice.web.post(page_path(hook, "test"), data={}), 422)
    assert "The endpoint is disabled." in text_of(refused, "#errors")


def test_a_test_is_sent_and_its_outcome_shows(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    hook.behave(answer(200), answer(404))

    sent = send(alice, page_path(hook, "test"), action="/test", at=page_path(hook))
    assert (sent.status_code, sent.headers["location"]) == (303, f"{page_path(hook)}?done=test-sent")
    page = read(alice, sent.headers["location"])
    assert "A test is on its way" in text_of(page, "#done")
    assert "On its way" in text_of(page, "#last-test")
    alice.server.deliver()
    assert "Delivered answered 200 after" in text_of(read(alice, page_path(hook)), "#last-test")

    send(alice, page_path(hook, "test"), action="/test", at=page_path(hook))
    alice.server.deliver()
    assert "404" in text_of(read(alice, page_path(hook)), "#last-test")
    assert "Failed" in text_of(read(alice, page_path(hook)), "#last-test")
    assert hook.heard == ["webhook.test"] * 2


def test_the_same_button_pressed_twice_sends_one_test(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    fields = fields_of(read(alice, page_path(hook)), "/test")

    for _ in range(2):
        assert alice.web.post(page_path(hook, "test"), data=fields).status_code == 303
    alice.server.deliver()

    assert hook.heard == ["webhook.test"]


def test_the_head_comes_anew_when_something_changed_and_else_not(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    part = attributes_of(read(alice, page_path(hook)), "#endpoint-head[data-live]")
    assert part["hx-get"] == page_path(hook, "head")

    def ask(version: str | None) -> httpx.Response:
        return alice.web.get(page_path(hook, "head"), headers={"If-None-Match": f'"{version}"'})

    assert ask(part["data-version"]).status_code == 204
    body_of(hook.test(), 202)
    changed = ask(part["data-version"])
    assert (changed.status_code, "On its way" in changed.text) == (200, True)
    assert "<html" not in changed.text
    alice.server.deliver()
    version = changed.headers["etag"].removeprefix("W/").strip('"')
    assert "Delivered" in ask(version).text
    hook.behave(answer(410))
    post(alice)
    alice.server.deliver()
    disabled = ask(version)
    assert "Disabled" in disabled.text
    acts = LexborHTMLParser(disabled.text).css(".actions a, .actions form")
    assert [(each.attributes.get("href") or each.attributes["action"] or "").split("/")[-1] for each in acts] == [
        "replace",
        "rotate",
        "remove",
    ]
    assert ask(attributes_of(read(alice, page_path(hook)), "#endpoint-head")["data-version"]).status_code == 204


def test_a_secret_is_rotated_and_the_overlap_counted_down(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    assert "For 24 hours" in text_of(read(alice, page_path(hook, "rotate")))
    fields = fields_of(read(alice, page_path(hook, "rotate")))

    page = page_of(alice.web.post(page_path(hook, "rotate"), data=fields))
    secret = secret_on(page)
    assert secret != hook.secret
    assert "for 24 hours more" in text_of(page)
    again = page_of(alice.web.post(page_path(hook, "rotate"), data=fields))
    assert "was shown once" in text_of(again)
    assert hook.show()["secretPrefix"] == secret[:12]
    assert not [stored for stored in rows(alice.server, STORED, account_id=alice.account.id) if secret in stored]

    assert "accepted for 24 hours more" in text_of(read(alice, page_path(hook)), "#endpoint-head")
    alice.server.clock.advance(21 * HOUR)
    assert "accepted for 3 hours more" in text_of(read(alice, page_path(hook)), "#endpoint-head")
    alice.server.clock.advance(3 * HOUR)
    assert "accepted for" not in text_of(read(alice, page_path(hook)), "#endpoint-head")


def test_removal_of_an_endpoint_shows_pending_deliveries(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    hook.behave(answer(500))
    assert "No delivery waits" in text_of(read(alice, page_path(hook, "remove")))
    post(alice)
    alice.server.deliver()
    assert "1 delivery waits for it and is not sent." in text_of(read(alice, page_path(hook, "remove")))
    post(alice, 2)
    page = read(alice, page_path(hook, "remove"))
    assert "3 deliveries wait for it and are not sent." in text_of(page)

    for _ in range(2):
        removed = alice.web.post(page_path(hook, "remove"), data=fields_of(page))
        assert (removed.status_code, removed.headers["location"]) == (
            303,
            f"/settings/keys/{hook.key_id}?done=endpoint-removed",
        )
    assert listed(alice) == []
    for act in ACTS:
        read_missing(alice, page_path(hook, act))
    assert alice.web.post(page_path(hook, "remove"), data={}).status_code == 404


def read_missing(who: Actor, path: str) -> None:
    """The page must not be there, and say so to people."""
    page = page_of(who.web.get(path), 404)
    assert "Not found" in text_of(page, "h1")


def test_replaced_endpoint_offers_missed_events(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    since = fail_until_disabled(hook)
    form = read(alice, page_path(hook, "replace"))
    fields = fields_of(form)
    assert (fields["url"], fields["events"]) == ([hook.created["url"]], ["post.created"])

    chosen = ["post.created", "comment.created"]
    page = page_of(alice.web.post(page_path(hook, "replace"), data={**fields, "events": chosen}))

    new = listed(alice)[0]
    assert [each["id"] for each in listed(alice)] == [new["id"]]
    assert (new["status"], new["events"]) == ("enabled", chosen)
    assert secret_on(page)[:12] == new["secretPrefix"]
    offered = attributes_of(page, "main .notice a.primary")["href"]
    assert offered == f"{path_of(alice.record.id, new['id'], 'redeliver')}?since={iso(since).replace(':', '%3A')}"
    again = page_of(alice.web.post(page_path(hook, "replace"), data={**fields, "events": ["post.created"]}))
    assert "was shown once" in text_of(again)
    assert len(listed(alice)) == 1


def test_nothing_is_offered_where_nothing_was_missed(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    page = page_of(send(alice, page_path(hook, "replace")))

    assert "missed" not in text_of(page)


def test_refused_replacement_comes_back_with_typed_values(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    refused = page_of(
        send(alice, page_path(hook, "replace"), {"url": "gopher://x", "events": ["comment.created"]}), 400
    )

    assert fields_of(refused)["url"] == ["gopher://x"]
    assert fields_of(refused)["events"] == ["comment.created"]
    assert [each["id"] for each in listed(alice)] == [hook.id]


def test_foreign_endpoint_is_404(alice: Actor, actor: MakeActor, endpoint: MakeEndpoint) -> None:
    hook, bob = endpoint(), actor()
    absent = path_of(hook.key_id, "01KW2F3B6E0N5Q8R7T4V1X9YZA")

    for path in (*(page_path(hook, act) for act in ACTS), new_of(alice)):
        read_missing(bob, path)
    read_missing(alice, absent)
    for act in ("test", "rotate", "replace", "remove"):
        typed = {"url": hook.created["url"], "events": "post.created"} if act == "replace" else {}
        assert bob.web.post(page_path(hook, act), data=typed).status_code == 404
    assert bob.web.post(new_of(alice), data={"url": PUBLIC, "events": "post.created"}).status_code == 404
    assert listed(alice)[0]["id"] == hook.id
    assert hook.show()["secretPrefix"] == hook.secret[:12]


def test_endpoint_pages_redirect_visitors_to_sign_in(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint()
    with new_client(base_url=alice.server.base_url) as client:
        for path in (new_of(alice), *(page_path(hook, act) for act in ACTS)):
            led = client.get(path)
            assert (led.status_code, led.headers["location"]) == (303, f"/login?next={path.replace('/', '%2F')}")
        assert client.post(page_path(hook, "remove"), data={}).status_code == 303
    assert listed(alice)[0]["id"] == hook.id


def test_a_hostile_address_is_text(alice: Actor, receiver: Receiver) -> None:
    url = receiver.url("/%3Cscript%3E?a='onload=(1)&amp;b=&lt;img&gt;")
    made = body_of(alice.web.post(webhooks_of(alice.record.id), json={"url": url, "events": ["post.created"]}), 201)

    assert text_of(read(alice, path_of(alice.record.id, made["id"])), "h1") == url
    for act in ("rotate", "remove"):
        assert text_of(read(alice, path_of(alice.record.id, made["id"], act)), ".lede code") == url
    assert fields_of(read(alice, path_of(alice.record.id, made["id"], "replace")))["url"] == [url]


def test_endpoint_is_paused_and_resumed_on_its_page(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")

    paused = send(alice, page_path(hook, "pause"), action="/pause", at=page_path(hook))
    assert paused.status_code == 303
    page = read(alice, page_path(hook))
    assert "Paused" in text_of(page, ".endpoint-head .badge")
    assert hook.show()["status"] == "paused"
    post(alice)
    alice.server.deliver()
    assert hook.received == []

    assert send(alice, page_path(hook, "resume"), action="/resume", at=page_path(hook)).status_code == 303
    alice.server.deliver()
    assert (hook.show()["status"], len(hook.received)) == ("enabled", 1)


def test_events_of_an_endpoint_are_changed_on_a_page(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")

    assert send(alice, page_path(hook, "edit"), {"events": ["comment.created"]}).status_code == 303
    assert hook.show()["events"] == ["comment.created"]
    refused = send(alice, page_path(hook, "edit"), {"events": []})
    assert refused.status_code == 400
    assert hook.show()["events"] == ["comment.created"]


def test_disabled_endpoint_cannot_be_resumed_on_its_page(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    fail_until_disabled(hook)

    assert alice.web.post(page_path(hook, "resume")).status_code == 422
    assert hook.show()["status"] == "disabled"
