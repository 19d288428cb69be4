"""The pages on which deliveries are filtered, read in full, sent again and redelivered; without script."""

import json
import re
import shutil
import subprocess
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from pressroom.clock import MINUTE, iso
from tests.api.actors import Actor, body_of
from tests.api.conftest import MakeActor
from tests.harness.receiver import Receiver, answer
from tests.pages.endpoint_pages import node_of
from tests.pages.hostile import HOSTILE
from tests.pages.reader import Page
from tests.webhooks.clocked import tick
from tests.webhooks.conftest import MakeEndpoint, endpoint, receiver
from tests.webhooks.endpoints import DELIVERING, Endpoint

__all__ = ["endpoint", "receiver"]

SETTINGS = {**DELIVERING, "REQUESTS_PER_MINUTE": 1_000, "POSTS_PER_MINUTE": 1_000}


def path_of(hook: Endpoint) -> str:
    """The path of the endpoint's page."""
    return f"/settings/keys/{hook.key_id}/webhooks/{hook.id}"


def rows(hook: Endpoint, query: str = "") -> Page:
    """The part of the endpoint's page that lists its deliveries."""
    return page(hook.owner.web.get(f"{path_of(hook)}/deliveries{query}"))


def page(reply: httpx.Response, status: int = 200) -> Page:
    """A page, which nobody may store."""
    assert (reply.status_code, reply.headers["cache-control"]) == (status, "no-store"), reply.text
    return Page(reply.text)


def words(shown: Page, selector: str = "main") -> str:
    """The words of a part of a page."""
    return " ".join(" ".join(shown.texts(selector)).split())


def sent(shown: Page, selector: str = "main form") -> dict[str, Any]:
    """The fields of a form of the page as it stands."""
    fields: dict[str, Any] = {}
    for node in shown.tree.css(f"{selector} input"):
        name, kind = str(node.attributes["name"]), node.attributes.get("type")
        if kind != "checkbox":
            fields.setdefault(name, []).append(node.attributes.get("value") or "")
    return fields


def test_the_list_is_filtered_by_its_address(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(404), answer(200))
    test = body_of(hook.test(), 202)["id"]
    alice.server.deliver()
    first, second = tick(alice, "a", "b")
    alice.server.deliver()
    tick(alice, "waits")

    assert len(rows(hook).tree.css("li > details")) == 4
    for query, expected in (
        ("?state=failed", [test]),
        ("?code=4xx&state=", [test]),
        ("?event=webhook.test&since=&since_zone=%2B01:00", [test]),
        ("?state=delivered&code=5xx", []),
        (f"?since={iso(first)}&until={iso(first)}&state=delivered", [hook.deliveries()[2]["id"]]),
        (f"?since={iso(second + 60 * MINUTE)[:-1]}&since_zone=%2B01:00&code=2xx", [hook.deliveries()[1]["id"]]),
    ):
        shown = rows(hook, query)
        assert [node.attributes["id"] for node in shown.tree.css(".delivery-list > li")] == expected, query
        assert ("No delivery is like that" in words(shown, "body")) == (not expected)
    assert len(rows(hook, "?state=lost&since=yesterday&code=200").tree.css(".delivery-list > li")) == 4


def test_a_list_goes_on_and_keeps_its_filter(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, *(str(number) for number in range(45)))
    alice.server.deliver()
    found: list[str] = []
    query = "?state=delivered&code=2xx"
    while True:
        shown = rows(hook, query)
        found += [str(node.attributes["id"]) for node in shown.tree.css(".delivery-list > li")]
        following = dict(shown.links(".pager")).get("Further back")
        if following is None:
            break
        target = urlsplit(following)
        assert target.path == path_of(hook)
        assert parse_qs(target.query).keys() == {"state", "code", "cursor"}
        query = f"?{target.query}"

    assert found == [each["id"] for each in hook.deliveries()]


def test_the_part_is_sent_again_only_when_it_changed(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    address = f"{path_of(hook)}/deliveries?event=post.created"
    first = alice.web.get(address)
    version = first.headers["etag"]

    def again(tag: str) -> httpx.Response:
        return alice.web.get(address, headers={"If-None-Match": tag})

    same = again(version)
    assert (same.status_code, same.content) == (204, b"")
    alice.server.deliver()
    changed = again(version)
    assert (changed.status_code, changed.headers["etag"] == version) == (200, False)
    assert "Delivered" in changed.text
    body_of(hook.test(), 202)
    assert again(changed.headers["etag"]).status_code == 204, "what the filter leaves out changes nothing"


def test_one_delivery_with_all_that_was_sent(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(
        answer(503, {"Content-Type": "text/plain", "Server": "nginx", "Retry-After": "90"}, b"<script>later</script>"),
        answer(200),
    )
    tick(alice, "Grüße 🦊")
    alice.server.deliver()
    address = f"{path_of(hook)}/deliveries/{hook.received[0].id}"
    live = alice.web.get(f"{address}/state")

    shown = page(alice.web.get(address))

    text = words(shown)
    for expected in (
        "503",
        "nginx",
        "90",
        hook.received[0].signature,
        hook.secret[:12],
        "Waiting",
        hook.received[0].id,
    ):
        assert expected in text
    body = hook.received[0].body.decode()
    laid_out = node_of(shown.tree, "[aria-label='the body'] code").text()
    assert body in [node.attributes["data-copy"] for node in shown.tree.css("button[data-copy]")]
    assert (json.loads(laid_out), laid_out.splitlines()[0:2]) == (
        json.loads(body),
        ["{", '  "event": "post.created",'],
    )
    assert "<script>later</script>" in [node.text() for node in shown.tree.css("pre code")]
    assert hook.secret[12:] not in shown.html
    assert live.headers["etag"].removeprefix("W/").strip('"') in shown.html
    known = {"If-None-Match": live.headers["etag"]}
    assert alice.web.get(f"{address}/state", headers=known).status_code == 204
    alice.server.clock.advance(2 * MINUTE)
    alice.server.deliver()
    assert alice.web.get(f"{address}/state", headers=known).status_code == 200
    assert len(page(alice.web.get(address)).tree.css("details.attempt")) == 2


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_command_on_a_delivery_s_page_sends_the_same(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "It's $(late) `here`\n'; echo \\ \"quoted\" 🦊")
    address = f"{path_of(hook)}/deliveries/{hook.deliveries()[0]['id']}"
    assert page(alice.web.get(address)).tree.css_first("[aria-label='the request as a curl command']") is None
    alice.server.deliver()

    shown = page(alice.web.get(address))
    command = node_of(shown.tree, "[aria-label='the request as a curl command'] code").text()
    subprocess.run(["sh", "-c", command.replace("curl ", "curl -s ", 1)], check=True, timeout=30)

    first, second = hook.received
    assert (second.body, second.signature) == (first.body, first.signature)
    assert second.headers["user-agent"] == first.headers["user-agent"]


def test_times_of_attempts_have_seconds(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    delivery = hook.deliveries()[0]

    for path in (path_of(hook), f"{path_of(hook)}/deliveries/{delivery['id']}"):
        times = page(alice.web.get(path)).tree.css(".attempt-lines time, .attempt time, .delivery-list .when time")
        assert times
        for each in times:
            assert each.attributes["data-local-time"] == "seconds"
            assert re.search(r", \d\d:\d\d:\d\d UTC$", each.text())


@pytest.mark.parametrize("text", HOSTILE[::5])
def test_words_of_a_receiver_stay_words(endpoint: MakeEndpoint, alice: Actor, text: str) -> None:
    hook = endpoint("post.created")
    printable = "".join(each for each in text if each.isprintable() and ord(each) < 256)
    hook.behave(answer(500, {"Server": printable, "Location": printable}, text.encode("utf-8", "replace")))
    tick(alice, "a")
    alice.server.deliver()

    shown = page(alice.web.get(f"{path_of(hook)}/deliveries/{hook.received[0].id}"))

    assert [node for node in shown.tree.css("script") if not node.attributes.get("src")] == []
    assert shown.tree.css("[onclick], [onerror], [onload], iframe, object, main img") == []


def test_a_delivery_is_sent_again_by_its_button(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    address = f"{path_of(hook)}/deliveries/{hook.received[0].id}"
    fields = sent(page(alice.web.get(address)))

    first = alice.web.post(f"{address}/resend", data=fields)
    again = alice.web.post(f"{address}/resend", data=fields)
    other = alice.web.post(f"{address}/resend", data={"idempotency_key": "another"})

    assert [reply.status_code for reply in (first, again, other)] == [303] * 3
    assert first.headers["location"] == again.headers["location"] == f"{address}?done=delivery-resent"
    assert other.headers["location"] == f"{address}?done=delivery-waits"
    assert "It waits to be sent already" in words(page(alice.web.get(other.headers["location"])))
    alice.server.deliver()
    assert len(hook.received) == 2


def test_deliveries_of_a_disabled_endpoint_show_the_reason(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    hook.behave(answer(410))
    tick(alice, "a")
    alice.server.deliver()
    address = f"{path_of(hook)}/deliveries/{hook.received[0].id}"

    shown = page(alice.web.get(address))
    refused = page(alice.web.post(f"{address}/resend"), 422)

    assert "410 Gone" in words(shown)
    assert not shown.has("main form")
    assert "The endpoint is disabled" in words(refused, "#errors")
    assert "410 Gone" in words(page(alice.web.get(f"{path_of(hook)}/redeliver")))


def test_redelivery_is_previewed_confirmed_and_announced(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created", "comment.created")
    tick(alice, "a", "b", "c")
    alice.server.deliver()
    base = path_of(hook)
    form = page(alice.web.get(f"{base}/redeliver?since={iso(alice.server.clock.now() - 60 * MINUTE)}"))
    fields = sent(form)
    assert fields["since"] == [iso(alice.server.clock.now() - 60 * MINUTE)[:-1]]

    preview = page(alice.web.post(f"{base}/redeliver/preview", data=fields | {"eventTypes": ["post.created"]}))
    assert "Redeliver 3 events?" in words(preview)
    assert "Would be queued3" in words(preview)
    confirm = sent(preview)
    assert confirm.keys() == {"idempotency_key", "since", "until", "eventTypes"}
    tick(alice, "after the preview")
    alice.server.deliver()
    body_of(alice.web.post(f"{hook.base}/deliveries/{hook.received[0].id}/resend"), 202)

    replies = [alice.web.post(f"{base}/redeliver", data=confirm) for _ in range(2)]

    assert {reply.headers["location"] for reply in replies} == {
        f"{base}/redeliver?queued=3&skipped=0&done=events-redelivered"
    }
    done = page(alice.web.get(replies[0].headers["location"]))
    assert "Queued3" in words(done)
    assert "Skipped as duplicates0" in words(done)
    alice.server.deliver()
    assert len(hook.received) == 4 + 3


def test_a_preview_of_nothing_offers_no_button(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    fields = {"since": iso(alice.server.clock.now() - MINUTE)[:-1]}

    preview = page(alice.web.post(f"{path_of(hook)}/redeliver/preview", data=fields))

    assert "No event that this endpoint receives" in words(preview)
    assert not preview.has("main form")


def test_figures_in_an_address_are_numbers_or_nothing(endpoint: MakeEndpoint, alice: Actor) -> None:
    hook = endpoint("post.created")
    for query in ("queued=<b>&skipped=1", "queued=99999&skipped=1", "queued=1", "queued=٣&skipped=1"):
        shown = page(alice.web.get(f"{path_of(hook)}/redeliver?done=events-redelivered&{query}"))
        assert not shown.has(".figures"), query


def test_pages_of_others_are_not_there(
    endpoint: MakeEndpoint, alice: Actor, actor: MakeActor, receiver: Receiver
) -> None:
    hook = endpoint("post.created")
    tick(alice, "a")
    alice.server.deliver()
    stranger = actor()
    base = path_of(hook)
    delivery = f"/deliveries/{hook.received[0].id}"
    for part in ("/deliveries", "/deliveries/evt_", delivery, f"{delivery}/state", "/redeliver"):
        who = alice if part.endswith("evt_") else stranger
        reply = who.web.get(base + part)
        assert (reply.status_code, reply.headers["content-type"]) == (404, "text/html; charset=utf-8"), part
        gone = httpx.get(f"{alice.server.base_url}{base}{part}")
        assert gone.status_code == 303
