"""Every act on an account is in its audit log exactly once, and no refused or rolled-back one is."""

import pytest

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.db import Query, Tx
from pressroom.domains.audit import actions
from pressroom.domains.audit.models import OPERATOR, Entry, Kind, Source
from pressroom.domains.audit.queries import list_admin_entries, list_entries
from tests.api.actors import Actor, rows
from tests.harness.local import LocalServer

HOME = "198.51.100.7"
KINDS = Query(str, "SELECT kind FROM audit_entries WHERE account_id = :account_id ORDER BY id")


def log_of(who: Actor) -> list[Entry]:
    """The account's log, newest first."""
    return who.server.run(who.server.runtime.db.read(list_entries, who.account.id, "~", 100))


def test_rolled_back_acts_are_not_logged(alice: Actor) -> None:
    before = rows(alice.server, KINDS, account_id=alice.account.id)

    async def fail(tx: Tx) -> None:
        await actions.record(tx, alice.account.id, Kind.KEY_MADE, Source(HOME), label="One")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        alice.server.run(alice.server.runtime.db.transact(fail))
    assert rows(alice.server, KINDS, account_id=alice.account.id) == before


def test_failures_from_one_address_in_an_hour_are_one_entry(alice: Actor) -> None:
    server, account_id = alice.server, alice.account.id
    server.clock.advance(HOUR - server.clock.now() % HOUR)
    for address in (HOME, HOME, "203.0.113.9", HOME):
        server.run(server.runtime.db.transact(actions.count, account_id, Kind.SIGN_IN_FAILED, address))
    server.clock.advance(HOUR)
    server.run(server.runtime.db.transact(actions.count, account_id, Kind.SIGN_IN_FAILED, HOME))
    failures = [entry for entry in log_of(alice) if entry.kind == "sign-in.failed"]
    assert [(entry.address, entry.times) for entry in failures] == [(HOME, 1), ("203.0.113.9", 1), (HOME, 3)]


def test_entry_of_several_failures_has_the_time_of_the_last(alice: Actor) -> None:
    server, account_id = alice.server, alice.account.id
    server.clock.advance(HOUR - server.clock.now() % HOUR)
    for _ in range(2):
        server.clock.advance(MINUTE)
        server.run(server.runtime.db.transact(actions.count, account_id, Kind.SIGN_IN_FAILED, HOME))

    assert (log_of(alice)[0].times, log_of(alice)[0].at) == (2, server.clock.now())


def test_values_are_short_and_an_act_of_the_operator_is_listed_as_such(alice: Actor) -> None:
    server, account_id = alice.server, alice.account.id
    server.run(
        server.runtime.db.transact(
            actions.record, account_id, Kind.ACCOUNT_SUSPENDED, OPERATOR, reason="é" * 500, other=None
        )
    )
    entry = log_of(alice)[0]
    assert entry.detail == '{"reason":"' + "é" * 300 + '"}'
    assert (entry.actor, entry.address, entry.admin) == ("operator", "", None)
    admin_acts = server.run(server.runtime.db.read(list_admin_entries, "~", 100))
    assert entry in admin_acts
    assert all(each.actor == "operator" for each in admin_acts)


def test_deleted_account_keeps_acts_of_admins(alice: Actor) -> None:
    server, account_id = alice.server, alice.account.id
    transact = server.runtime.db.transact
    server.run(transact(actions.record, account_id, Kind.KEY_MADE, Source(HOME)))
    server.run(transact(actions.record, account_id, Kind.KEY_REVOKED, OPERATOR, label="Mine", reason="It leaked"))
    server.run(transact(actions.record, account_id, Kind.ACCOUNT_DELETED, OPERATOR))
    while server.run(transact(actions.erase_entries, account_id, 1)):
        pass
    assert [entry.kind for entry in log_of(alice)] == ["account.deleted", "key.revoked", "account.created"]
    assert log_of(alice)[1].detail == '{"reason":"It leaked"}'


def test_entries_go_after_a_year(server: LocalServer) -> None:
    transact = server.runtime.db.transact
    server.run(transact(actions.record, "", Kind.JOB_RETRIED, OPERATOR))
    server.clock.advance(364 * DAY)
    server.run(transact(actions.record, "", Kind.JOB_RETRIED, OPERATOR))
    server.clock.advance(DAY)
    while server.run(transact(actions.purge_entries, 2)):
        pass
    assert rows(server, KINDS, account_id="") == ["job.retried"]
