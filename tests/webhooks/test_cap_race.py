"""Twenty endpoints added to one key at the same moment: the cap holds, on both engines."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Reply, Request, ask, at_once
from tests.webhooks.endpoints import webhooks_of

RACERS = 20

KEPT = "SELECT id FROM webhooks WHERE removed_at IS NULL"


class Racing:
    """A server process, and somebody on it with a key."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.owner = Owner(server)
        self.key_id: str = self.owner.new_key().json()["id"]

    def request(self, method: str, rest: str = "", body: dict[str, object] | None = None) -> Request:
        """A request of the owner's to the key's endpoints."""
        return Request(self.server.port, method, webhooks_of(self.key_id) + rest, {"Cookie": self.owner.cookie}, body)

    def adding(self, number: int) -> Request:
        """The request that adds an endpoint. Nothing listens there, and nothing is sent."""
        return self.request("POST", "", {"url": f"http://127.0.0.1:9/{number}", "events": ["post.created"]})


@pytest.fixture
def racing(process_server: Callable[..., ServerProcess], engine_settings: dict[str, object]) -> Racing:
    """Somebody with a key on a server without limits."""
    return Racing(process_server(**{**ROOMY, **engine_settings, "DEV": 1}).migrate().start())


def statuses(answers: list[Reply]) -> Counter[int]:
    """How often which status was answered."""
    assert {answer.json()["error"] for answer in answers if answer.status == 409} == {"Conflict"}
    return Counter(answer.status for answer in answers)


def test_twenty_additions_at_once_make_five_endpoints(racing: Racing) -> None:
    answers = at_once([racing.adding(number) for number in range(RACERS)])

    assert statuses(answers) == {201: 5, 409: RACERS - 5}
    made = {answer.json()["id"] for answer in answers if answer.status == 201}
    assert {webhook["id"] for webhook in ask(racing.request("GET")).json()["webhooks"]} == made
    assert {kept for (kept,) in rows(racing.server, KEPT)} == made


def test_one_place_that_became_free_is_given_once(racing: Racing) -> None:
    made = [ask(racing.adding(number)).json()["id"] for number in range(5)]
    assert ask(racing.request("DELETE", f"/{made[0]}")).status == 200

    answers = at_once([racing.adding(number) for number in range(RACERS)])

    assert statuses(answers) == {201: 1, 409: RACERS - 1}
    assert len(rows(racing.server, KEPT)) == 5
