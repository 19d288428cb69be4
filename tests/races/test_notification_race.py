"""Acts about one post at the same moment: one notification for all likes, exact notifications, and no deadlock."""

from collections.abc import Callable

from tests.harness.crowd import Member, crowd, inconsistencies, made, published, status_counts
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import Reply, ask, at_once

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40
OTHERS = 20
ROUNDS = 4
NEWEST = "7" + "Z" * 25


def heard(who: Member) -> list[dict[str, object]]:
    """The account's notifications, newest first."""
    answer = ask(who.signed_in("GET", "/api/notifications?limit=100"))
    assert answer.status == 200, answer
    found: list[dict[str, object]] = answer.json()["notifications"]
    return found


def refused(answers: list[Reply]) -> set[int]:
    """The statuses of answers other than success."""
    return set(status_counts(answers)) - {200, 201}


def test_forty_likes_at_once_are_one_notification(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + AT_ONCE)
    post_id = published(author)

    assert refused(at_once([other.like(post_id) for other in others])) == set()

    (told,) = heard(author)
    assert (told["type"], told["postId"], told["others"], told["readAt"]) == ("like", post_id, AT_ONCE - 1, None)
    assert refused(at_once([other.unlike(post_id) for other in others])) == set()
    assert heard(author) == []
    assert inconsistencies(server) == []


def test_likes_given_taken_back_and_read_at_once(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + OTHERS)
    posts = [published(author, f"post {number}") for number in range(2)]

    for _ in range(ROUNDS):
        acts = [act for other in others for post_id in posts for act in (other.like(post_id), other.unlike(post_id))]
        assert refused(at_once([*acts, *[author.read(NEWEST)] * 5])) == set()

    assert inconsistencies(server) == []


def test_all_acts_while_the_post_is_deleted(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + OTHERS)

    for number in range(ROUNDS):
        post_id = published(author, f"post {number}")
        comment_id = made(ask(others[0].comment(post_id, "first")))
        acts = [
            *(other.like(post_id) for other in others),
            *(other.unlike(post_id) for other in others[::2]),
            *(other.bounce(post_id) for other in others),
            *(other.bounce(post_id, "a quote") for other in others[::3]),
            *(other.comment(post_id, "a comment", parentId=comment_id) for other in others[::2]),
            author.read(NEWEST),
        ]
        place = len(acts) * (number + 1) // (ROUNDS + 1)
        answers = at_once([*acts[:place], author.delete(post_id), *acts[place:]])
        assert refused(answers) <= {404, 422}

    assert {told["type"] for told in heard(author)} <= {"quote"}, "quotes stand, and nothing of the deleted posts"
    assert inconsistencies(server) == []


def test_bounces_are_deleted_at_once(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + OTHERS)
    post_id = published(author)
    bounces = [made(answer) for answer in at_once([other.bounce(post_id) for other in others])]
    (told,) = heard(author)
    assert told["others"] == OTHERS - 1

    kept = OTHERS // 2
    deletions = [other.delete(bounce) for other, bounce in zip(others[kept:], bounces[kept:], strict=True)]
    assert refused(at_once(deletions)) == set()

    (told,) = heard(author)
    assert told["others"] == kept - 1
    assert rows(server, "SELECT count(*) FROM notifications WHERE type = 'bounce'") == [(1,)]
    assert inconsistencies(server) == []


def test_two_accounts_do_everything_to_each_other_at_once(race_server: MakeServer) -> None:
    server = race_server()
    alice, bob = crowd(server, 2)
    posts = {who.id: published(who) for who in (alice, bob)}

    for number in range(ROUNDS):
        acts = [
            act
            for who, other in ((alice, bob), (bob, alice))
            for act in (
                who.follow(other),
                who.unfollow(other),
                who.like(posts[other.id]),
                who.unlike(posts[other.id]),
                who.comment(posts[other.id], f"comment {number}"),
                who.bounce(posts[other.id], f"quote {number}"),
                who.publish(f"number {number}, @{other.username}"),
                who.read(NEWEST),
            )
        ]
        assert refused(at_once(acts * 2)) == set()

    assert inconsistencies(server) == []
