"""Somebody takes a copy of everything with them and deletes the account: in the browser, with script and without."""

import zipfile
from pathlib import Path
from typing import Final

import httpx
import pytest

from pressroom.clock import HOUR
from pressroom.domains.sign_in.credentials import set_password
from tests.api.actors import Actor, body_of, new_client, nobody, publish
from tests.api.conftest import MakeActor
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.roomy import ROOMY
from tests.pages.hands import Keyboard, Mouse, Scriptless

pytestmark = needs_chromium

SETTINGS = ROOMY
PASSWORD: Final = "seven boats by the pier"
HANDS: Final = {"script": Mouse, "no script": Scriptless, "keyboard": Keyboard}


def choose_password(who: Actor) -> None:
    """Gives the account a password, and its tab another session."""
    server = who.server
    password_hash = server.run(server.runtime.passwords.hash(PASSWORD, "test"))
    server.run(server.runtime.db.transact(set_password, who.account.id, password_hash))
    login = {"login": who.account.username, "password": PASSWORD}
    answer = httpx.post(f"{server.base_url}/api/auth/login", json=login)
    who.token = answer.cookies["session"]


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("hands", HANDS)
def test_a_copy_and_then_the_end(actor: MakeActor, open_tab: OpenTab, hands: str, tmp_path: Path) -> None:
    alice = actor()
    server, name = alice.server, alice.account.username
    post = publish(alice, "The tide is out")
    choose_password(alice)
    tab = open_tab(server, alice, java_script_enabled=hands != "no script")
    page, hand = tab.page, HANDS[hands](tab.page)

    def press(role: str, label: str) -> None:
        hand.press(page.get_by_role(role, name=label).first)  # pyright: ignore[reportArgumentType]  # one of two

    tab.open("/settings/data")
    press("button", "Make a copy")
    hand.await_sight(lambda: page.get_by_text("Your copy is being made").first)
    server.do_jobs()
    tab.open("/settings/data")
    with page.expect_download() as download:
        press("link", "Download")
    saved = tmp_path / "copy.zip"
    download.value.save_as(saved)
    with zipfile.ZipFile(saved) as archive:
        assert b"The tide is out" in archive.read("posts.json")

    press("link", "Delete the account")
    hand.write(page.get_by_label("User name", exact=True).first, "somebody_else")
    hand.write(page.get_by_label("Password", exact=True).first, PASSWORD)
    press("button", "Delete my account for good")
    hand.await_sight(lambda: page.get_by_text("That is not the user name of this account").first)
    tab.reports.clear()  # the browser complains of the 422
    username = page.get_by_label("User name", exact=True).first
    username.fill("")
    hand.write(username, name)
    hand.write(page.get_by_label("Password", exact=True).first, PASSWORD)
    press("button", "Delete my account for good")
    hand.await_sight(lambda: page.get_by_text("Your account is deleted").first)
    assert tab.session == ""

    for _ in range(2):
        server.do_jobs()
        server.clock.advance(HOUR)
    paths = (f"/post/{post['id']}", f"/@{name}")
    assert [nobody.get(server.base_url + path).status_code for path in paths] == [410, 410]
    with new_client(base_url=server.base_url) as web:
        login = {"login": name, "password": PASSWORD}
        assert web.post("/api/auth/login", json=login).status_code == 401
        body_of(web.get(f"/api/posts/{post['id']}"), 404)
