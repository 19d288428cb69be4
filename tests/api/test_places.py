"""Ids and secrets end in the place of their owner (docs/architecture.md#places)."""

from pressroom.db import Query
from pressroom.domains.audit.models import SERVICE
from pressroom.domains.sign_in.tokens import Purpose, issue_token
from pressroom.domains.sign_up import invitations
from pressroom.ids import place_of
from tests.api.actors import Actor, body_of
from tests.api.conftest import MakeActor
from tests.api.tables import columns
from tests.harness.roomy import ROOMY
from tests.harness.writes import SETTINGS as TAKING
from tests.harness.writes import WRITES, People
from tests.services.process import wait_until

SETTINGS = {**ROOMY, **TAKING}

BESIDE = {
    "api_key_refusals": "key_id",
    "comments": "post_id",
    "follow_requests": "followed_id",
    "post_versions": "post_id",
    "report_cases": "subject_id",
    "reports": "case_id",
}
"""The owner of a row, where that is no `account_id`."""

OWN = {"accounts", "blocked_addresses", "explore_exclusions", "hubs", "transfers", "passkeys"}
"""Tables of what belongs with nothing else, and of passkeys, which an authenticator has to make: see
`test_passkeys.py`."""


def counted(who: Actor, table: str, condition: str) -> int:
    """How many rows of a table meet a condition."""
    query = Query(int, f"SELECT count(*) FROM {table} WHERE {condition}")  # noqa: S608  # our own names
    return who.server.run(who.server.runtime.db.read(lambda tx: tx.one(query))) or 0


def test_every_id_has_the_place_of_its_owner(actor: MakeActor) -> None:
    for write in WRITES.values():
        alice, bob = actor(), actor()
        sent = write(People(alice.web, bob.web))
        alice.web.request(sent.method, sent.path, json=sent.body)
    alice, bob = actor(), actor()
    People(alice.web, bob.web).asked()
    alice.server.run(alice.server.runtime.db.transact(invitations.make, SERVICE, alice.account.id, None))
    alice.api.get("/api/posts")
    wait_until(lambda: counted(alice, "api_key_refusals", "TRUE") > 0, 10)

    for table in sorted(table for table, names in columns().items() if "id" in names and table not in OWN):
        beside = BESIDE.get(table, "account_id")
        assert counted(alice, table, f"{beside} <> ''") > 0, table
        assert counted(alice, table, f"{beside} <> '' AND substr(id, 24) <> substr({beside}, 24)") == 0, table
    assert counted(alice, "media", "substr(token, 30) <> substr(id, 24)") == 0


def test_new_accounts_and_hubs_draw_their_places(actor: MakeActor) -> None:
    alice = actor()
    hubs = [
        body_of(alice.web.post("/api/hubs", json={"name": "Hub", "slug": f"{alice.account.id[-9:].lower()}-{n}"}), 201)
        for n in range(4)
    ]

    assert len({place_of(alice.account.id), place_of(actor().account.id), *(place_of(hub["id"]) for hub in hubs)}) > 2


def test_every_secret_has_the_place_of_its_account(actor: MakeActor) -> None:
    alice = actor()
    place = place_of(alice.account.id)
    key = body_of(alice.web.post("/api/auth/api-keys", json={"label": "b", "scopes": ["posts:write"]}), 201)["key"]
    transact = alice.server.runtime.db.transact
    link = alice.server.run(transact(issue_token, alice.account.id, Purpose.RESET))
    _, invitation = alice.server.run(transact(invitations.make, SERVICE, alice.account.id, None))

    assert [len(alice.token), len(link), len(key)] == [43, 43, 47]
    assert place_of(key[:-6]) == place
    assert place_of(alice.token) == place_of(link) == place_of(invitation) == place
