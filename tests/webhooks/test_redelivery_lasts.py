"""A redelivery is as durable as any other delivery, and answered before anything of it is sent."""

from collections.abc import Callable
from pathlib import Path

import httpx

from tests.api.actors import Actor, body_of, publish
from tests.harness.local import LocalServer
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver, never
from tests.webhooks.endpoints import DELIVERING, LONG_AGO, Endpoint, webhooks_of


def test_queued_mail_outlives_the_server(
    engine_settings: dict[str, object], tmp_path: Path, receiver: Receiver
) -> None:
    settings = {**DELIVERING, **engine_settings}
    first = LocalServer(tmp_path, **settings).start()
    alice = Actor(first)
    hook = Endpoint.add(alice, receiver, "post.created")
    for content in ("a", "b"):
        publish(alice, content)
    first.deliver()
    assert hook.redelivered() == (2, 0)
    for client in alice.clients():
        client.close()
    first.stop()

    second = LocalServer(tmp_path, **settings).start()
    second.clock.time = first.clock.time
    second.deliver()
    second.stop()

    contents = [each.envelope["data"]["post"]["content"] for each in hook.received]
    assert sorted(contents) == ["a", "a", "b", "b"]
    assert len({each.body for each in hook.received}) == 2


def test_redelivery_answers_before_deliveries_are_sent(
    process_server: Callable[..., ServerProcess], engine_settings: dict[str, object], receiver: Receiver
) -> None:
    server = process_server(**DELIVERING, **engine_settings).migrate().start()
    owner = Owner(server)
    base = webhooks_of(owner.new_key().json()["id"])
    with httpx.Client(base_url=server.base_url, headers={"Cookie": owner.cookie}, timeout=20) as web:
        for number in range(20):
            body_of(web.post("/api/posts", json={"content": f"post {number}"}), 201)
        made = body_of(web.post(base, json={"url": receiver.url("/mute"), "events": ["post.created"]}), 201)
        receiver.behave("/mute", never())

        said = body_of(web.post(f"{base}/{made['id']}/redeliver", json={"since": LONG_AGO}))

        assert said == {"queued": 20, "skippedDuplicates": 0}
        receiver.wait(lambda it: it.in_flight["/mute"] == 8)
        waiting = body_of(web.get(f"{base}/{made['id']}/deliveries"))["deliveries"]
        assert [(each["state"], each["attempts"]) for each in waiting] == [("pending", [])] * 20
    server.kill()
