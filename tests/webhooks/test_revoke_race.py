"""A key that is revoked while endpoints are added to it: the endpoint gets the event, or is refused."""

from concurrent.futures import ThreadPoolExecutor

from pressroom.db import Query
from tests.api.actors import Actor, body_of
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING

SETTINGS = DELIVERING

OPEN = Query(
    str,
    "SELECT w.id FROM webhooks w JOIN api_keys k ON k.id = w.key_id"
    " WHERE k.revoked_at IS NOT NULL AND w.closed_at IS NULL AND w.account_id = :account_id",
)
NEW_KEY = {"label": "soon revoked", "scopes": ["posts:write"]}


def test_no_endpoint_of_a_revoked_key_stays_open(alice: Actor, endpoint: MakeEndpoint) -> None:
    url = endpoint("post.created").show()["url"]
    wanted = {"url": url, "events": ["post.created", "apikey.revoked"]}
    with ThreadPoolExecutor(6) as pool:
        for _ in range(12):
            key = f"/api/auth/api-keys/{body_of(alice.web.post('/api/auth/api-keys', json=NEW_KEY), 201)['id']}"
            adding = [pool.submit(alice.web.post, f"{key}/webhooks", json=wanted) for _ in range(5)]
            revoked = pool.submit(alice.web.delete, key).result(120)
            added = [answer.result(120).status_code for answer in adding]
            assert revoked.status_code == 200
            assert set(added) <= {201, 422}
    assert alice.server.run(alice.server.runtime.db.one(OPEN, account_id=alice.account.id)) is None


def test_delivery_without_its_event_is_not_sent(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("post.created", owner=alice)
    body_of(alice.post("Gone"), 201)
    alice.server.run(alice.server.runtime.db.script(f"DELETE FROM events WHERE account_id = '{alice.account.id}'"))  # noqa: S608  # our own id
    body_of(alice.post("There"), 201)
    alice.server.deliver()
    assert [request.envelope["data"]["post"]["content"] for request in hook.received] == ["There"]
    alice.server.deliver()
    assert len(hook.received) == 1
