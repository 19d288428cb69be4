"""What belongs to no room: probes, the API reference, the front page, static files, avatars."""

import asyncio
from collections.abc import Callable
from importlib.resources import files
from typing import Final, Protocol, TypeVar

from pressroom import __version__
from pressroom.db import Database, Query
from pressroom.errors import NotFound, Unavailable
from pressroom.web.access import Public
from pressroom.web.avatars import draw_avatar, draw_hub_avatar
from pressroom.web.routing import Request, Response, Route, declare, json
from pressroom.web.templating import DOCS_POLICY, page, static_files

C = TypeVar("C")

PROBE_SECONDS: Final = 2.0
ALIVE: Final = Query(int, "SELECT 1")
VERIFIERS: Final = {
    "verification.py": b"text/x-python; charset=utf-8",
    "verification.mjs": b"text/javascript; charset=utf-8",
}
"""Files of the package that receivers of webhooks copy, and their types."""


class Probed(Protocol):
    """Something that readiness depends on."""

    async def ping(self) -> None:
        """Raises Unavailable when it is away."""
        ...


def site_routes(db: Database, limiter: Probed, document: dict[str, object]) -> list[Route[C]]:
    """The routes beside the API; `document` is the OpenAPI document."""
    encoded = json(document)  # Once: readers that stall share it.

    @declare("GET", "/healthz", Public(), summary="Is the process alive")
    async def health(request: Request[C]) -> Response:
        return json({"status": "ok", "version": __version__})

    @declare("GET", "/readyz", Public(), summary="Can it serve")
    async def ready(request: Request[C]) -> Response:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await db.one(ALIVE)
                await limiter.ping()
        except TimeoutError:
            raise Unavailable("The database or the rate limiter does not answer.") from None
        return json({"status": "ready"})

    @declare("GET", "/openapi.json", Public(), summary="The OpenAPI document")
    async def openapi(request: Request[C]) -> Response:
        return Response(
            200, encoded.body, encoded.content_type, [*encoded.headers, (b"access-control-allow-origin", b"*")]
        )

    @declare("GET", "/docs", Public(), summary="The API reference")
    async def docs(request: Request[C]) -> Response:
        return page("docs.html", {"title": "API reference"}, policy=DOCS_POLICY)

    @declare("GET", "/", Public(), summary="The front page")
    async def home(request: Request[C]) -> Response:
        return page("home.html", {"base_url": request.settings.base_url})

    @declare("GET", "/avatars/{name}", Public(), summary="An account's picture")
    async def avatar(request: Request[C]) -> Response:
        return _picture(request.parameters["name"], draw_avatar)

    @declare("GET", "/avatars/hubs/{name}", Public(), summary="A hub's picture")
    async def hub_avatar(request: Request[C]) -> Response:
        return _picture(request.parameters["name"], draw_hub_avatar)

    return [health, ready, openapi, docs, home, avatar, hub_avatar, *_verifier_routes(), *_static_routes()]


def _picture(name: str, draw: Callable[[str], bytes]) -> Response:
    """The picture `name`, an identifier and .svg. Raises NotFound for what cannot be one."""
    if not (name.endswith(".svg") and name[:-4].isalnum() and len(name) == 30):
        raise NotFound("There is no such picture.")
    headers = [
        (b"cache-control", b"public, max-age=86400"),
        (b"content-security-policy", b"default-src 'none'"),
        (b"x-content-type-options", b"nosniff"),
    ]
    return Response(200, draw(name[:-4]), b"image/svg+xml", headers)


def _verifier_routes() -> list[Route[C]]:
    """What receivers of webhooks copy: it verifies deliveries."""

    def route(name: str, kind: bytes) -> Route[C]:
        headers = [(b"cache-control", b"public, max-age=3600"), (b"x-content-type-options", b"nosniff")]
        response = Response(200, (files("pressroom") / name).read_bytes(), kind, headers)

        @declare("GET", f"/docs/{name}", Public(), summary="What verifies webhook deliveries, to be copied")
        async def verifier(request: Request[C]) -> Response:
            return response

        return verifier

    return [route(name, kind) for name, kind in VERIFIERS.items()]


def _static_routes() -> list[Route[C]]:
    """A route for each file, so that no path is ever made of what a client sends."""

    def route(name: str, response: Response) -> Route[C]:
        @declare("GET", f"/static/{name}", Public(), summary="Style sheets and scripts")
        async def file(request: Request[C]) -> Response:
            return response

        return file

    return [route(name, response) for name, response in static_files().items()]
