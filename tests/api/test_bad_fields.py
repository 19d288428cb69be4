"""Every field of every JSON body: all faults are named and nothing is written; good values are accepted."""

import unicodedata
from collections.abc import Callable, Iterator
from itertools import count, cycle
from typing import Any, Final

import httpx
import pytest
from msgspec import inspect

from pressroom.db import Command
from pressroom.domains.accounts.models import Caller
from pressroom.server.routes import API_ROUTES
from pressroom.web.access import Anyone, Keyed
from pressroom.web.routing import Route
from tests.api.actors import Actor, body_of, field_errors, new_client, objections, publish
from tests.api.bad_bodies import Case, all_cases, steps
from tests.api.bad_endpoints import PUBLIC
from tests.api.bad_fields import FIELDS, READER
from tests.api.bad_values import spelled
from tests.api.conftest import one_engine
from tests.api.tables import held
from tests.harness.local import LocalServer
from tests.harness.trials import try_each
from tests.harness.writes import CLIP

SETTINGS = {
    "REQUESTS_PER_MINUTE": 1_000_000,
    "REQUESTS_PER_DAY": 1_000_000,
    "POSTS_PER_MINUTE": 1_000_000,
    "DAILY_CONTENT_QUOTA": 1_000_000,
    "SIGN_IN_FAILURES_PER_ACCOUNT": 10_000,
    "SIGN_IN_FAILURES_PER_ADDRESS": 100_000,
    "RESETS_PER_HOUR": 10_000,
    "SMTP_URL": "smtp://localhost:25?tls=off",
}

POLL = {"options": [str(number) for number in range(10)], "multiple": True}
SUCCESS = {
    "sign_in": 401,
    "confirm_password": 401,
    "add_passkey": 404,
    "rename_passkey": 404,
    "sign_in_with_passkey": 404,
    "confirm_with_passkey": 404,
    "delete_own_account": 422,
    "remove_two_factor": 404,
    "confirm_two_factor": 404,
    "create_report": 404,
    "exclude_from_explore": 422,
    "reset_password": 422,
    "verify_email": 422,
    "sign_in_by_link": 422,
    "set_up": 404,
    "verify_account": 404,
    "set_limits": 404,
    "suspend_account": 404,
    "restore_account": 404,
    "delete_account": 404,
    "revoke_key_of": 404,
    "disable_webhook_of": 404,
    "decide_report": 404,
}
"""Nobody has the password, the code or the link that is tried."""


def routes() -> dict[str, Route[Caller]]:
    """Every route that takes a JSON body."""
    return {route.name: route for route in API_ROUTES if route.takes is not None and route.form is None}


ROUTES = routes()
CASES = list(all_cases())
Named = tuple[str, str]
numbers = count(1)
spellings = cycle((False, True))


NO_MAILS: Final = Command("DELETE FROM sign_up_attempts")


class Stage:
    """Somebody with a post, who can send any body to any route."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.somebody = Actor(server).become_admin()
        self.nobody = new_client(base_url=server.base_url)
        self.post_id = publish(self.somebody)["id"]
        self.draft_id = ""
        self.webhooks = f"/api/auth/api-keys/{self.somebody.record.id}/webhooks"
        endpoint = self.somebody.web.post(self.webhooks, json={"url": PUBLIC, "events": ["post.created"]})
        clip = {"video": ("clip.mp4", CLIP, "video/mp4")}
        self.clip_id: str = body_of(self.somebody.web.post("/api/clips", files=clip), 201)["id"]
        path = f"/api/posts/{self.post_id}/comments"
        self.comment_id: str = body_of(self.somebody.web.post(path, json={"content": "a"}), 201)["id"]
        self.webhook_id: str = body_of(endpoint, 201)["id"]

    def renew(self, operation: str) -> None:
        """With a new post or draft for the operation, if it takes one, and as if no mail had been asked for."""
        self.server.run(self.server.runtime.db.transact(lambda tx: tx.run(NO_MAILS)))
        path = ROUTES[operation].path
        if path.startswith("/api/posts/{id}"):
            self.post_id = publish(self.somebody, poll=POLL)["id"]
        if path.startswith("/api/drafts"):
            for draft in body_of(self.somebody.api.get("/api/drafts"))["drafts"]:
                body_of(self.somebody.api.delete(f"/api/drafts/{draft['id']}"))
            self.draft_id = body_of(self.somebody.api.post("/api/drafts", json={"content": "Not yet"}), 201)["id"]

    def send(self, case: Case, *, escaped: bool, **headers: str) -> httpx.Response:
        """Sends the case's body to its route, as a caller who may call it."""
        route = ROUTES[case.operation]
        body = spelled(case.body, next(numbers), escaped=escaped).encode()
        things = {"clips": self.clip_id, "comments": self.comment_id, "drafts": self.draft_id}
        own = things.get(route.path.split("/")[2], self.post_id)
        path = route.path.replace("{id}", own).replace("{webhookId}", self.webhook_id)
        path = (
            path.replace("{keyId}", self.somebody.record.id)
            .replace("{username}", "nobody_here")
            .replace("{name}", "about")
        )
        return self._client(route, case).request(route.method, path, content=body, headers=headers)

    def check_refused(self, cases: list[Case], field_errors_of: Callable[[httpx.Response], list[Named]]) -> None:
        """Sends the bodies of cases, in both spellings by turns: each names the faults, none writes anything.

        The fields of an operation share most values, so that each kind of fault is sent in both.
        """

        def check(case: Case) -> None:
            answer = self.send(case, escaped=next(spellings), **{"Idempotency-Key": "again"})
            assert answer.status_code == case.said.status, answer.text
            assert sorted(field_errors_of(answer)) == case.field_errors

        def check_writes_nothing(case: Case) -> None:
            before = held(self.server)
            check(case)
            assert held(self.server) == before

        self.renew(cases[0].operation)
        before = held(self.server)
        try_each(cases, check)
        if held(self.server) != before:
            try_each(cases, check_writes_nothing)
            pytest.fail(f"one of them wrote something once: {[*map(str, cases)]}")

    def check_taken(self, case: Case) -> None:
        """Sends the body of a case, which is taken and shown, and makes room for the next."""
        self.renew(case.operation)
        answer = self.send(case, escaped=next(spellings))

        assert answer.status_code == SUCCESS.get(case.operation, ROUTES[case.operation].status), answer.text
        if case.path and FIELDS[case.operation][case.path].kept:
            check_shown(answer.json(), case)
        if case.operation == "create_key":
            revoked = self.somebody.web.delete(f"/api/auth/api-keys/{answer.json()['id']}")
            assert revoked.status_code == 200, "no account has more than five that are active"
        if case.operation == "change_password":
            other = self.somebody.web.post("/api/auth/password", json={"password": "a password that no case has"})
            assert other.status_code == 200, "another case would have the right one"
        if case.operation == "replace_webhook":
            self.webhook_id = answer.json()["id"]
        if case.operation == "create_webhook":
            removed = self.somebody.web.delete(f"{self.webhooks}/{answer.json()['id']}")
            assert removed.status_code == 200, "no key has more than five"

    def close(self) -> None:
        """Hangs up."""
        for client in (*self.somebody.clients(), self.nobody):
            client.close()

    def _client(self, route: Route[Caller], case: Case) -> httpx.Client:
        match route.access:
            case Keyed():
                for_people = case.path.startswith(("comments", "usernames"))
                return self.somebody.web if for_people else self.somebody.api
            case Anyone():
                return self.nobody
            case _:
                return self.somebody.web


@pytest.fixture(scope="module")
def stage(server: LocalServer) -> Iterator[Stage]:
    """The same for all cases: most of them change nothing."""
    server.account(READER)
    stage = Stage(server)
    yield stage
    stage.close()


def paths(info: inspect.Type, at: str = "") -> Iterator[str]:
    """The paths of all fields of a body's type: `poll`, `poll.options`, `poll.options[0]`."""
    match info:
        case inspect.StructType():
            for field in info.fields:
                path = f"{at}.{field.encode_name}".lstrip(".")
                yield path
                yield from paths(field.type, path)
        case inspect.ListType():
            yield f"{at}[0]"
            yield from paths(info.item_type, f"{at}[0]")
        case inspect.UnionType():
            for kind in info.types:
                yield from paths(kind, at)
        case inspect.Metadata():
            yield from paths(info.type, at)
        case _:
            return


def by_operation(status: int) -> pytest.MarkDecorator:
    """Gives a test all cases of an operation that are answered with a status; 0: that are taken."""
    groups: dict[str, list[Case]] = {}
    for case in CASES:
        if case.said.status == status:
            groups.setdefault(case.operation, []).append(case)
    return pytest.mark.parametrize("cases", groups.values(), ids=groups)


def test_no_field_is_forgotten() -> None:
    declared = {name: set(paths(inspect.type_info(route.takes))) for name, route in ROUTES.items() if route.takes}

    assert {name: set(fields) for name, fields in FIELDS.items()} == declared


@one_engine
@by_operation(400)
def test_invalid_input_is_named_and_writes_nothing(stage: Stage, cases: list[Case]) -> None:
    stage.check_refused(cases, field_errors)


@by_operation(422)
def test_unknown_names_are_refused_and_write_nothing(stage: Stage, cases: list[Case]) -> None:
    stage.check_refused(cases, objections)


@by_operation(0)
def test_valid_values_are_accepted(stage: Stage, cases: list[Case]) -> None:
    try_each(cases, stage.check_taken)


WRITES_NOTHING = {
    *("preview_redelivery", "preview_post", "confirm_two_factor", "remove_two_factor", "set_up", "create_report"),
    *("verify_account", "set_limits", "suspend_account", "restore_account", "delete_account", "delete_own_account"),
    "decide_report",
    *("add_passkey", "rename_passkey", "sign_in_with_passkey", "confirm_with_passkey"),
    *("accept_follow_requests", "read_notifications", "revoke_key_of", "disable_webhook_of"),
}
"""Operations that take a body only to answer it, or find nothing to do."""


@one_engine
@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if case.name == "good" and SUCCESS.get(case.operation) != 422 and case.operation not in WRITES_NOTHING
    ],
    ids=str,
)
def test_accepted_values_would_show_in_the_database(stage: Stage, case: Case) -> None:
    newcomer = Stage(stage.server)
    newcomer.renew(case.operation)
    before = held(stage.server)

    newcomer.send(case, escaped=False)

    assert held(stage.server) != before
    newcomer.close()


def check_shown(shown: Any, case: Case) -> None:
    """Where the answer has such a field, it shows the sent value, in normal form C."""
    for step in steps(case.path):
        if not shown or (isinstance(shown, dict) and step not in shown):
            return
        shown = shown[step]
    if isinstance(shown, dict):
        shown = shown.get("text")
    match case.value:
        case str() as text if text.strip():
            assert shown == unicodedata.normalize("NFC", text)
        case int() | float() as number:
            assert shown == number
        case _:
            return
