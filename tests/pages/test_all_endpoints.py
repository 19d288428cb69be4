"""The page of all endpoints, the statistics and samples of one, and notes on keys."""

import json

from pressroom.domains.webhooks.models import CHOOSABLE
from tests.api.actors import Actor, body_of
from tests.api.conftest import MakeActor
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.receiver import answer
from tests.pages.endpoint_pages import attributes_of, fields_of, node_of, path_of, read, send, text_of
from tests.webhooks.clocked import post
from tests.webhooks.conftest import MakeEndpoint, endpoint, receiver
from tests.webhooks.endpoints import DELIVERING

__all__ = ["endpoint", "receiver"]

SETTINGS = DELIVERING
ALL = "/settings/webhooks"


def test_without_endpoints_the_page_leads_to_the_keys(alice: Actor) -> None:
    page = read(alice, ALL)

    assert attributes_of(page, ".nothing a")["href"] == "/settings/keys"


def test_all_endpoints_are_listed_with_their_health(alice: Actor, actor: MakeActor, endpoint: MakeEndpoint) -> None:
    key = body_of(alice.web.post("/api/auth/api-keys", json={"label": "Night desk", "scopes": ["posts:write"]}), 201)
    good, bad = endpoint("post.created"), endpoint("post.created", key_id=key["id"])
    body_of(good.owner.web.patch(good.base, json={"label": "Newsroom <chat>"}))
    bad.behave(answer(503))
    post(alice)
    alice.server.deliver()

    page = read(alice, ALL)

    first, second = (text_of(page, f"#endpoint-{hook.id}") for hook in (bad, good))
    assert bad.created["url"] in first
    assert "Failing" in first
    assert "Key Night desk" in first
    assert "1 attempt, 0 accepted" in first
    assert "Newsroom <chat> Enabled" in second
    assert "1 attempt, 1 accepted; p50" in second
    assert [node.attributes["id"] for node in page.css(".cards > li")] == [f"endpoint-{bad.id}", f"endpoint-{good.id}"]
    assert good.created["url"] not in text_of(read(actor(), ALL))


def test_pausing_and_resuming_lead_back_to_the_list(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")

    for act, status in (("pause", "paused"), ("resume", "enabled")):
        fields = fields_of(read(alice, ALL), f"/{act}?next=/settings/webhooks")
        done = alice.web.post(f"{path_of(hook.key_id, hook.id, act)}?next={ALL}", data=fields)
        assert (done.status_code, done.headers["location"].split("?")[0]) == (303, ALL)
        assert hook.show()["status"] == status
    elsewhere = alice.web.post(f"{path_of(hook.key_id, hook.id, 'pause')}?next=//evil.example/", data={})
    assert elsewhere.headers["location"].startswith(path_of(hook.key_id, hook.id))


def test_an_endpoint_is_edited_in_its_place_in_the_list(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook, other = endpoint("post.created"), endpoint()
    at = f"{ALL}?edit={hook.id}"
    assert len(read(alice, at).css("main form[action*='/edit']")) == 1
    typed = {"label": "Newsroom chat", "events": ["comment.created"]}
    path = f"{path_of(hook.key_id, hook.id, 'edit')}?next={ALL}"

    done = send(alice, path, typed, action=f"/edit?next={ALL}", at=at)

    assert done.headers["location"] == f"{ALL}?done=endpoint-changed"
    assert (hook.show()["label"], hook.show()["events"]) == ("Newsroom chat", ["comment.created"])
    refused = send(alice, path, {"label": "x" * 61, "events": []}, action=f"/edit?next={ALL}", at=at)
    assert refused.status_code == 400
    nothing = send(alice, path, {"label": "Desk"}, action=f"/edit?next={ALL}", at=f"{ALL}?edit={other.id}")
    assert nothing.status_code == 303
    none = alice.web.post(path, data={"label": "Desk"})
    assert none.status_code == 400, "a form without a ticked box is refused"
    assert hook.show()["events"]


def test_the_statistics_of_an_endpoint_are_bars_and_tables(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    assert "Nothing was sent in the last 30 days" in text_of(read(alice, path_of(hook.key_id, hook.id)))
    hook.behave(answer(200), answer(404))
    for _ in range(2):
        body_of(hook.test(), 202)
        alice.server.deliver()

    page = read(alice, path_of(hook.key_id, hook.id))

    hours, days = page.css("figure.bars")
    assert [len(each.css("svg g")) for each in (hours, days)] == [24, 30]
    assert [rect.attributes["class"] for rect in hours.css("rect")] == ["accepted", "refused"]
    head = [each.text() for each in hours.css("thead th")]
    assert head[1:] == [
        "2xx accepted",
        "3xx redirected",
        "4xx refused",
        "5xx failed",
        "No answer",
        "p50, ms",
        "p95, ms",
    ]
    last = [each.text() for each in hours.css("tbody tr")[-1].css("td")]
    assert last[:5] == ["1", "0", "1", "0", "0"]
    assert all(each.isdigit() for each in last[5:])
    assert [each.text() for each in hours.css("tbody tr")[0].css("td")][5:] == ["none", "none"]
    assert "95 of 100 within" in " ".join(days.text().split())


def test_samples_show_each_kind_of_event(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")

    for kind in (*CHOOSABLE, "webhook.test"):
        page = read(alice, f"{path_of(hook.key_id, hook.id, 'samples')}?event={kind}")
        assert json.loads(node_of(page, "[aria-label='the body'] code").text())["event"] == kind
        assert attributes_of(page, "option[selected]")["value"] == kind
        assert f"X-Service-Event: {kind}" in node_of(page, "[aria-label='the request as a curl command'] code").text()
    read(alice, f"{path_of(hook.key_id, hook.id, 'samples')}?event=nothing")


def test_a_note_on_a_key_is_kept(alice: Actor, actor: MakeActor) -> None:
    path, note = f"/settings/keys/{alice.record.id}", "Runs on <the desk's> machine.\nAsk Marta."

    assert send(alice, f"{path}/note", {"note": note}, action="/note", at=path).status_code == 303

    assert "Runs on <the desk's> machine." in text_of(read(alice, path), ".note")
    record = f"/api/auth/api-keys/{alice.record.id}"
    assert body_of(alice.web.get(record))["note"] == note
    assert send(alice, f"{path}/note", {"note": "x" * 501}, action="/note", at=path).status_code == 400
    assert actor().web.patch(record, json={"note": "mine"}).status_code == 404
    assert body_of(alice.web.patch(record, json={"note": ""}))["note"] is None


@needs_chromium
def test_acts_happen_in_the_list_with_script(alice: Actor, endpoint: MakeEndpoint, open_tab: OpenTab) -> None:
    hook = endpoint("post.created")
    endpoint("post.created")
    tab = open_tab(alice.server, alice)
    tab.open(ALL)
    card = tab.page.locator(f"#endpoint-{hook.id}")

    card.get_by_role("button", name="Pause").click()
    card.get_by_role("button", name="Resume").wait_for()
    card.get_by_role("link", name="Edit").click()
    card.get_by_label("Label").fill("Newsroom chat")
    card.get_by_role("button", name="Save").click()
    card.get_by_role("link", name="Newsroom chat").wait_for()

    assert tab.page.url.endswith(ALL)
    assert (hook.show()["status"], hook.show()["label"]) == ("paused", "Newsroom chat")


def test_list_of_all_endpoints_is_sent_again_once_it_has_changed(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created")
    version = attributes_of(read(alice, ALL), "#endpoints")["data-version"]
    seen = {"If-None-Match": f'"{version}"'}
    assert alice.web.get(f"{ALL}/list", headers=seen).status_code == 204

    body_of(hook.owner.web.patch(hook.base, json={"label": "Newsroom chat"}))

    answered = alice.web.get(f"{ALL}/list", headers=seen)
    assert (answered.status_code, "Newsroom chat" in answered.text) == (200, True)
    assert "<html" not in answered.text


@needs_chromium
def test_list_of_all_endpoints_follows_their_state_but_while_one_is_edited(
    alice: Actor, endpoint: MakeEndpoint, open_tab: OpenTab
) -> None:
    hook = endpoint("post.created")
    tab = open_tab(alice.server, alice)
    tab.page.clock.install()
    tab.open(ALL)
    card = tab.page.locator(f"#endpoint-{hook.id}")
    body_of(hook.owner.web.patch(hook.base, json={"label": "Newsroom chat"}))
    tab.page.clock.run_for(5_100)
    card.get_by_role("link", name="Newsroom chat").wait_for()

    card.get_by_role("link", name="Edit").click()
    card.get_by_label("Label").fill("My words")
    tab.page.clock.run_for(20_000)
    assert card.get_by_label("Label").input_value() == "My words"
