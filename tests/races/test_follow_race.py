"""Follows at the same moment: each once, both sides counted, and nobody waits in a circle."""

from collections.abc import Callable

from tests.harness.crowd import crowd, inconsistencies, status_counts
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.wire import at_once

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40
ROUNDS = 5


def test_two_accounts_follow_each_other_and_do_not(race_server: MakeServer) -> None:
    server = race_server()
    alice, bob = crowd(server, 2)

    for _ in range(ROUNDS):
        kinds = [alice.follow(bob), bob.follow(alice), alice.unfollow(bob), bob.unfollow(alice)]
        answers = at_once(kinds * (AT_ONCE // 4))

        assert status_counts(answers) == {200: AT_ONCE}
        both = {row[0] for row in rows(server, "SELECT account_id FROM follows")}
        for member, other in ((alice, bob), (bob, alice)):
            account = member.account()
            assert (account["totalFollowing"], account["totalFollowers"]) == (member.id in both, other.id in both)
    assert inconsistencies(server) == []


def test_forty_accounts_follow_one_and_each_but_once(race_server: MakeServer) -> None:
    server = race_server()
    one, *others = crowd(server, 1 + AT_ONCE)

    copies = at_once([others[0].follow(one)] * AT_ONCE)

    assert status_counts(copies) == {200: AT_ONCE}
    assert count(server, "follows") == others[0].account()["totalFollowing"] == one.account()["totalFollowers"] == 1

    answers = at_once([other.follow(one) for other in others])

    assert status_counts(answers) == {200: AT_ONCE}
    assert one.account()["totalFollowers"] == AT_ONCE
    assert inconsistencies(server) == []


def test_a_ring_of_accounts_follow_the_next_and_the_one_before(race_server: MakeServer) -> None:
    server = race_server()
    ring = crowd(server, AT_ONCE // 2)
    after = [*ring[1:], ring[0]]

    answers = at_once(
        [
            request
            for one, next_one in zip(ring, after, strict=True)
            for request in (one.follow(next_one), next_one.follow(one))
        ]
    )

    assert status_counts(answers) == {200: AT_ONCE}
    assert {(it.account()["totalFollowing"], it.account()["totalFollowers"]) for it in ring} == {(2, 2)}
    assert inconsistencies(server) == []
