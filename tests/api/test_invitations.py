"""Invitations: a link that an admin makes is good for one account, for 7 days, unless it is revoked."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from pressroom.clock import DAY
from pressroom.db import Query
from pressroom.domains.moderation import actions as moderation
from tests.api.actors import Actor, body_of, new_client, nobody, objections, refusal, rows
from tests.api.conftest import MakeActor
from tests.api.people import next_number
from tests.api.tables import held
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page

SETTINGS = {**ROOMY, "SIGNUP": "invite"}
PASSWORD = "nine plums and a kettle"
ALL = "/api/admin/invitations"
STORED = Query(str, "SELECT token_hash FROM invitations WHERE id = :id")
ANSWERS = Query(str, "SELECT CAST(body AS TEXT) AS body FROM idempotent_answers WHERE path = :path")


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    return actor().become_admin()


def invite(admin: Actor, **body: str) -> tuple[dict[str, Any], str]:
    """A new invitation, and the token in its link."""
    made = body_of(admin.web.post(ALL, json=body), 201)
    address, _, token = made["url"].partition("?invite=")
    assert address == f"{admin.server.base_url}/signup"
    return made, token


def newcomer(**more: str) -> dict[str, str]:
    name = f"newcomer{next_number()}"
    return {"username": name, "email": f"{name}@example.org", "password": PASSWORD, **more}


def sign_up(server: LocalServer, **more: str) -> httpx.Response:
    return nobody.post(f"{server.base_url}/api/auth/signup", json=newcomer(**more))


def shown(admin: Actor, invitation: dict[str, Any]) -> dict[str, Any]:
    return body_of(admin.web.get(f"{ALL}/{invitation['id']}"))


@pytest.mark.parametrize("end", ["no admin any more", "suspended", "deleted"])
def test_a_link_ends_with_the_rights_of_its_maker(actor: MakeActor, admin: Actor, end: str) -> None:
    other, db, name = actor().become_admin(), admin.server.runtime.db, admin.account.username
    made, token = invite(admin)
    assert shown(other, made)["status"] == "open"
    acts = {
        "no admin any more": lambda: db.transact(moderation.set_admin, name, is_admin=False),
        "suspended": lambda: db.transact(moderation.suspend_account, name),
        "deleted": lambda: db.transact(moderation.delete_account, name),
    }
    admin.server.run(acts[end]())

    assert objections(sign_up(admin.server, invite=token)) == [("invite", "not_allowed")]
    assert shown(other, made)["status"] == "revoked"


def test_a_link_makes_one_account(admin: Actor) -> None:
    made, token = invite(admin, note="For Otto")
    assert (made["status"], made["note"], made["madeBy"]) == ("open", "For Otto", admin.account.username)

    first = body_of(sign_up(admin.server, invite=token), 201)

    assert objections(sign_up(admin.server, invite=token)) == [("invite", "not_allowed")]
    used = shown(admin, made)
    assert (used["status"], used["usedBy"]) == ("used", first["username"])
    assert "url" not in used
    assert refusal(admin.web.delete(f"{ALL}/{made['id']}")) == (409, "Conflict")


def test_without_a_link_nobody_signs_up(admin: Actor) -> None:
    before = held(admin.server)["accounts"]

    for more in ({}, {"invite": ""}, {"invite": "x"}, {"invite": "A" * 43}):
        assert objections(sign_up(admin.server, **more)) == [("invite", "not_allowed")]

    assert held(admin.server)["accounts"] == before


def test_a_refused_sign_up_leaves_the_link_good(admin: Actor) -> None:
    made, token = invite(admin)

    taken = sign_up(admin.server, invite=token, username=admin.account.username)

    assert refusal(taken) == (409, "Conflict")
    assert shown(admin, made)["status"] == "open"
    assert sign_up(admin.server, invite=token).status_code == 201


def test_a_link_ends_after_seven_days(admin: Actor) -> None:
    made, token = invite(admin)
    admin.server.clock.advance(7 * DAY)

    assert objections(sign_up(admin.server, invite=token)) == [("invite", "not_allowed")]
    assert shown(admin, made)["status"] == "expired"


def test_a_link_is_revoked(admin: Actor) -> None:
    made, token = invite(admin)

    assert body_of(admin.web.delete(f"{ALL}/{made['id']}"))["status"] == "revoked"

    assert objections(sign_up(admin.server, invite=token)) == [("invite", "not_allowed")]
    assert refusal(admin.web.delete(f"{ALL}/{made['id']}")) == (409, "Conflict")
    kinds = {entry["kind"] for entry in body_of(admin.web.get("/api/admin/log?limit=100"))["entries"]}
    assert kinds >= {"invitation.made", "invitation.revoked"}


def test_two_at_once_use_it_once(admin: Actor) -> None:
    _, token = invite(admin)
    before = held(admin.server)["accounts"].rows

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: sign_up(admin.server, invite=token).status_code, range(4)))

    assert sorted(answers) == [201, 422, 422, 422]
    assert held(admin.server)["accounts"].rows == before + 1


def test_invitations_are_listed_newest_first(admin: Actor) -> None:
    made = []
    for number in range(3):
        admin.server.clock.advance(1)
        made.append(invite(admin, note=f"Number {number}")[0]["id"])

    page = body_of(admin.web.get(f"{ALL}?limit=2"))
    rest = body_of(admin.web.get(f"{ALL}?limit=1&cursor={page['nextCursor']}"))

    assert [each["id"] for each in (*page["invitations"], *rest["invitations"])] == made[::-1]


def test_a_link_is_shown_once_and_stored_nowhere(admin: Actor) -> None:
    headers = {"Idempotency-Key": "once"}
    first = body_of(admin.web.post(ALL, json={"note": "a"}, headers=headers), 201)
    again = body_of(admin.web.post(ALL, json={"note": "a"}, headers=headers))

    assert again == {**first, "url": None}
    token = first["url"].partition("=")[2]
    assert token not in rows(admin.server, STORED, id=first["id"])[0]
    assert not [answer for answer in rows(admin.server, ANSWERS, path=ALL) if token in answer]
    revoked = [admin.web.delete(f"{ALL}/{first['id']}", headers=headers) for _ in range(2)]
    assert [answer.json()["status"] for answer in revoked] == ["revoked", "revoked"]


def test_unknown_invitation_is_404(admin: Actor) -> None:
    for other in (admin.account.id, "none"):
        for method in ("GET", "DELETE"):
            answer = admin.web.request(method, f"{ALL}/{other}")
            assert body_of(answer, 404)["message"] == "There is no such invitation."


def test_the_page_signs_up_with_it(admin: Actor) -> None:
    _, token = invite(admin)
    address = f"{admin.server.base_url}/signup"
    page = nobody.get(address, params={"invite": token})
    assert page.status_code == 200
    assert Page(page.text).has(f"[name='invite'][value='{token}']")
    assert page.headers["Referrer-Policy"] == "origin"

    body = newcomer(invite=token)
    answers = [nobody.post(address, data=body) for _ in range(2)]

    assert [answer.headers.get("Location") for answer in answers] == ["/?done=signed-up"] * 2
    spent = nobody.get(address, params={"invite": token})
    assert spent.status_code == 404
    assert "does not hold any more" in spent.text
    assert nobody.post(address, data=newcomer(invite=token)).status_code == 404
    assert nobody.get(address).status_code == 404
    assert "by invitation" in nobody.get(address).text
    assert token not in admin.server.stream.getvalue()


def test_the_page_of_an_admin_makes_and_revokes_them(admin: Actor) -> None:
    form = {"note": "For <Otto>", "idempotency_key": "one-form"}
    made, again = (admin.web.post("/admin/invitations", data=form) for _ in range(2))
    assert "/signup?invite=" in made.text
    assert "/signup?invite=" not in again.text
    (newest, *_) = body_of(admin.web.get(ALL))["invitations"]

    answer = admin.web.post(f"/admin/invitations/{newest['id']}/revoke")

    assert answer.headers["Location"] == "/admin/invitations?done=invitation-revoked"
    assert shown(admin, newest)["status"] == "revoked"
    assert admin.web.post(f"/admin/invitations/{newest['id']}/revoke").status_code == 409
    with new_client(base_url=admin.server.base_url) as stranger:
        assert stranger.get("/admin/invitations").headers["Location"].startswith("/login")


@pytest.mark.parametrize(("mode", "status"), [("open", 201), ("closed", 404)])
def test_elsewhere_an_invitation_changes_nothing(
    local_server: Callable[..., LocalServer], mode: str, status: int
) -> None:
    server = local_server(**{**ROOMY, "SIGNUP": mode})

    assert sign_up(server, invite="x").status_code == status
    assert sign_up(server).status_code == status
