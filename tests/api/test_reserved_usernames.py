"""User names that others would take for the service's own: reserved wherever a name is chosen over HTTP."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.accounts.reserved_usernames import RESERVED_USERNAMES
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.domains.sign_up.actions import issue_token
from pressroom.server.routes import ROUTES
from tests.api.actors import nobody
from tests.api.conftest import MakeActor, one_engine
from tests.api.people import next_number
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

ROOT = Path(__file__).parents[2]
SETTINGS = {**ROOMY, "SIGNUP": "open", "RESERVED_USERNAMES": "Acme, acme_news"}
NAMES = ["admin", "Admin", "_a_d_m_i_n", "api", "settings", "login", "support", "root", "pressroom", "ACME", "AcmeNews"]


def new(name: str, **more: str) -> dict[str, str]:
    return {"username": name, "email": f"n{next_number()}@new.example", "password": "nine plums and a kettle", **more}


def fault(answer: httpx.Response) -> tuple[int, str, str]:
    (detail,) = answer.json()["details"]
    return answer.status_code, detail["field"], detail["code"]


RESERVED = (400, "username", "not_allowed")


@one_engine
@pytest.mark.parametrize("name", NAMES)
def test_reserved_name_is_refused_at_sign_up(server: LocalServer, name: str) -> None:
    assert fault(nobody.post(f"{server.base_url}/api/auth/signup", json=new(name))) == RESERVED


@one_engine
def test_name_that_only_holds_a_reserved_one_can_be_taken(server: LocalServer) -> None:
    for name in ("administrata", f"api{next_number()}x", "supporter"):
        assert nobody.post(f"{server.base_url}/api/auth/signup", json=new(name)).status_code == 201


@one_engine
def test_form_of_sign_up_shows_that_a_name_is_reserved(server: LocalServer) -> None:
    answer = nobody.post(f"{server.base_url}/signup", data=new("support"), headers={"Origin": server.base_url})

    assert answer.status_code == 400
    assert "The user name support is reserved." in answer.text


@pytest.mark.parametrize("name", ["root", "acme"])
def test_account_cannot_take_a_reserved_name(actor: MakeActor, name: str) -> None:
    alice = actor()

    assert fault(alice.web.patch("/api/auth/me", json={"username": name})) == RESERVED
    form = {"username": name, "displayName": "Alice"}
    page = alice.web.post("/settings/profile", data=form, headers={"Origin": alice.server.base_url})
    assert page.status_code == 400
    assert "is reserved" in page.text


def test_account_that_has_a_reserved_name_keeps_it(server: LocalServer) -> None:
    account = server.account("Help_Desk")
    token = server.run(server.runtime.db.transact(begin_session, account.id))

    def rename(name: str) -> httpx.Response:
        body = {"username": name, "bio": "Ask us."}
        return nobody.patch(f"{server.base_url}/api/auth/me", json=body, headers={"Cookie": f"session={token}"})

    assert rename("Help_Desk").status_code == 200
    assert rename("help_desk").json()["username"] == "help_desk"
    assert fault(rename("helpdesk")) == RESERVED


def test_first_account_cannot_take_a_reserved_name(local_server: Any) -> None:
    server: LocalServer = local_server()
    token = server.run(server.runtime.db.transact(issue_token)) or ""
    answer = nobody.post(f"{server.base_url}/api/setup", json=new("admin", token=token))
    assert fault(answer) == RESERVED
    assert nobody.post(f"{server.base_url}/api/setup", json=new("kim", token=token)).status_code == 201


@one_engine
def test_operator_makes_an_account_with_a_reserved_name(server: LocalServer) -> None:
    made = server.run(server.runtime.db.transact(create_account, NewAccount("sales", "sales@own.example", "no hash")))
    assert made.username == "sales"


def test_first_parts_of_all_paths_are_reserved() -> None:
    parts = {re.sub(r"[^a-z0-9]", "", route.path.split("/")[1].partition(".")[0]) for route in ROUTES}
    names = {part for part in parts if len(part) > 1} - {"username"}

    assert names - RESERVED_USERNAMES == set()
    assert {name for name in RESERVED_USERNAMES if not re.fullmatch(r"[a-z0-9]+", name)} == set()


def test_reserved_names_are_documented() -> None:
    section = (ROOT / "docs" / "people.md").read_text().partition("### Reserved user names")[2].partition("\n## ")[0]

    assert set(re.findall(r"[a-z0-9]+", section)) >= RESERVED_USERNAMES
