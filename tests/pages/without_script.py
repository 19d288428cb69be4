"""A browser without script, as far as pages need one: cookies, forms, and the text of a page."""

from http.cookies import SimpleCookie
from typing import Any

import httpx
from pyotp.totp import TOTP
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.api.actors import new_client
from tests.api.people import PASSWORD, Person


class Browser:
    """A browser without script: keeps cookies, follows redirections when told to, fills in forms."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.web = new_client(base_url=person.server.base_url, headers={"X-Forwarded-For": person.address})
        self.cookies: dict[str, str] = {}
        self.totp = TOTP("A" * 32)
        self.recovery: list[str] = []

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends a request with the cookies, and keeps those that come back."""
        headers = {"Sec-Fetch-Site": "same-origin", **more.pop("headers", {})}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self.web.request(method, path, headers=headers, **more)
        for line in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.value
                if not morsel.value:
                    del self.cookies[name]
        assert "no-store" in answer.headers["cache-control"]
        return answer

    def page(self, path: str, status: int = 200) -> LexborHTMLParser:
        """The page at a path."""
        answer = self.ask("GET", path)
        assert answer.status_code == status, answer.text
        return LexborHTMLParser(answer.text)

    def send(self, tree: LexborHTMLParser, **typed: Any) -> httpx.Response:
        """Sends the form of a page with these fields filled in."""
        form = one(tree, "main form")
        fields: dict[str, Any] = {}
        for node in form.css("input, textarea"):
            name, kind = node.attributes.get("name"), node.attributes.get("type")
            if name and (kind not in ("checkbox", "radio") or "checked" in node.attributes):
                value = node.text().removeprefix("\n") if node.tag == "textarea" else node.attributes.get("value")
                fields.setdefault(name, []).append(value or "")
        return self.ask(str(form.attributes["method"]), str(form.attributes["action"]), data={**fields, **typed})

    def sign_in(self, password: str = PASSWORD, path: str = "/login") -> httpx.Response:
        """Fills in the form of signing in."""
        return self.send(self.page(path), login=self.person.name, password=password)


def one(tree: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """The first part of a page that there must be."""
    node = tree.css_first(selector)
    assert node is not None, selector
    return node


def words(answer: httpx.Response | LexborHTMLParser, selector: str = "main") -> str:
    """The text of a part of a page."""
    tree = LexborHTMLParser(answer.text) if isinstance(answer, httpx.Response) else answer
    return " ".join(one(tree, selector).text(separator=" ").split())


def goes_to(answer: httpx.Response) -> str:
    """Where an answer leads."""
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]
