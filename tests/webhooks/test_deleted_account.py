"""The endpoints of an account that is deleted: they hear of the revocation, and then they are gone."""

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.db import Query
from pressroom.domains.moderation.actions import delete_account
from tests.api.actors import Actor
from tests.harness.receiver import answer
from tests.webhooks.clocked import post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING

SETTINGS = DELIVERING

LEFT = Query(
    int,
    "SELECT (SELECT count(*) FROM webhooks WHERE account_id = :id) + (SELECT count(*) FROM events"
    " WHERE account_id = :id) + (SELECT count(*) FROM deliveries WHERE account_id = :id) AS total",
)


def left(who: Actor) -> int:
    """How many rows there are of endpoints, events and deliveries."""
    return who.server.run(who.server.runtime.db.one(LEFT, id=who.account.id)) or 0


def delete(who: Actor) -> None:
    """Deletes the account, and does the part of the job that can be done at once."""
    who.server.run(who.server.runtime.db.transact(delete_account, who.account.username))
    who.server.do_jobs()


def test_endpoints_of_a_deleted_account_get_the_revocation_and_are_removed(
    alice: Actor, endpoint: MakeEndpoint
) -> None:
    hook = endpoint()
    post(alice)
    delete(alice)
    assert left(alice) > 0

    alice.server.deliver()
    assert hook.heard[-1] == "apikey.revoked"
    alice.server.clock.advance(MINUTE)
    alice.server.do_jobs()
    assert left(alice) == 0

    alice.server.clock.advance(HOUR)
    alice.server.do_jobs()
    assert left(alice) == 0


def test_endpoint_that_does_not_answer_delays_deletion_by_at_most_a_day(alice: Actor, endpoint: MakeEndpoint) -> None:
    hook = endpoint("apikey.revoked")
    hook.behave(answer(500))
    delete(alice)
    alice.server.deliver()
    alice.server.clock.advance(HOUR)
    alice.server.do_jobs()
    assert left(alice) > 0

    alice.server.clock.advance(DAY)
    alice.server.do_jobs()
    assert left(alice) == 0
