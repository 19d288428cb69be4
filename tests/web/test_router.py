"""A path is taken to the letter."""

import pytest

from pressroom.web.access import Public
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.router import Router
from pressroom.web.routing import Route, Routes


def route(method: str, path: str) -> Route[None]:
    @getattr(Routes[None](), method.lower())(path, Public(), summary="A route")
    async def handler(request: Request[None]) -> Response:
        return json_response(path)

    return handler


ROUTER = Router(
    [
        route("GET", "/"),
        route("GET", "/api/things"),
        route("POST", "/api/things"),
        route("GET", "/api/things/{thingId}"),
        route("DELETE", "/api/things/{thingId}"),
        route("POST", "/api/things/{thingId}/parts/{partId}"),
    ]
)


@pytest.mark.parametrize(
    ("path", "raw", "methods", "parameters"),
    [
        ("/", "/", ["GET", "HEAD"], {}),
        ("/api/things", "/api/things", ["GET", "POST", "HEAD"], {}),
        ("/api/things/1", "/api/things/1", ["GET", "DELETE", "HEAD"], {"thingId": "1"}),
        ("/api/things/é", "/api/things/%C3%A9", ["GET", "DELETE", "HEAD"], {"thingId": "é"}),
        ("/api/things/a/b", "/api/things/a%2Fb", ["GET", "DELETE", "HEAD"], {"thingId": "a/b"}),
        ("/api/things/1/parts/2", "/api/things/1/parts/2", ["POST"], {"thingId": "1", "partId": "2"}),
    ],
)
def test_known_path_is_found(path: str, raw: str, methods: list[str], parameters: dict[str, str]) -> None:
    found = ROUTER.find(path, raw.encode())
    assert found is not None
    assert (list(found[0]), found[1]) == (methods, parameters)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "//",
        "/api",
        "/api/",
        "/api/things/",
        "//api/things",
        "/api//things",
        "/API/things",
        "/api/things/1/",
        "/api/things/1/parts/",
    ],
)
def test_unknown_path_is_not_found(path: str) -> None:
    assert ROUTER.find(path, path.encode()) is None


def test_an_encoded_slash_separates_nothing() -> None:
    assert ROUTER.find("/api/things", b"/api%2Fthings") is None
    assert ROUTER.find("/api/things", b"/api%2fthings") is None
