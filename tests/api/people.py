"""People who sign up over HTTP and sign in from addresses of their own."""

import itertools
from http.cookies import SimpleCookie
from typing import Any

import httpx

from tests.api.actors import nobody
from tests.harness.local import LocalServer

PASSWORD = "nine plums and a kettle"

_numbers = itertools.count(1)


def next_number() -> int:
    """A number that nobody had before."""
    return next(_numbers)


def new_address() -> str:
    """An address that nobody came from before."""
    number = next_number()
    return f"198.18.{number // 250}.{number % 250}"


class Person:
    """Somebody who signed up, at an address of their own."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.name = f"person{next_number()}"
        self.address = new_address()
        body = {"username": self.name, "email": f"{self.name}@example.org", "password": PASSWORD}
        self.signed_up = self.request("POST", "/api/auth/signup", json=body)
        self.token = token_of(self.signed_up)

    def request(self, method: str, path: str, *, token: str = "", address: str = "", **more: Any) -> httpx.Response:
        """Sends a request, with a session if a token is given."""
        headers = {"X-Forwarded-For": address or self.address, **more.pop("headers", {})}
        if token:
            headers["Cookie"] = f"theme=dark; session={token}; other=1"
        return nobody.request(method, self.server.base_url + path, headers=headers, **more)

    def sign_in(self, password: str = PASSWORD, login: str = "", **more: Any) -> httpx.Response:
        """Tries to sign in."""
        return self.request("POST", "/api/auth/login", json={"login": login or self.name, "password": password}, **more)

    def me(self, token: str) -> httpx.Response:
        """Who the token stands for."""
        return self.request("GET", "/api/auth/me", token=token)


def token_of(answer: httpx.Response) -> str:
    """The session that an answer begins."""
    return SimpleCookie(answer.headers.get("set-cookie", ""))["session"].value
