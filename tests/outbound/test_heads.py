"""The bytes that go before a request's body."""

import ipaddress

import pytest

from pressroom.outbound import Policy
from pressroom.outbound.heads import Method, request_head
from tests.outbound.peers import loaded, open_client, run


def made(method: Method, headers: dict[str, str], length: int | None) -> bytes:
    return request_head(method, "/in?a=1", "hook.example", headers, length)


def test_a_head_with_a_body() -> None:
    assert made("POST", {"X-Service-Event": "post.created"}, 2) == (
        b"POST /in?a=1 HTTP/1.1\r\nHost: hook.example\r\nAccept: */*\r\nAccept-Encoding: identity\r\n"
        b"User-Agent: Pressroom\r\nX-Service-Event: post.created\r\nContent-Length: 2\r\n\r\n"
    )


def test_head_without_a_body_has_no_length() -> None:
    assert b"Content-Length" not in made("GET", {}, None)
    assert b"Content-Length: 0\r\n" in made("POST", {}, 0)


def test_a_header_takes_the_place_of_its_default_in_any_case() -> None:
    head = made("GET", {"accept": "text/html", "USER-AGENT": "Test"}, None)
    assert (head.lower().count(b"accept:"), head.lower().count(b"user-agent:")) == (1, 1)
    assert b"text/html\r\n" in head
    assert b"Test\r\n" in head


@pytest.mark.parametrize("text", ["a\r\nX-Other: b", "a\nb", "a\rb", "a\0b"])
def test_no_header_ends_its_line(text: str) -> None:
    for headers in ({"X-A": text}, {text: "a"}):
        with pytest.raises(ValueError, match="end of a line"):
            made("POST", headers, 0)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://hook.example:80/", "hook.example"),
        ("http://hook.example:8080/", "hook.example:8080"),
        ("https://hook.example/", "hook.example"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ],
)
def test_host_header_has_the_port_unless_default(url: str, host: str) -> None:
    async def work() -> str:
        policy = Policy(True, (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")))
        async with open_client(policy, known={"hook.example": ["127.0.0.1"]}) as client:
            await client.vet(url)
            return loaded(client)._read(url).host

    assert run(work()) == host
