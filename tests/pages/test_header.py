"""The head and foot of every page: where somebody who is signed in can go, and how much is unread."""

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from pressroom.web.avatars import initials
from tests.api.actors import Actor
from tests.harness.local import LocalServer


def page(actor: Actor, path: str = "/") -> LexborHTMLParser:
    """A page as an actor sees it."""
    response = actor.web.get(path)
    assert response.status_code == 200, response.text
    return LexborHTMLParser(response.text)


def test_it_leads_to_the_own_places(alice: Actor) -> None:
    tree = page(alice, "/settings/keys")
    links = [link.attributes.get("href") for link in tree.css("header a")]
    assert [links[0], "/docs"] == ["/", links[-1]]
    assert {"/", "/settings", f"/@{alice.account.username}"} <= set(links)
    assert "/admin" not in links
    (here,) = tree.css("header [aria-current]")
    assert here.attributes == {"href": "/settings", "aria-current": "true"}
    assert tree.css_first("header form[action='/logout'] button") is not None


def test_signed_out_there_is_nothing_of_an_account(server: LocalServer, alice: Actor) -> None:
    tree = LexborHTMLParser(httpx.get(f"{server.base_url}/").text)
    assert [link.attributes.get("href") for link in tree.css("header a")] == ["/", "/docs", "/login"]
    assert tree.css_first("header form") is None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Mira de Vries", "MV"),
        ("mira", "M"),
        ("  “Émile” (x) Zola!", "ÉZ"),
        ("ßeta Δ", "SΔ"),
        ("山田 太郎", "山太"),
        ("\u202eevil\u202c 9 lives", "EL"),
        ("<b>", "B"),
        ("🎈🎉", "🎈"),
        ("\u200b", "?"),
        ("", "?"),
    ],
)
def test_initials(name: str, shown: str) -> None:
    assert initials(name) == shown


def test_colours_are_those_of_the_system_until_one_chooses(alice: Actor, server: LocalServer) -> None:
    root = "html[data-theme=dark]"
    assert page(alice).css_first("html[data-theme]") is None

    answer = alice.web.post("/settings/appearance", data={"theme": "dark"}, headers={"Sec-Fetch-Site": "same-origin"})

    assert (answer.status_code, answer.headers["location"]) == (303, "/settings/appearance?done=appearance-saved")
    assert "Max-Age=31536000" in answer.headers["set-cookie"]
    cookies = {"theme": "dark"}
    for path in ("/login", f"/@{alice.account.username}", "/nowhere"):
        shown = LexborHTMLParser(httpx.get(f"{server.base_url}{path}", cookies=cookies).text)
        assert shown.css_first(root) is not None, path
    for other in ("sepia", '"><b>', ""):
        shown = LexborHTMLParser(httpx.get(f"{server.base_url}/login", cookies={"theme": other}).text)
        assert shown.css_first("html[data-theme]") is None, other


def test_unknown_colours_are_refused(alice: Actor) -> None:
    answer = alice.web.post("/settings/appearance", data={"theme": "sepia"}, headers={"Sec-Fetch-Site": "same-origin"})

    assert answer.status_code == 400
    assert LexborHTMLParser(answer.text).css_first("#errors a[href='#f-theme']") is not None
