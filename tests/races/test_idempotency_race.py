"""Copies of one create, sent at the same moment under one Idempotency-Key: one effect, one answer for all."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.harness.days import stay_within_a_day
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.wire import Reply, Request, ask, at_once

MakeServer = Callable[..., ServerProcess]

COPIES = 50


def test_fifty_copies_make_one_post(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)
    key = owner.key()

    for n in range(1, 11):
        answers = at_once([publish(server, key, f"post {n}", f"key-{n}")] * COPIES)

        assert_one_made_and_the_rest_replayed(answers)
        assert count(server, "posts") == n
        assert count(server, "events") == n
        assert rows(server, "SELECT sum(used) FROM content_quotas") == [(n,)]
    assert ask(who_am_i(server, key)).json()["totalPosts"] == 10


def test_two_keys_of_an_account_share_an_idempotency_key(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)
    keys = [owner.key("first"), owner.key("second")]

    answers = at_once([publish(server, keys[n % 2], "post", "shared") for n in range(COPIES)])

    assert_one_made_and_the_rest_replayed(answers)
    assert count(server, "posts") == 1


def test_copies_share_the_last_unit_of_the_quota(race_server: MakeServer) -> None:
    stay_within_a_day()
    server = race_server(DAILY_CONTENT_QUOTA=3)
    key = Owner(server).key()
    assert [ask(publish(server, key, text)).status for text in ("first", "second")] == [201, 201]

    answers = at_once([publish(server, key, "last", "key")] * COPIES)

    assert_one_made_and_the_rest_replayed(answers)
    assert rows(server, "SELECT used FROM content_quotas") == [(3,)]
    assert count(server, "posts") == 3


def test_copies_without_quota_are_all_refused_and_leave_the_key_free(race_server: MakeServer) -> None:
    stay_within_a_day()
    server = race_server(DAILY_CONTENT_QUOTA=0)
    key = Owner(server).key()

    answers = at_once([publish(server, key, "none", "key")] * COPIES)

    assert {answer.status for answer in answers} == {429}
    assert {answer.json()["error"] for answer in answers} == {"Daily content quota exceeded"}
    assert count(server, "idempotent_answers") == count(server, "posts") == 0


@dataclass(frozen=True, slots=True)
class Submission(Request):
    """A form of a page."""

    form: str = ""

    @property
    def content(self) -> bytes:
        return self.form.encode()


def submission(server: ServerProcess, owner: Owner, **fields: str) -> Submission:
    """The form of the compose box."""
    form = urlencode(fields)
    headers = {"Cookie": owner.cookie, "Sec-Fetch-Site": "same-origin", "Content-Length": str(len(form))}
    return Submission(server.port, "POST", "/", headers, form=form)


def test_upload_and_its_call_off_at_once_agree(race_server: MakeServer) -> None:
    server = race_server(SESSION_WRITES_PER_MINUTE=10_000)
    owner = Owner(server)

    for n in range(30):
        key = f"key-{n}"
        sent = submission(server, owner, content=f"post {n}", idempotency_key=key)
        called_off = submission(server, owner, called_off="true", idempotency_key=key)
        pair = [sent, called_off] if n % 2 else [called_off, sent]
        published = count(server, "posts")

        answers = at_once(pair)

        told = next(answer.json() for answer in answers if answer.status == 200)
        form_status = next(answer.status for answer in answers if answer.status != 200)
        assert (count(server, "posts") - published, form_status) == ((1, 303) if told["wasDone"] else (0, 409))


def assert_one_made_and_the_rest_replayed(answers: list[Reply]) -> None:
    """One 201; every other answer is a 200 that says it is a replay; all have the same body."""
    told = Counter((answer.status, answer.headers.get("idempotent-replayed")) for answer in answers)
    assert told == {(201, None): 1, (200, "true"): COPIES - 1}
    assert len({answer.body for answer in answers}) == 1
