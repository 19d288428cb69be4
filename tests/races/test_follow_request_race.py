"""Requests to follow a private account, against all that can become of them at the same moment."""

from collections.abc import Callable

from tests.harness.crowd import Member, crowd, inconsistencies, published, status_counts
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import Request, ask, at_once
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40
ROUNDS = 5
BOTH = (
    "SELECT count(*) FROM follows f JOIN follow_requests r"
    " ON r.account_id = f.account_id AND r.followed_id = f.followed_id"
)


def waiting(server: ServerProcess) -> set[str]:
    """Who waits, whomever they asked."""
    return {row[0] for row in rows(server, "SELECT account_id FROM follow_requests")}


def following(server: ServerProcess) -> set[str]:
    """Who follows, whomever."""
    return {row[0] for row in rows(server, "SELECT account_id FROM follows")}


def has_settled(server: ServerProcess) -> bool:
    """Whether no job is left to be done."""
    return rows(server, "SELECT count(*) FROM jobs") == [(0,)]


def test_a_request_is_accepted_rejected_or_withdrawn(race_server: MakeServer) -> None:
    server = race_server()
    owner, *others = crowd(server, 1 + AT_ONCE // 2)
    ask(owner.set_private(private=True))

    for _ in range(ROUNDS):
        assert status_counts(at_once([other.follow(owner) for other in others])) == {200: len(others)}
        assert waiting(server) == {other.id for other in others}
        verbs = [owner.accept, owner.reject, lambda other: other.unfollow(owner), owner.accept]
        answers = at_once([verb(other) for other in others for verb in verbs])

        assert status_counts(answers).keys() <= {200, 404}
        assert waiting(server) == set()
        assert rows(server, BOTH) == [(0,)]
        assert owner.account()["totalFollowers"] == len(following(server))
        at_once([owner.remove(other) for other in others for _ in range(2)])
        assert following(server) == set()
        assert owner.account()["totalFollowers"] == 0
    assert inconsistencies(server) == []


def test_follower_is_accepted_once(race_server: MakeServer) -> None:
    server = race_server()
    owner, other = crowd(server, 2)
    ask(owner.set_private(private=True))

    for _ in range(ROUNDS):
        assert ask(other.follow(owner)).json() == {"following": False, "requested": True}
        answers = at_once([owner.accept(other), owner.reject(other)] * (AT_ONCE // 2))

        heard = {answer.body for answer in answers if answer.status == 200}
        assert len(heard) == 1, "accepted or rejected, not both"
        assert following(server) == ({other.id} if b"true" in heard.pop() else set())
        ask(other.unfollow(owner))
    assert inconsistencies(server) == []


def test_following_a_public_account_is_immediate(race_server: MakeServer) -> None:
    server = race_server()
    owner, *others = crowd(server, 1 + AT_ONCE)
    turns = [owner.set_private(private=private) for private in (False, True, False)]

    for _ in range(ROUNDS):
        ask(owner.set_private(private=True))
        at_once([other.follow(owner) for other in others[: AT_ONCE // 2]])
        late: list[Request] = [other.follow(owner) for other in others[AT_ONCE // 2 :]]
        answers = at_once([*late[:10], *turns, *late[10:], *(other.unfollow(owner) for other in others[:5])])
        assert status_counts(answers) == {200: len(answers)}
        assert ask(owner.set_private(private=False)).status == 200

        assert wait_until(lambda: has_settled(server))
        assert waiting(server) == set()
        assert (
            following(server)
            == {other.id for other in others[5:]}
            == {it.id for it in others} - {it.id for it in others[:5]}
        )
        assert owner.account()["totalFollowers"] == len(others) - 5
        at_once([owner.remove(other) for other in others])
    assert inconsistencies(server) == []


def test_posts_made_while_an_account_turns_are_on_tag_pages_or_not(race_server: MakeServer) -> None:
    server = race_server()
    owner, other = crowd(server, 2)
    old = [published(owner, f"Old {number} #harbour") for number in range(8)]

    for turn in range(2 * ROUNDS):
        private = turn % 2 == 0
        answers = at_once(
            [
                *(owner.publish(f"New {turn} {number} #harbour #bridge") for number in range(6)),
                owner.set_private(private=private),
                *(owner.edit(post_id, content=f"Turn {turn} #harbour") for post_id in old),
                other.publish(f"Other {turn} #harbour"),
                owner.set_private(private=not private),
                owner.set_private(private=private),
            ]
        )
        assert set(status_counts(answers)) == {200, 201}
        ask(owner.set_private(private=private))

        assert wait_until(lambda: has_settled(server))
        hidden = rows(server, f"SELECT DISTINCT hidden FROM post_tags WHERE account_id = '{owner.id}'")  # noqa: S608
        assert [bool(row[0]) for row in hidden] == [private]
    assert inconsistencies(server) == []


def test_a_name_goes_to_one_account_and_is_kept(race_server: MakeServer) -> None:
    server = race_server()
    owner, *others = crowd(server, AT_ONCE // 2)

    answers = at_once([owner.rename("somebody_else"), *(other.rename(owner.username) for other in others)])

    assert status_counts(answers) == {200: 1, 409: len(others)}
    assert ask(owner.signed_in("GET", "/api/auth/me")).json()["username"] == "somebody_else"
    assert status_counts(at_once([owner.rename(owner.username), *(_rename(each, owner) for each in others)]))[200] == 1
    assert inconsistencies(server) == []


def _rename(who: Member, owner: Member) -> Request:
    return who.rename(owner.username.upper())
